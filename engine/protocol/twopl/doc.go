// Package twopl is two-phase locking with lock queues: a transaction locks each record when it first touches it, waits
// where another transaction holds it, and keeps all its locks until it has committed. It stands for MySQL Cluster, the host of
// thesis sections 5.3.2 and 5.5.2: locks, records and queues are the server's, and everybody asks it by RPC. So it runs
// wherever messages do, over RDMA or kernel TCP. Replication and back-off are those of engine/protocol/occ.
//
// # The protocol
//
//	Growing   per record: lock it at its server, which answers when it has the lock and sends the value
//	          (growing.go, request.go)
//	          a record that was read and is then written: upgrade its shared lock
//	          a record that is missing: lock its gap (gap.go)
//	Insert    give new records their rows, locked, with their gaps held (insert.go)
//	Logging   one log entry per backup machine, as in engine/protocol/occ, by RPC (session.go)
//	-------   the transaction is committed here, with all of its locks held
//	Commit    one message per server: install what is written there, take out what is deleted, release all locks
//	          (commit.go, serve.go)
//	Reclaim   the backups apply the entries, some time
//
// One message per participant and step carries all its records. The server takes the locks of a message one after the
// other; while it waits for one of them the answer is deferred (r2.Ticket), and its thread serves others. It knows an
// attempt's locks, so that the message that ends the attempt does not name them. A read-only transaction runs as any
// other. Records of tables that are declared constant are read without a lock.
//
// # The lock
//
// A row has a lock word and a sequence in front of its value (record.LockSeq). The word shows who holds the lock, and has
// the latch under which a CPU changes it. Holders and queue are in private memory of the server (lock.go), for locks that
// are held. A queue is first come, first served; neighbours in it that want to share get the lock together. Who
// shares a lock and wants it exclusively goes to the front, and gets it when the others are gone. Two of them would
// wait for each other: the younger aborts at once.
//
// # Deadlocks
//
// By timeout: a message that has waited for its locks too long is refused (clerk.go). Or by wait-die: a request
// waits only for younger transactions, holders and those before it in the queue, else it is refused at once. A transaction
// that aborts keeps its age, the clock of its machine when it began, so it becomes the oldest at some time.
//
// # Why it is strictly serialisable
//
// All locks are held at the decision, and a value counts only under its lock. So transactions that conflict are in the
// order of their decisions, which is that of time. A read that finds nothing locks the gap in which the record would be,
// and an insert needs the gap for itself: so there are no phantoms among keys. Of scans see txn.Tx.Scan.
//
// # Read committed
//
// With that isolation reads take no lock, and return what was committed last: the row's sequence is odd while it is
// written. Writes lock as before. A record that was read without a lock and is then written must be unchanged when the lock
// is there, else the attempt aborts: no update is lost. So must the gap of one that was not there and is inserted.
//
// # Snapshots
//
// Under a scheme of timestamps rows have the header record.Versioned, and read-only transactions run in the sessions of
// engine/versions (versions.go). A lock brings the timestamp of its record and the stamp of the version, as they are under the
// lock. The stamp is drawn when all locks are held. The message that ends an attempt installs the versions, raises the
// timestamps of records that were shared, and of gaps, to the stamp, and then releases. A snapshot waits for the holder of an
// exclusive lock; it does not join the queue, for those in it will have larger stamps (golden scripts figure-5-8, snapshot).
// A deleted record leaves a tombstone, which is locked as records are.
//
// # Costs
//
// What a record takes of its server's core is charged when its lock is asked for: Config.ReadNS and WriteNS, which are
// of MySQL Cluster's data node and cover the memory accesses of that message. The message that ends an attempt is charged
// for its memory accesses. The handler of logs is engine/protocol/occ's (Table 4-2). The coordinator's program is assumed to take
// what engine/protocol/occ was measured to take where it does the same, see engine/coordinator. Its client library and the SQL layer
// of MySQL are left out.
//
// # Left out, and caveats
//
//   - The transaction coordinator of MySQL Cluster, a server that relays: clients ask the servers of the records
//     themselves. Its commit passes along the replicas one after the other; here the coordinator writes the logs.
//   - Detection of deadlocks by a graph of who waits for whom. MySQL Cluster has none either.
//   - The gaps of one server share 16,384 lock words: two that share one exclude each other.
//   - Recovery: a machine that fails takes its transactions with it, and those of others that have locks there.
package twopl
