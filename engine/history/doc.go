// Package history records what transactions read and wrote and checks it against
// the isolation level that their protocol claims.
//
// A version of a record is its key and the sequence in its header. A committed
// transaction says which versions it saw, and for each record it wrote, which
// version it replaced by which. That gives the order of the versions without
// guessing, and with it the dependency graph of Adya: ww from a writer to the one that
// overwrote it, wr from a writer to its readers, rw from a reader to the one that
// overwrote what it had read. Strict serialisability adds real time: who ended
// before another began comes before it. Times are of one virtual clock, in ps,
// so these edges are exact.
//
// Reported are, by name: cycles of the graph (G0, G1c, G-single, G2; the kind
// that the weakest isolation level forbids, with a shortest cycle), real-time
// contradictions, reads of aborted (G1a) and intermediate (G1b) versions, lost
// updates, and what can only come from a broken protocol: versions installed
// twice or not advanced, versions that were never installed, overwritten versions
// that were never committed, and versions with two values, where the transactions
// give sums of them: the graph is one of versions, and what a body computed from a
// value that did not belong to its version would pass unseen. A history without any of them has a serial order
// that respects real time, and the tests hold that against a checker that tries
// all orders. Each anomaly comes with its cycle and a sentence. Which of them
// break a claim is listed beside their names.
//
// # Windows
//
// The recorder checks as it goes, a few thousand transactions at a time, and
// drops what can no longer be part of an anomaly: transactions that ended before
// the oldest active attempt began, unless one that stays has to precede them. Of
// what is dropped it keeps, for each record, the last version with the end of
// its writer. Any later cycle through something dropped must enter it by a read
// or an overwrite of a version older than that one, by a transaction that began
// after that writer's end; that is seen on the spot. Therefore:
//
//   - Nothing is reported that the whole history would not show.
//   - Under the claim of strict serialisability a window misses nothing that
//     counts: wherever the whole history has an anomaly, the window finds one. It
//     may name it otherwise: a cycle that reaches far back is a stale read
//     ("real-time") or a lost update.
//   - Under a weaker claim, a cycle that is longer than the window and that real
//     time alone would have forbidden is reported as "real-time", which does not
//     break that claim.
//   - Once an anomaly of a transaction was reported, others of the same kind that
//     it is part of are not.
//
// This rests on Begin being called for every attempt. Without it the recorder
// cannot know which attempts are on the way: versions of unknown origin are then judged only
// by Finish, and stay in memory until then. What two bounds cost, and when, is
// said at Options.Capacity and Options.Keys.
//
// # Snapshots
//
// A transaction that reads a snapshot (Txn.Level) takes part in the graph as any other, so a cycle through it is
// reported. Real time is another matter. That an order contradicts it is looked for among read-write transactions, and
// held against what they promise one another, Options.Writers; the path runs through no snapshot, as one that is old
// lets a later transaction come before an earlier one without either noticing. A snapshot that itself lacks what had
// ended before it began is stale: that is reported and counted, and breaks no claim unless it was to be fresh. What
// follows from two fresh ones together is held against Options.Claim. Where writers claim no serial order, a snapshot lacks
// what overwrote a version that it read, and not what follows from that.
//
// A snapshot reads versions that were overwritten long ago, so horizon and window are not enough: Needs says what it
// may lack, and that stays in the window until every snapshot to come has it. A snapshot that reads an older version than that
// has read what the system was free to collect (version-lost). So a window misses no cycle through a snapshot: it
// would have to enter what was dropped by such a read, and that is seen on the spot.
//
// # Sampling
//
// Sampled keeps all accesses to some of the keys, chosen by hash, and drops all
// accesses to the others. What it keeps is a part of the true graph, so it never
// reports falsely; it misses cycles over keys of which one is not in the sample.
// Sampling transactions instead would leave versions without writers.
//
// # Caveats
//
//   - Reads of attempts that did not commit are not checked (no opacity).
//   - Predicates are not recorded: phantoms are seen only as versions of records.
//     Version 0 is a record that was not inserted yet; of one that was deleted, the
//     deletion is the version that a later read or insert of the key finds.
//   - A read of a version that the transaction installed itself says nothing and
//     is ignored, and so is the order of its writes in the list.
//   - A version installed twice is reported and then gives no order to those
//     who read it.
package history
