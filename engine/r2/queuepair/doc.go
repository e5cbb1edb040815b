// Package queuepair has the queue pairs of a thread: which there are, which of them a request takes, and the doorbells that hand their
// work requests to the RNIC.
//
// A thread has an RC queue pair to each machine, or several where machines stand for more nodes than there are, between the RNICs of
// its own socket's index. Atomics on an address whose home is the other RNIC use one further queue pair to that machine, made at first
// use. Work requests of a queue pair wait until its doorbell is rung: by the request itself, or by the flush that ends a turn of the
// thread's loop, once for each queue pair (doorbell batching, thesis §2.2.3).
//
// Each thread opens a driver context of its own (§2.2.2), so that no two threads share a doorbell buffer, unless System.Contexts says so.
//
// What is posted, and what a completion means, is r2's. Send queues are sendq's.
package queuepair
