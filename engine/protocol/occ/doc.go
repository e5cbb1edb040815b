// Package occ is the optimistic concurrency control with primary-backup replication
// of thesis Figure 4-1, with a choice of RDMA primitive in every phase (§4.3).
//
// # The protocol
//
//	Execution   fetch the records as the body asks for them (§4.3.1)
//	Validation  lock the write set, each lock with the version check in the same
//	            round trip; then check the versions of the rest (§4.3.2)
//	Logging     one log entry per backup machine, in the ring that belongs to
//	            this thread in its memory (§4.3.4)
//	---------   the transaction is committed here
//	Commit      write back, unlock (§4.3.3)
//	Reclaim     the backups apply the entries, some time (§4.3.4)
//
// A transaction without writes reads and then validates; one record read in one
// piece needs no validation (§4.3.5).
//
// Where things are: session.go has Commit, which is Figure 4-1, and what surrounds it;
// execution.go, lock.go, validation.go and commit.go have a phase each, both of its
// primitives and the handlers that serve it; preset.go has Table 4-3 (Table
// 4-1 and its knobs are in engine/coordinator), auto.go the rule of primitives that are
// auto, scale.go the costs, rc.go the protocol without the validation of reads (cc=rc). Where records have versions,
// versioned.go has the phases behind execution, and versioned_serve.go their handlers.
//
// Under speculative execution (§4.4.1) Tx.Fetch returns a future and the body goes on
// until it awaits the value: records that do not depend on each other come together. Two-sided
// execution asks for queued records (Tx.Queue) together without it, see Config.batches.
//
// # What is modelled
//
// Bytes move as in the original: one RPC per participant machine and phase with
// all its records, one log WRITE per backup machine with the whole write set,
// {CAS, READ header} and {WRITE sequence and value, WRITE 0} as lists on one
// queue pair. Handlers charge the cycles of Table 4-2, which cover their memory
// accesses; without such a number the accesses themselves are charged. The program
// of the transaction itself, read and write set, body, log entries, takes what this
// package's own code was measured to take (engine/coordinator). To look at what READs
// bring costs what it does for messages, see r2.Co.TouchDMA. Messages have at least
// the payload of that table: what theirs carry besides records, keys and versions
// is not known, and becomes padding.
//
// # Inserts, deletes and what is missing
//
// Only the CPU of a record's primary changes the table, so other machines insert and delete by RPC
// in every preset, one request per participant. insert.go has what the phases do.
//
//	Execution   a record that is missing: the version of its bucket chain, its gap
//	Validation  inserts get a row, locked and not live, if the gap is as it was seen; then the
//	            gaps of what was missing are checked like the versions of what was read
//	Logging     inserts and deletes too, with the numbers of their rows
//	Commit      inserted rows are written back like others; deleted records are taken out
//	            and their rows freed, for the next insert
//
// A gap is as coarse as a bucket: an insert aborts those that missed another key there.
// A transaction that only saw that one record is missing needs no validation, if one READ said so.
//
// # Who owns a lock word
//
// RNIC atomics are not atomic with CPU atomics, so either all lock with the
// RNIC, local records included (by loopback), or all with the CPU. A change
// between the two needs a drain: NeedsDrain. An RNIC
// lock cannot be released by a CPU's store; a CPU lock may be released by a
// WRITE, see Config.Validate.
//
// # Left out, and caveats
//
//   - Recovery: a machine that fails takes its transactions with it.
//   - A body may see records of different moments before its attempt aborts, and
//     a rollback that it decides on such reads is honoured without validation:
//     it has no effect on others.
package occ
