// Package audit is what the simulator knows of transactions and no machine in it does: which version of a record a read saw, which
// records may differ from the initial contents, how old a snapshot is, what a client must find in it, and the history of all attempts
// for the checker. Nothing here takes virtual time or is in a message, and nothing that a protocol does may depend on it.
//
// Book takes in attempts as they end. Table counts versions that are in no row: deletions (deletions.go), commits of protocols whose rows
// have no stamps (commits.go), and the keys that were touched. Staleness and Guarantees hold snapshots to what their scheme promises.
//
// While machines run, each writes a log and nothing else. Book.Gather takes the logs in, in the order of time, and there what happened on one
// machine meets what happened on others: the versions of a key that was deleted elsewhere, the recorder's order of attempts, how old a read
// was. A machine that needs such a version before goes on with a token for it (facts.go).
//
// # Left out
//
// Which record a conflict was about, and which version a server has read for a snapshot, a server knows and its answer does not say: it
// notes them beside the answer (engine/r2/beside), and the session that has asked takes the notes. So do rococo's servers with what the
// pieces of a transaction have done. They also run whole bodies, which are code of the client's: those have the session of their client from
// the request to the reply.
package audit
