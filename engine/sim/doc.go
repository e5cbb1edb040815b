// Package sim is the virtual clock of drtmx: an event queue, coroutines that
// sleep in virtual time, stations where work queues for a resource, and seeded
// random streams. Everything above it, from a NIC pipeline to a transaction,
// is events and coroutines of one Sim.
//
// # What is modelled
//
// Time is an integer number of picoseconds (2^63 ps are 106 days). An event is
// 16 bytes without pointers: time, kind with source, argument. The kind indexes
// a table of handlers and the argument a pool that belongs to the component, so
// that nothing is allocated per event and the garbage collector never scans the
// queue. Events run in the order (time, source, sequence). A machine's own events
// come in the order in which they were scheduled, before messages of other machines,
// which come by the machine and in the order of their sending: that order is the same
// whether one queue has all machines' events or each machine's has its own.
//
// Where machines have enough to do, they run apart: each its own events, window by
// window, and a window is so short that no message sent in it arrives in it (Spread).
// That has no effect on what happens.
//
// A process (Proc) is a coroutine on iter.Pull. A handler resumes it, it runs
// until it parks, and control returns to the handler: no scheduler and no
// second thread is involved. A panic in a process or in a handler ends the run
// with a *PanicError that names the culprit, the virtual time and the stack.
//
// A station (FIFO, Multi) is a next-free time: exact for first come, first
// served as long as it is called in order of arrival time. Calls out of order
// are counted in OOO; a run in which that is not zero is not exact.
//
// A random stream (Rand) belongs to one component and is seeded with (seed,
// component, id). It uses integer arithmetic only, exponential times included,
// so streams are equal on every architecture.
//
// # What is left out
//
// Cancelling an event, priorities within a station, preemption and processor
// sharing. A component that needs one of them keeps its own state and lets a
// stale event find out that it is stale.
//
// # Caveats
//
//   - One goroutine owns a Sim. Handlers and processes must not block on
//     channels or locks, read the wall clock, call runtime.Goexit (so not
//     t.FailNow either) or hold a locked OS thread.
//   - Close must be called: a coroutine that is never unwound is leaked for ever.
//   - A process that swallows every panic in a loop around Park cannot be
//     unwound, and Close hangs.
//   - Serving a station ahead of time (before the work has arrived there) is
//     wrong as soon as two flows merge in it: schedule an event at the merge.
//   - The queue keeps the memory of the largest number of events ever pending,
//     32 bytes each.
package sim
