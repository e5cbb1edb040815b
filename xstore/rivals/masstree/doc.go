// Package masstree is a server-centric ordered store in the manner of eRPC+Masstree, one of XStore's rivals (thesis §3.7.1):
// a Masstree at the server (Mao, Kohler, Morris, Cache craftiness for fast multicore key-value storage, EuroSys 2012;
// sizes and the order of steps are those of its published code), of which every operation is an RPC (package service).
//
// # What is modelled
//
// Keys of 8 bytes are one layer of Masstree: a B+tree with nodes of 15 keys in five lines. Border nodes have a permutation
// word, so that one store publishes an insert or a delete; values of up to 8 bytes are in the node, longer ones in rows
// that an update replaces. Border nodes are linked for scans.
//
// Readers take no lock. They look at a node's version before they read it and after, and read again if keys were moved
// meanwhile: into a slot that was in use before (the counter of inserts), or to another node (that of splits). Going down, the node
// above is looked at once more when the one below has come. Writers lock a node by compare-and-swap in its version
// word; splits lock from below upwards.
//
// A node's first four lines are prefetched as a whole: one load of r2, whose lines overlap. Searches compare keys one after
// the other, as Masstree's linear search.
//
// As eRPC cannot use two RNICs at once, §3.7.1 deploys one instance on each socket; memory, threads and RNIC of an instance
// are of its socket. How the thesis divides keys among them it does not say; see the knob masstree.split.
//
// # The start
//
// The tree is what loading the initial keys leaves behind, with masstree.fill keys in every node; nodes are made when they are
// first touched.
//
// # Left out
//
//   - Layers for longer keys, and suffixes.
//   - Removal of empty border nodes, with which links to the left go.
//   - Epochs as Masstree counts them: a row is free as soon as all operations have ended that may know it. Of that, and of
//     the pools that threads take nodes and rows from, nothing is charged: both are lines of the thread's own.
//   - The counters of versions wrap as Masstree's do: a reader that sleeps through 64 inserts into one node does not notice.
//   - Recovery: what a crash of the server leaves is not repaired.
package masstree
