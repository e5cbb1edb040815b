// Package txn is what bodies of transactions see, and what does not depend on how
// concurrency is controlled: the set of records that an attempt touches, retry and
// back-off, outcome, secondary indexes, and the tables. What is known of transactions without them knowing it is in engine/txn/audit.
//
// A protocol plugs in below: Config opens a Protocol on a database, and the Protocol has a
// Session for each coroutine. The session is told of each record that the body asks for,
// and of the end of the body; it fetches, locks, validates, logs and writes back. What it has
// to know of a record it keeps around Access. See engine/protocol/occ.
//
// A protocol may have to know what a transaction touches before its body runs; workloads that know it say so by Tx.Declare. See engine/example/ordered.
//
// Client.Run repeats an aborted transaction after a random, growing pause.
//
// # Secondary indexes
//
// Ordered tables are below an interface, Index. Their entries are hints without
// versions, added before the decision while the records are locked and taken out
// after the write-back; see Index for what follows and what does not.
//
// # Records that come and go
//
// Tx.Insert and Tx.Delete change which records a table has; Tx.Read of one that is missing
// says ErrNotFound. How phantoms are kept out and rows are used again is the protocol's: see
// Access.NewRow, Blind and Delete. For the history a record that is missing has a version too
// (audit.Table).
//
// A workload whose keys are known beforehand may also give all of them rows from the start, in a
// table that does not grow, and say in the value whether the record exists. Insert is then
// Update: what does not exist is read, validated and checked like anything else.
//
// # Left out
//
//   - Scans of the records of unordered tables.
package txn
