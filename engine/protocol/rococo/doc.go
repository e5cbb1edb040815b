// Package rococo is Rococo's concurrency control (thesis §5.3.2): servers reorder transactions that meet, instead of aborting
// them. A transaction is a set of pieces (txn.Op), each of which does something to one record on the record's server.
//
// # The protocol
//
//	Start    one message per server and step (server.go): each piece claims its record, and the answer says which
//	         transactions have claimed it before. What immediate pieces give back follows from those that have
//	         claimed their record before, and the body goes on with it
//	-------  the transaction is certain to commit here: nothing aborts it, and it must not give up
//	Commit   one message per server, with all that the transaction comes after. The server waits until whatever comes
//	         before, however far, commits too, and asks another server where it has only heard of one. Then it knows
//	         all cycles (graph.go), and runs the pieces in the order of the dependencies; those of transactions in a
//	         cycle, in the order of the transactions' numbers. The answer has the outputs
//
// A cycle is known to a server in full before it runs any piece of it, and each server that has such a piece runs them in the
// same order: so the order is serial. What others have not claimed yet comes later everywhere.
//
// The order of immediate pieces is that in which they came. Their records have what they write when their transactions are
// executed, as of other pieces. Of the pieces that meet on a record all are immediate, or none, and
// a transaction has one immediate piece at most: so those orders have no cycle, and a component of the graph has an order
// that keeps them. Both are checked as transactions run. Rococo's own checker looks at programs beforehand, and allows more.
//
// There is no bound on what a transaction comes after: edges for which a message has no room go in more of them (wire.go).
//
// A server keeps transactions that it has executed, without what came before their cycles, for another one that still looks
// for its own cycles. It forgets the oldest ones; to be asked for one of these ends the run with an error.
//
// # Transactions on one server
//
// Which records a transaction needs may follow from what it reads, as TPC-C's delivery finds out which order is the oldest. If
// they are all on one server, its body is one piece (txn.Tx.Whole, whole.go). It runs there while no transaction that
// has started is in its way on any of its records, and then claims and writes them at one instant.
//
// # Read-only transactions
//
// They have no place in the graph. They read in rounds until two are equal (readonly.go); a server answers when the
// transactions have been executed that had started on the records. Where rounds differ the attempt is aborted: these are all
// the aborts that there are.
//
// Where many transactions meet hardly two rounds are equal. A client tries again until they are, so of clients in closed loops more
// and more are at such reads; the throughput falls, and with it the conflicts, until reads commit as fast as they begin. With 100
// clients for each server, on TPC-C, that takes about 100 ms (Figure 5-14). It is the protocol's nature: what servers
// remember does not grow.
//
// # Snapshots
//
// With timestamps (DST) read-only transactions read snapshots instead: see versions.go and engine/versions. A record that is inserted
// again where snapshots may still need what was deleted is written over its tombstone (insert.go). While a system with
// versions runs, ts.scheme may change between dst and none, through a drain: rounds of reads take the place of snapshots.
//
// # What is modelled
//
// All messages, two-sided, with their real bytes; records, claims and pieces with their accesses to memory, which are
// charged; for a message and for each transaction of the graph that is looked at, an assumed time of the server's core
// (scale.go). Requests that wait are served by coroutines (r2.HandleWaiting).
//
// # Left out
//
//   - Replicas and logs: none, as in Rococo's own evaluation.
//   - A bound on the tries of a read-only transaction. The released code can give one up; the configurations that come with it
//     do not.
//   - Merging of pieces and the fallback to other protocols where transactions are not of this form: such workloads are
//     refused.
//   - Memory of the graph: it is the program's own, its time is part of the assumed costs. The threads of a machine share it
//     without a lock.
//   - The graph that a server sends with an answer is what comes directly before the transaction; what comes before that is
//     asked for when it is needed.
//   - Crashes.
package rococo
