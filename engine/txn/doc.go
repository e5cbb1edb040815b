// Package txn is what bodies of transactions see, and what does not depend on how
// concurrency is controlled: the set of records that an attempt touches, retry and
// back-off, outcome, history, secondary indexes, and the tables.
//
// A protocol plugs in below: Config opens a Protocol on a database, and the Protocol has a
// Session for each coroutine. The session is told of each record that the body asks for,
// and of the end of the body; it fetches, locks, validates, logs and writes back. What it has
// to know of a record it keeps around Access. See engine/occ.
//
// Client.Run repeats an aborted transaction after a random, growing pause.
//
// # Secondary indexes
//
// Ordered tables are below an interface, Index. Their entries are hints without
// versions, added before the decision while the records are locked and taken out
// after the write-back; see Index for what follows and what does not.
//
// # Left out
//
//   - Inserts and deletes of keys inside transactions; a read that finds no
//     record is not validated. A workload whose keys are known beforehand gives
//     all of them rows, says in the value whether the record exists, and uses
//     Insert: what does not exist is then read, validated and checked like
//     anything else.
package txn
