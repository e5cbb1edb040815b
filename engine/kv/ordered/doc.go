// Package ordered is an ordered table that only its server's CPU works on: B+trees, reached by RPC. Chapter 4 uses such
// tables for secondary indexes.
//
// # What is modelled
//
// A table has parts, each a tree of its own on one server: of TPC-C a district. An entry is a key and a value of 8 bytes
// each. A part's initial entries are a pure function of its number; nodes of its tree are made when a request first visits
// them. Every operation is one request; on the server's own machine it is a call. It is atomic at the moment it begins.
//
// # What is charged
//
// The part's first line, by a load, or by a compare-and-swap where the tree changes; then two lines of every node on the
// way and of every leaf that is scanned. A request has 40 bytes, and 16 per entry come back.
//
// # Snapshots
//
// A dated table (Dated) answers scans at the point of a snapshot. Each leaf has a guard, a word beside it: the highest point
// at which a snapshot has scanned the leaf. A scan raises the guards of all leaves that it passes, and a transaction that enters a key is
// told its leaf's: its transaction comes after that, or the snapshot would have missed it. A leaf that splits hands its guard
// on, and so does one that goes. An entry that is taken out stays, with the stamp from which on it is gone, until no snapshot
// finds it any more. When an entry came in is unknown, as its transaction has no stamp by then: the record it points to
// says so.
//
// # Left out
//
//   - Latches within a tree: a handler that comes while another one works does not wait.
//   - Sockets: all parts of a server are in the memory of its first one.
//   - Nodes in registered memory, for READs from elsewhere.
//   - The locked instruction with which a scan raises a guard: its line is charged.
//   - Merging of leaves: a leaf goes when its last entry does.
//   - Replicas. What a secondary index has follows from the records it points to.
package ordered
