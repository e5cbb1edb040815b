// Package r2 is the execution framework of thesis §2.2.2: worker threads that run an event loop each, coroutines on them, one-sided calls
// on RC queue pairs and RPC over one UD queue pair per thread, or over TCP.
//
// # The worker
//
// A worker is a loop on its core. An iteration polls the completion queue up to a batch, runs the handlers of the requests found there to
// completion, resumes the coroutines whose requests are complete, and flushes what they posted with one doorbell per queue pair. All of it
// takes time on the core: a request that arrives while the worker is busy waits for it. Nothing here sets throughput or latency directly;
// batching, piggybacking and handler delay come out of the loop.
//
// # What protocol code sees
//
// Transactions and handlers are straight-line code on a *Co. One-sided calls (Read, Write, CAS, FAA, or a List of them for one queue pair)
// and Call post a request; Wait parks the coroutine until all of them are complete. Where it shall go on when some are, it posts those
// through a completion group of their own (Co.Group), and Wait is that of the group: "lock and read A and B, go on with A when it is back".
// Groups overlap; the coroutine itself is its group 0. Phase sets what the optimisations of §2.2.3 do with the posts that follow:
//
//   - Outstanding (OR): off, every post waits for its own completion.
//   - Doorbell (DB): on, posts of one queue pair share a doorbell at the flush; off, each rings its own at once.
//   - Passive (PA): no coroutine waits. A one-sided request is unsignaled and confirmed by a later signaled one of its queue pair; an RPC
//     sends no reply, its receipt is piggybacked on the next message the other way.
//
// What a core does by itself (memory of the machine, regions of hardware transactional memory, threads that share a core, logs on an SSD)
// is package core's, and Co has its methods.
//
// What the simulator knows of an answer, and no message says, a handler Annotates, and its caller finds in the reply (Reply.Note; see
// package beside). It takes no time, and nothing that a protocol does may depend on it.
//
// What is no part of the system, such as a market, lets machines hear of things by Cluster.External: free of time and bytes, and 100 us later.
//
// Work in the background that needs queue pairs is for a coroutine of SpawnBackground, which Suspends itself until another one of its
// worker Wakes it.
//
// # Memory nodes
//
// Queue pairs end at a machine; threads there are optional. One with 0 threads (Config.PerMachine) is a memory node: one-sided requests
// reach it, and an RPC to it is refused (ErrNoThreads). What initialises it writes to Cluster.Mem before the run, as its control plane
// would: no time passes, and nothing is posted. It crashes and starts again as others do; the others' threads make the connections.
//
// # RPC over UD
//
// Datagrams may be lost, so each pair of threads keeps a channel with sequence numbers: requests are retransmitted until answered (or,
// passive, until acknowledged), after a time that follows what answers take, and that doubles while there are none (RFC 6298); the receiver
// drops duplicates and repeats the reply it kept. A handler's effect happens exactly once. The header is the original's 32 bits (type, rpc
// id, payload size, coroutine) and 32 more for sequence, cumulative acknowledgement and the oldest unanswered request.
//
// # Deferred replies
//
// A handler of HandleDeferring that cannot answer yet keeps its request (Co.Defer) and answers it later, from any code of its machine: that
// is how a queue of lock requests is served. Callers see nothing of it but the time. Where the answer is given by another thread than the
// one that got the request, it goes by mail: a list per worker that others add to with a locked instruction and its loop looks at; an
// answer is then written and sent by the thread that the caller talks to. Co.Wake of another worker's coroutine goes the same way.
//
// A request that is not answered when its repetition comes is told so, and its caller waits on with a new request: so one that waits for
// long does not keep back the window of its channel, which may be full of requests by those that it waits for. No number of repetitions
// gives it up, and its time does not count as that of the network.
//
// A handler of HandleWaiting runs on a coroutine of its worker and may call other servers and wait. Its request is deferred until it
// returns.
//
// A request or reply longer than Config.MaxMessage (one datagram) goes in segments, up to Config.MaxRequest and MaxReply. The caller drives
// both directions, as in eRPC: of a message at most eight segments are under way; the server grants the next of a request after four, the
// caller asks for the next of a reply likewise, and repeats from the first that is missing. A segment that does not follow the last one is
// dropped. Threads post RECVs for the segments of all their coroutines, so that a long message finds them however busy its receiver is;
// where that would be more than 2048, what finds none is repeated, later each time.
//
// # RPC over TCP
//
// Where the NICs have no RDMA (profiles vale and aws) the same messages go through the kernel: each is a system call at the sender and one
// at the receiver, charged to the cores of the two threads. The receiver's way through the stack takes the time of the core that the
// message's receive queue interrupts (fabric), and the thread that runs there, a worker or a shared one, goes on that much later. Workers
// do not sleep: a turn of the loop begins with an epoll_wait. One-sided calls fail with an error from Wait. Sequence numbers and
// repetitions stay, with a longer timeout than TCP's own. A long message is one call of the kernel, which cuts.
//
// # RPC by WRITE
//
// Config.Transport replaces the datagrams, for comparison (figure 2-2b): requests, or requests and replies, are WRITEs into rings in the
// receiver's memory, one for each thread that sends to it. The worker looks at the head of every ring in each turn of its loop, which costs
// it time whether or not something is there. Sequence numbers, receipts and repetitions are those of the datagrams. Of a long request the
// first segment goes into the ring, all others are datagrams.
//
// # Crash and restart
//
// Crash stops a machine at an instant: its coroutines, handlers and timers end where they are. What others have under way to it, one-sided
// or RPC, ends with ErrUnreachable as soon as their loops get round to it, and so does what they post while it is down. No coroutine waits
// for passive requests: those that a crash leaves unconfirmed are counted (Lost). What a machine that is gone had asked for is served, and
// the reply finds no caller. An RPC that a machine leaves unanswered although it is not known to be down is given up after 64 repetitions,
// which take most of a second; requests behind it go on, and it may have been served.
//
// Restart is the instant at which the machine's program starts again; how long it boots is for the restarting program to decide. Then it
// makes its connections: each thread its RC queue pairs one after the other, at Config.ConnectTime. That is a chosen number, not a measured
// one: creating a queue pair, three changes of its state and one exchange of addresses, of some ten microseconds each. The other side's
// cores pay nothing for it. Then queue pairs, RECVs, conversations and buffers are new on both sides, memory regions have the keys they
// had, and the machine's coroutines begin from the start, with their streams of random numbers where they were.
//
// # Epochs
//
// With Config.Epochs requests carry the number of the epoch that their sender's machine is in. A machine that has entered a later one
// (Co.EnterEpoch) refuses them, whose callers get ErrEpoch. One-sided requests carry nothing: a machine closes its ends of the queue pairs
// with those that are no members any more, and what these post ends with ErrUnreachable when their RNICs have given up, after
// half a minute with the timeout of profile val. Which epochs there are, and how machines hear of them, is for the rooms above. Nothing
// closes the queue pairs of a memory node.
//
// # Simplifications
//
//   - A crash is known to all at once, and without false alarms: there is no detector of failures that could be late or wrong.
//   - Retired queue pairs are never destroyed: the RNIC's context cache counts them as its least recently used ones.
//   - After 2048 requests in a row to one thread were given up, sequence numbers repeat: a machine that is silent, and not down, must not
//     be so for longer than some 12 s.
//   - Requests go to the thread of the same index on the other machine, unless CallThread names one: then the program that configures the
//     cluster gives its threads RECVs for more senders (Config.RecvDepth).
//   - One completion queue per worker serves all its queue pairs; the original polls the receive queue separately.
//   - Of the way of a message into a ring no milestones are known: the whole wait for a reply counts as polling.
//   - A request waits at most 64 times Config.ResendAfter, 12.8 ms, for its answer before it is repeated. A machine that takes longer for
//     each is asked several times for all.
//   - A crash of a machine is known at once to the handler that has deferred its request (Ticket.Gone). That a caller has given up is
//     known from its next message.
//   - A worker's look at its mailbox in each turn of its loop takes no time while there is none: the line is in its cache.
//   - Deferred replies and refusals are datagrams under all transports.
//   - One lost segment costs a repetition's whole wait: the receiver does not say what is missing.
//   - Messages are inlined while their queue pair has room, which is 124 bytes in a UD pair that was made for 64, as drivers grant it.
//     Whether the original's program uses that is not known; inlining up to 64 only, the fit misses f2-5b-pa-two and f2-4a-read-large by
//     16 and 7 % instead of 9 and 2.
//   - Stores to DRAM move the caches as loads do: what they change is never written back, so the channels carry less, at least half, than
//     they would. Transactions of the shipped workloads keep them a tenth busy.
//   - A thread posts a RECV for each coroutine that sends to it, 64 to 2048, where the original posts 2048: they take the simulator's
//     memory. Only where several threads of a machine talk to one there are as many as their unanswered requests, at most 2048
//     (RecvDepths). Bursts can find none; those datagrams are lost (fabric.Counts.NoRecv) and repeated.
package r2
