// Package fabric is the verbs of RDMA and the hardware they cost: machines with
// sockets, LLC and DRAM, RNICs with their pipelines and caches, PCIe, links and
// a switch, in virtual time. The bytes are real: a verb moves them at the
// instant at which the hardware would.
//
// # Use
//
// New builds a cluster from a Profile. A Machine has a Memory, in which memory
// is allocated and registered, and NICs, on which completion queues and queue
// pairs are made. Requests are posted with PostSend and PostRecv and come back
// through a CQ, which can schedule an event for a waiting thread (Arm). Nothing
// here knows of threads: cores pay for verbs in engine/r2, with the CPUCosts of
// their machine, and for loads and stores with what Machine.Access says. With an
// Exploration single messages are held back, and the order of accesses is noted.
//
// # Where things are
//
// post.go takes requests. path.go lists the events of a verb in order (register) and charges the stations of RNIC and wire;
// responder.go charges PCIe and memory and moves the bytes, those of a READ in Fabric.read. costs.go has the profile's
// numbers as both want them. What the core of a thread pays for a verb is charged in doorbell.go of engine/r2/queuepair.
//
// # What is modelled
//
//   - Transports RC, UC and UD, or TCP, with the verbs each supports (thesis table 2-2),
//     memory regions with keys, bounds and permissions, signaled and unsignaled,
//     inline, gather lists (SendWR.Further) with keys and bounds checked for each segment, lists with one doorbell, send queues, receive queues and completion
//     queues of limited depth, at most 16 READs and ATOMICs under way per pair.
//   - Errors as hardware gives them: local protection, remote access, invalid
//     request, message too long, receiver not ready (with retries), no answer
//     (with retries), and the flush of everything behind them. Both ends of a
//     connection fail where both do.
//   - Order: on a queue pair requests are sent, executed and answered in the
//     order of posting, also under retransmission, cache misses and torn access.
//   - Driver contexts with few doorbell buffers, and the spin lock of those that
//     queue pairs share (Context).
//   - The way of a verb: doorbell (BlueFlame for one request of at most 256 B,
//     otherwise fetched by DMA), payload fetch unless inline, send pipeline, link,
//     switch, receive pipeline, conflict slot, PCIe in packets of at most 256 bytes,
//     LLC or DRAM by lines of 64, response, completion. See register in path.go for
//     the events.
//   - RNIC caches: queue-pair contexts, exact LRU over the pairs that exist, and
//     translations of 2 MB pages, set-associative; misses are fetched one after
//     the other from the host, those of packets that arrive before those of requests
//     to be sent.
//   - Atomics: one unit per RNIC, and a read event before a store event. The conflict
//     slot is held for both: longer for a word in memory than for a hot one, which its
//     stores keep in the LLC. Those of one RNIC are atomic with each other; the CPU and the machine's other RNIC
//     come in between, as on hardware.
//   - Torn access (Config.TornReads): an access of several lines happens line by
//     line when a conflicting one is under way.
//   - LLC: set-associative tag arrays per socket, with the ways that DDIO may use,
//     partial lines read before they are written, dirty lines written back. DRAM
//     channels, the way to the other socket, a TLB per core.
//   - NVM (Config.NVM, Device) behind the same LLC. A line leaves it that was not
//     used recently: of those that stores and DMA writes brought, any. Non-temporal
//     stores and clwb go through the core's write-combining buffers, which drain in
//     no order. Writes that an RNIC has posted are limited in number; those of less
//     than a line are read and merged first, some at a time, and performed in order.
//     Memory of the other socket is behind an interconnect: a core that reads a line there
//     to change it owns it, which its home notes in a directory beside the data, and
//     lines that are written without being read are tracked, only so many at once.
//     DDIO is a switch of each socket.
//   - Lines that cores execute locked instructions on: such a line is with one core or with
//     several readers, comes from there, and cores that want it queue for it.
//   - Hardware transactions of cores (Speculation): sets of lines and buffered stores, which
//     DMA and other cores' accesses end. engine/r2 runs code in them.
//   - Loss: UD and UC packets are lost at a rate, RC packets and TCP messages come late.
//   - NICs without RDMA (Profile.TCP): transport TCP and nothing else. A message is
//     fetched by DMA, cut into segments on the wire, and put into a receive queue by its
//     connection. After the interrupt the kernel takes it to its socket on the queue's core,
//     a station, whose time is taken from the thread there (softirq.go); what a call takes
//     of its thread's core is TCPCosts. engine/r2 charges both.
//   - Milestones: every completion says where its time went.
//   - Persistence (Config.Durability): of every line of NVM whether its newest bytes
//     are in an RNIC or a core's buffers, in the LLC, or accepted by the memory
//     controller, and what a crash would leave. See persist.go.
//   - The numbers by which an operating system shares a core among threads (Scheduler);
//     engine/r2 does it.
//   - A disk per machine, where the profile has one (SSD): its link, queue and latency. What has
//     crossed the link is durable. Wear and garbage collection are left out.
//   - Crash and restart of a machine (Machine.Crash): DRAM and caches are lost, its
//     queue pairs are dead, those connected to them are flushed at once (Severed).
//
// # What is left out
//
//   - Congestion inside the switch other than at its output ports; priorities,
//     credits, ECN. Nothing is ever dropped for want of room.
//   - Path MTU segments as requests of their own: a message is one request to every
//     station, with the headers of all its packets; see segment.go for how those follow
//     each other.
//   - Shared receive queues, multicast, memory windows, RDMA WRITE with immediate,
//     the 40 bytes of a datagram's route header in front of its payload.
//   - The bandwidth between sockets to DRAM (its latency counts), core caches above the
//     LLC, prefetchers (further lines of one access are just cheaper), and two
//     copies of a line: a line is cached at its home socket only.
//   - Retransmission costs time, not bandwidth.
//   - What an RNIC needs for each segment of a gather list beside the request's own bytes and the PCIe packets and lines of the
//     segment: no public number is known. A message that is gathered is in the RNIC as a whole before it goes to the send
//     pipeline. Its core pays for a request with many segments what it pays for one.
//   - On PCIe: doorbells and requests that cores push (BlueFlame), the packets by which an RNIC
//     asks for requests and payloads to send, and contexts and translations, whose fetching is
//     a station of its own.
//   - A request whose address translation is fetched has its conflict slot reserved from
//     then on: it is not known how an RNIC orders the two. One that waits for others of
//     its queue pair reserves none.
//   - The time that bytes of a WRITE need on PCIe is hidden by the receive pipeline, which
//     is the slower of the two and passes them on as they come. Bytes that are read of the
//     host take theirs behind memory's latency, for they cannot cross before.
//   - Of TCP: acknowledgements, windows and congestion control; several messages in one
//     system call; bytes that wait behind a lost segment of their connection (it delays
//     its own message alone); threads that sleep, and their waking. A request or reply of one
//     segment is acknowledged by the next message the other way, for a receiver delays what it has to
//     say (RFC 1122 §4.2.3.2). Of longer ones each second segment is at once, and no public
//     number is known of what that takes of the cores once segments are merged.
//   - The softirq work on messages that have been sent, which is done with that on received
//     ones and has no public number of its own; how irqbalance moves interrupts, and RPS; a
//     machine's messages to itself, which take the way through the NIC's queues here and have
//     softirq work on the sender's core in Linux. Of ksoftirqd's turns: they are short here, and
//     slices of the scheduler there, so that messages may wait for one.
//
// # Caveats
//
// A READ's bytes reach the local buffer at the instant the remote memory is read,
// which is earlier than on hardware; a buffer belongs to the RNIC until its
// completion is there. The bytes of WRITE and SEND are taken when the RNIC
// fetches them, or at the post if they are inline.
//
// All lines of one DMA write reach a Device at the same time, whatever its length:
// messages of many kilobytes queue there instead of on PCIe. Two non-temporal
// stores to parts of one line are not combined.
//
// DRAM channels and Devices see a core's accesses at the time of the event that causes
// them, not at the core's local time, which may be later.
//
// Stations are charged with the time of the event that reaches them, so they
// are exact FIFO queues; OutOfOrder counts violations and must stay 0.
//
// The numbers are in package profile. Fitted are service times of stations, from
// primitive-level rows of the calibration; no number belongs to a scenario.
package fabric
