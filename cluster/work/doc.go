// Package work is a queue of points. A point is one run of a sweep or a figure: a resolved spec with its seed, computed
// by one version of the code. A client sends points by Do and gets their results; a worker computes them in Work.
//
// There are two queues behind the same interface. Local is in this process. Remote is on a NATS JetStream server, which
// package server starts for labs that have none: there the workers are processes on any number of machines.
//
// A point's key is the address of its result (see runs.Key), and each point is kept, queued and computed under it:
//
//   - It is queued once, however many clients ask. On JetStream the key is a token of the subject, of which the stream takes one
//     message. (A message ID would be forgotten after a window, and within the window it would silently drop a point
//     that is sent again after it had failed.)
//   - Its result is stored once: a worker that computes a point a second time, as one that was believed to be lost, finds that
//     the key exists and drops its own.
//   - It is acknowledged after its result is stored, so what is lost in between is computed again.
//
// Failures. A worker sends heartbeats for the points it computes, and those of a worker that died or stands still go to
// others after Options.AckWait. A heartbeat is only sent while the computation itself tells of progress: a point that
// hangs within a live worker is given up, whereas one that takes hours and gets on is not. After Tries failures (it
// returned an error, hung, or its worker was lost) a point is given up and Do returns Failed. Workers note when they begin a
// point, so that the next one knows; what a worker hands back when it is stopped is no failure. A server that restarts has
// everything in its files; clients reconnect and ask again for what they wait for, from time to time and not only when they
// are told. The operating system may lose the last two minutes of the files when its machine fails: points that are lost so
// are sent again.
//
// Memory. Points are of classes by the memory they are estimated to need, each twice the one before, and each class has a
// subject. A worker takes points of the classes that fit into its memory, larger ones first. Where there is no room yet for
// the next point it waits, so that small points do not keep a large one out.
//
// Limits. Queue and results are bounded in bytes and age (Limits). A full queue refuses points, and senders wait; of
// results the oldest go first. A result above 256 KB goes into an object store, others into a key-value bucket.
//
// Left out: several servers that replicate streams, as a lab's own cluster may; Options has nothing to ask for replicas.
// Results are trusted: any client that may connect to the server may store a wrong one.
package work
