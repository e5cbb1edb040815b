// Package export writes what every transaction of a run read and wrote, as the run goes on, so
// that others can check it: as lines of JSON, or as the EDN of a Jepsen history for Elle's
// rw-register.
//
// # JSON lines
//
// One line for each attempt of a transaction, when it ends:
//
//	{"id": 17, "node": 2, "thread": 0, "type": "write-check", "begin_ns": 10412, "end_ns": 20144, "status": "committed",
//	 "reads": [{"table": "savings", "key": 7, "version": 4, "found": true}],
//	 "writes": [{"table": "checking", "key": 7, "version": 6, "kind": "update"}]}
//
// id is that of the transaction in the texts of anomalies. A transaction that aborts and tries
// again has a line, and an id, for each attempt. status is "committed", "aborted" (by the
// protocol) or "rolled-back" (by the transaction's own code). begin_ns is when the attempt began,
// end_ns its decision, both rounded down. The versions of a record only grow: 2 is what was there
// at the start, 4 what was inserted first; each commit adds 2, and a deletion rounds up to the next
// multiple of 2^40. A write has read its record too, in the version that it replaces. The kind is
// "update", "insert" or "delete". Writes of attempts that did not commit were never put into a record;
// their version is 0. A read with "found": false saw that there is no such record: its version is
// that of the deletion, or 0 if none was inserted yet. Reads of tables that are never written are
// listed as well. "snapshot": true says that the reads are of a snapshot, which may lack what had ended before it began.
//
// # EDN
//
// Two events for each attempt, in the order of their times, :ok for committed, :fail for others:
//
//	{:index 0, :type :invoke, :process 3, :f :txn, :value [[:r "checking/7" nil] [:w "checking/7" 6]], :time 10412}
//	{:index 1, :type :ok, :process 3, :f :txn, :value [[:r "checking/7" 4] [:w "checking/7" 6]], :time 20144}
//
// A process is a coroutine. The value of a register is its version, which is unique among the
// writes of the register, and nil for what was there at the start, be it nothing. Reads come before writes; the
// write of a register, a deletion too, comes after the read of what it replaces, from which a checker takes the
// order of versions (Elle: {:wfr-keys? true}). The value that a failed attempt would have written
// is minus its id, which is never read. An attempt under way at the end is :info, of a value
// that is unknown: none that it wrote was ever visible.
//
// Events of one moment are in the order that says the least: begins come before ends,
// unless it is the same process.
//
// # Caveats
//
//   - Scans of secondary indexes are not in it: their entries are hints without versions.
//   - Versions are those of records. What a body computed from the values is not in it.
//   - EDN needs the beginnings in order, so what ends is held back until nothing that began
//     before it is under way. A coroutine that holds back many events has its beginning written
//     without a value.
package export
