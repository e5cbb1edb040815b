// Package core is a core of a machine and what runs on it: its local time, accesses to the machine's memory and what they cost, regions
// of hardware transactional memory, threads that share the core in slices of time, and logs on the SSD.
//
// A Program is what a coroutine or a thread of package r2 is made of. It runs ahead of virtual time: Compute and the like only move
// Core.Local, and what others could notice waits for that time (Sync) first. Core.Current is the program that waits so.
//
// # Memory
//
// Load, Store and the CPU atomics touch the machine's own registered memory.
// They bring the core to its local time first, so that they meet the RNIC's
// accesses in the right order, and charge the socket's TLB and caches. StoreNT,
// Flush and Fence are non-temporal stores, clwb and sfence: what they wait for
// stalls the whole core. Without DDIO a worker fetches the completions and messages
// it polls from memory.
//
// LocalCAS and LocalFAA take their line from the core that has it and queue for it, so a counter of
// all cores saturates at one transfer for each increment. Loads and stores of such a line wait too.
// A handler whose cycles were measured (ChargeHandler) moves lines and is not charged for it.
//
// # Regions of hardware transactional memory
//
// Program.HTM runs a body as Intel's RTM would (thesis §3.4.3): its stores are buffered and become
// visible at one instant; another core's or an RNIC's access to its lines in the meantime
// ends it, and it runs again. The body runs at the instant at which the region begins. What it
// loads and stores is charged as always, and for as long as that takes its lines are watched.
//
//   - A READ, and the load of another core, conflict with lines that the region has
//     written; WRITEs, messages, stores, CPU atomics and other regions' stores also with those
//     it has read. An RNIC's atomic reads first and stores later; one that finds another value only reads.
//   - The later access wins. The region that is hit ends at once; what its core had not
//     done yet takes no time, the abort takes HTMAbort.
//   - Lines count from the begin, not from the access that first touches them: regions conflict
//     somewhat more often than on hardware.
//   - After 10 conflicts, as in the original's code, or at once after more lines written than the 512 of a
//     32 KB cache, the body runs under a lock that all regions have read: taking it ends them. Its
//     stores are then made one after the other, and remote READs see halves. TryHTM has other numbers (HTMOptions), ways of
//     the cache's sets, and no lock where the caller has a way of its own.
//   - A Region and a Program are both a Memory: an index is searched by the same code inside a region and outside.
//   - A thread that loses its core to another one loses its region too.
//   - A region that was hit waits a random time, which doubles, before it runs again.
//   - A region reads any number of lines (on hardware those that leave the first-level cache stay watched
//     further out, with false conflicts), and interrupts and page faults end none, nor do, unless HTMOptions.Ways says so,
//     evictions for want of ways.
//   - Touch, TouchDMA and Flush conflict with nothing, nor do messages that a worker polls: private
//     structures and buffers are not in regions.
//
// # Threads that share a core
//
// Spawn (r2.Cluster.SpawnShared) makes a thread of its own on a worker's core: a trainer or a logger. The
// operating system gives the core to them in slices, as Linux's CFS does with its defaults
// (the profile's section scheduler): of two that compute each has it for some 12 ms. A worker
// polls and so never sleeps; a shared thread that is suspended, sleeps or waits for a device
// takes nothing, and when it wakes, takes the core at once unless it had much of it lately.
// Requests to a worker that is off its core wait, and may be repeated. The threads load,
// store and compute as coroutines do, and have no queue pairs. Utilisation counts both. A
// cluster with a shared thread in the middle of its work is not Quiet.
//
// # Logs on an SSD
//
// A LogFile is a file on the machine's SSD (host.SSD), with its bytes: Append, by handlers and coroutines, is into memory; Sync, by a
// logger, makes durable all that has come, in one request, and blocks its thread; the core is the worker's meanwhile. A crash leaves a
// prefix, in whole blocks unless a request had been accepted as a whole; ReadLog reads it at the disk's speed.
//
// # Simplifications
//
//   - A thread is taken off its core between two events: what its last one has booked beyond
//     that instant has its effects then, and its time afterwards. Slices are of equal weight,
//     and the kernel's own work, migration between cores and what a switch costs the L1 and L2
//     caches beyond its profile's time are left out.
//   - A log is contiguous on its disk, and its file's size and name are durable with its bytes:
//     the file system's own journal is not written. Of a log only the newest 64 MB are kept
//     (LogFile.Most): a recovery is told that older ones are gone.
package core
