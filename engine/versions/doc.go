// Package versions keeps several versions of each record for hosts whose read-only transactions read
// snapshots (thesis §5.3): all concurrency controls share it, and differ in how to wait.
//
// # What a host does
//
// The rows of its tables have the header record.Versioned. Under a write lock the host reserves a place for the version that it
// will overwrite (Reserve), and reads the record's tuple timestamp (Under) after it has the lock. When the transaction has its
// stamp, the host raises the tuple timestamps of what it only read (Raise, Claim) before it checks that it is still
// so. Install makes a new version the present one, then the host releases the lock and calls Released.
//
// # What a snapshot does
//
// For each record (DEP_READ, §5.3.2), on the CPU of its primary:
//
//	claim   raise the tuple timestamp to the snapshot's: writers from now on have larger stamps
//	wait    for the holder of the write lock, if there is one whose stamp may be smaller
//	read    the youngest version whose stamp is visible; nothing is there if there is none
//
// It waits at most once per record, for a transaction that locks after the claim has a larger stamp. It does not wait where the present version
// is beyond it, for what overwrites that is as well: so a snapshot that is older than the last write of a record never waits. Figure
// 5-9 looks at the tuple timestamp for this, which another snapshot may have raised (timestamp.Traits.WaitsByTuple). A key that
// is not there is claimed by the guard of its gap, which an insert reads once the new row can be found.
//
// Where the machine that asks knows where the record is, and a claim would change nothing, a READ does in place of all that (phase.ro_read=hybrid):
// see onesided.go, which is ours.
//
// # Readers
//
// Vectors have no tuple timestamps. Where their writers depend on the readers of what they overwrite, records and gaps remember
// those (readers.go): an entry of 8 bytes for each slot of the vector that has read the present version, until all snapshots have it.
//
// # Old versions
//
// They lie in a heap of each table and server, linked from the row, the youngest first. A version is collected when every
// snapshot, running or to come, sees what has superseded it: machines announce from time to time below which point none of
// theirs begins, and servers keep the least of what they heard. A deleted record is a tombstone until that is collected.
//
// # Schemes
//
// The store opens the scheme that is in force, and another one when it first takes its place (scheme.go). Then, at rest, all present versions
// get stamp 0, and older ones are given up (Restamp), for stamps of one scheme mean nothing to another. Rows stay as they are laid out: where
// records have one version, a scheme takes a reset.
//
// # Left out
//
// Old versions are not replicated: a snapshot reads at primaries. What a crash takes of them is not recovered.
package versions
