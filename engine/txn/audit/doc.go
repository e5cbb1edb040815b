// Package audit is what the simulator knows of transactions and no machine in it does: which version of a record a read saw, which
// records may differ from the initial contents, how old a snapshot is, what a client must find in it, and the history of all attempts
// for the checker. Nothing here takes virtual time or is in a message, and nothing that a protocol does may depend on it.
//
// Table counts versions that are in no row: deletions (deletions.go), commits of protocols whose rows have no stamps (commits.go), and
// the keys that were touched. Book takes in attempts as they end. Staleness and Guarantees hold snapshots to what their scheme promises.
//
// # Left out
//
// Which record a conflict was about, and which version a server has read for a snapshot, are found by the protocols and engine/versions
// in the sessions of their own coroutines (auditConflict, auditVersionRead): a server's answer does not say them.
package audit
