// Package ycsb is YCSB as a workload of transactions: a transaction has ten operations, each on another of N
// records of 1 KB. An operation reads its record or updates it; records are equally popular or drawn by
// a zipfian distribution. A knob sets to how many machines a distributed transaction goes, another what
// share of transactions is distributed: the rest stays on one machine, the client's if it holds data.
//
// The operations run in the order in which they were drawn. Their keys are in no order, so two
// transactions can take the same records in opposite ones: what that leads to is the protocol's
// business. All keys are known when a transaction begins; it announces them, and under speculative
// execution (§4.4.1) they are fetched together. A transaction that has drawn no update runs as
// read-only, and counts under a type of its own.
//
// # Updates write one field
//
// YCSB's records are ten fields of 100 bytes, and an update writes one of them; DBx1000, from which most
// comparisons of concurrency controls descend, reads the whole row and writes in its first
// column. So here: a read takes the row, an update is a read-modify-write of the first field, and
// only that field travels to the log, the backups and the primary (store.Spec.Mutable). Ten updates make a log
// entry of 1.3 KB. Whole rows would not fit: an entry is one WRITE or message of at most 4 KB.
// FieldBytes sets the field; with as many bytes as the record, rows are written whole and a
// transaction can have as many operations as an entry has room for.
//
// # What is checked
//
// Every word of the field counts the transactions that wrote the record, and the end of the row, which
// is never written, is its key. So the workload itself sees a torn field, the row of another
// key, a value older than one that was committed before the transaction began, and, at rest, a lost
// update, beside what the history of versions shows.
//
// # Left out
//
// Scans and inserts of YCSB-D and -E, and YCSB's single operations without a transaction.
package ycsb
