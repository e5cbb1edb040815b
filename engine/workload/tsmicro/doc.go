// Package tsmicro has the micro-benchmarks of timestamps: what each scheme costs where nothing else does (thesis Figures 5-6 and 5-15).
//
//	ts-spin    a read-write transaction that touches nothing: it spins for a given time, and commits with a timestamp (5-6b)
//	ts-read    a read-only one of ten small records, nine of them on its own machine (5-6c)
//	ts-block   of each two threads one writes a group of records again and again, and the other reads all of it (5-15a)
//	ts-update  a read-write transaction of ten records, some of which it only reads (5-15b)
//	ts-oracle  what the timestamp oracle does for a transaction, by the threads of its machine alone or over the network (5-6a)
//
// The first four are transactions on whatever protocol and scheme are set; without a scheme they show what it costs. They use
// handler times of TPC-C (Table 4-2), as the thesis has them share its characteristics.
//
// A record's words count the transactions that have written it. So at rest ts-block and ts-update see a lost update, beside what the
// history shows.
//
// ts-oracle has no transactions. Alone, every machine has an oracle of its own, and its threads do to its state what handlers would, one
// operation after the other, and look for messages in between as a worker does. Over the network, clients draw and install numbers, or ask
// for the point, without a record or a lock.
package tsmicro
