// Package tsmicro has the micro-benchmarks of timestamps: what each scheme costs where nothing else does (thesis Figures 5-6 and 5-15).
//
//	ts-spin    a read-write transaction that touches nothing: it spins for a given time, and commits with a timestamp (5-6b)
//	ts-read    a read-only one of ten small records, nine of them on its own machine (5-6c)
//	ts-block   of each two threads one reads a group of records, and the other writes all of it again and again (5-15a)
//	ts-update  a read-write transaction of ten records, some of which it only reads (5-15b)
//
// They are transactions on whatever protocol and scheme are set; without a scheme they show what it costs. They use
// handler times of TPC-C (Table 4-2), as the thesis has them share its characteristics.
//
// A record's words count the transactions that have written it. So at rest ts-block and ts-update see a lost update, beside what the
// history shows.
package tsmicro
