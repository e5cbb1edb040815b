// Package nowait is two-phase locking without waiting: a transaction locks each record when it
// first touches it, and aborts as soon as it finds one that is locked. It is the no-wait scheme
// (NOWAIT) of RCBench, which compares concurrency controls over RDMA primitives. Stores, location
// cache, replication, retry and back-off are those of engine/protocol/occ, so that the two can be compared.
//
// # The lock
//
// A row has one word of 8 bytes in front of its value, and no sequence:
//
//	bits 48..63  incarnation of the row: how many records it has held before
//	bits  1..47  number of shared holders
//	bit   0      held exclusively
//
// In a row that was never reused the free word is 0 and an exclusive lock is the CAS 0 -> 1. With
// the incarnation in the word, the CAS of a location that is stale fails by itself. A free row
// is held exclusively, by no transaction.
//
// # The protocol
//
//	Growing   per record: lock it, then read its value (growing.go)
//	          a record that was read and is then written: upgrade its shared lock
//	          a record that is missing: lock its gap (gap.go)
//	Insert    give new records their rows, locked, with their gaps held (insert.go)
//	Logging   one log entry per backup machine, as in engine/protocol/occ (session.go)
//	-------   the transaction is committed here, with all of its locks held
//	Commit    write back and unlock what is written, release the rest (commit.go); take
//	          out what is deleted
//	Reclaim   the backups apply the entries, some time
//
// Mode E takes exclusive locks for reads too and is the default, for a shared lock costs two round
// trips where an exclusive one costs one. Mode E/S shares reads. A read-only transaction runs as
// any other. Records of tables that are declared constant are read without a lock.
//
// One-sided, RNICs do all of it:
//
//	exclusive lock     {CAS free -> exclusive, READ value}, one doorbell
//	shared lock        READ word; {CAS word -> word+2, READ value}, one doorbell
//	upgrade            CAS one holder -> exclusive
//	write-back         {WRITE value, WRITE free to the word}, one doorbell
//	release exclusive  CAS exclusive -> free
//	release shared     READ word; CAS word -> word-2, again with what it found until it succeeds
//	lock of a gap      as of a record; the READ is of the gap's version
//
// A value counts only if its CAS has won; else it is thrown away. A shared lock that another reader
// outruns aborts the attempt as well: to try again would be to wait. To release the exclusive lock of
// a record that was only read, a WRITE would do. The CAS is the paper's, and its answer tells whether
// the lock was still there (LockLost is noted where it was not). Because releases need their
// answers, passive acknowledgement is for write-backs and messages alone.
//
// Two-sided, one RPC per participant machine and step carries all its records. A participant locks
// and reads all records of a message or none. Records of the coordinator's own machine are locked by
// its CPU.
//
// Records come and go by the CPU of their primary alone, so inserts and deletes take an RPC in either
// case. A read that finds nothing locks the gap in which the record would be, and an insert needs the
// gap for itself: so there are no phantoms among keys. Of scans see txn.Tx.Scan.
//
// Where things are: session.go has the order of the phases, word.go the lock word, growing.go and
// commit.go the two phases, gap.go and insert.go what is not there yet or no more; message.go is what
// the coordinator sends two-sided, handler.go what CPUs do with lock words; scale.go the costs.
//
// # Who owns a lock word
//
// RNIC atomics are not atomic with CPU atomics (§4.3.2), and shared locks are released by atomics
// too. So locks and releases have one primitive, and where it is one-sided, records of the own
// machine go through the own RNIC (loopback). A change between the two needs a drain: NeedsDrain. A
// change of mode needs none, for the words mean the same in both.
//
// # Why it is strictly serialisable
//
// All locks are held at the decision, and a value counts only under its lock. So transactions that
// conflict are in the order of their decisions, which is that of time. Nothing waits for a lock, so
// there is no deadlock. But transactions may abort each other again and again while an attempt takes
// longer than the longest back-off: long ones that want the same records, and in mode E/S those that
// read a record before they write it, for two of them never get past their upgrades. A longer
// txn.backoff_max_ns helps; in a drain the back-off grows by itself.
//
// # Versions
//
// Backups get the reclaims of a record in any order, must not let an older value overwrite a newer
// one, and rows have no sequence. The version in a log entry is the coordinator's clock, read while
// it holds its exclusive locks. A replica keeps it in its own header word, where a primary has the
// lock. It grows strictly per record: the next holder reads its clock when it has the answer to its
// lock request, which came behind the release, more than the nanosecond later that the clock counts in.
// Above the clock is the incarnation of the row, so that versions grow over the records that a row has
// held. That takes clocks that agree. Those of the simulator do; a real system would put a version of
// 8 bytes into the row.
//
// For the same reason the bytes that a read brings do not say which version they are. The history
// asks an oracle, see txn.Tx.Latest.
//
// # Costs
//
// Handlers charge the memory accesses that they make, not the cycles of Table 4-2, which are those of
// the optimistic protocol's handlers. The handler of logs is the same for both and keeps its cycles
// and the size of its entries. The coordinator's program is assumed to take what engine/protocol/occ was
// measured to take where it does the same, see engine/coordinator.
//
// # Left out, and caveats
//
//   - The paper's single WRITE of lock and row: where a row passes a line the word is free before
//     the rest of the value is there (Config.AsPublished). On the profiles here no transaction sees that:
//     an RNIC's CAS crosses PCIe twice before the READ behind it is executed, which takes longer than
//     the last lines of a row of 4 KB, unless the bus is narrow.
//   - The gaps of one server share 16,384 lock words: two that share one exclude each other.
//   - Tx.Insert of a record that has its row from the start is an update like any other, also on the own
//     machine: the optimistic protocol's CPU stores the lock word there, but here readers lock the row
//     too, by RNIC.
//   - Recovery: a machine that fails takes its transactions and their locks with it.
//   - A lock word does not name its holders: nothing tells whose a lock is that was left behind.
package nowait
