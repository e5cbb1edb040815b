// Package kvscript is a workload of a few requests to an ordered key-value store that are written down: in "10 20 30: i15
// u20; g20 s10+3" the store holds the keys 10, 20 and 30 from the start, one client INSERTs key 15 and then UPDATEs key 20, and
// another GETs key 20 and then SCANs three pairs from key 10 on. Each client sends its requests once, one after the other,
// and all clients begin at the same time. It is what engine/explore runs through many orders, and what shows a counterexample
// again.
//
// With xstore.leaf_slots=4 a leaf begins with two keys: six keys are three leaves, and three INSERTs beside each other split one.
//
// # What is checked
//
// The value of each write is its own, so an answer says which write it saw. At rest the answers about each key, and what the
// store holds in the end, are put in order: the verdict searches all orders that agree with the begins and ends of requests,
// and with a register that can be empty (Wing and Gong, 1993). So what it reports cannot have happened one request
// after the other, and what it does not report can. A SCAN is a GET of each key that it came past, and its pairs may be
// of different moments (thesis §3.4.2.2). Unlike engine/workload/kvbench, which judges millions of answers while they
// come in, this takes DELETEs as well, and so few requests that it may try all orders.
//
// # Left out
//
// Read-modify-writes, which are a GET and an UPDATE. Requests that fail: such a run has failed.
package kvscript
