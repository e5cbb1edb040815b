// Package record says what a record looks like in registered memory, and what travels to the
// backups when it changes: rows with their lock word and sequence, and ring-buffer log entries.
//
// Everything here is bytes and arithmetic. Nothing reads a clock, posts a verb or charges a cycle;
// engine/kv puts rows somewhere, and engine/protocol/occ and engine/replication move them.
//
// # Layouts
//
// A row is a header and a value. A protocol declares its header as a Layout of named words and lists, of 256 bytes at most, and says
// what they are to others (Role): which the primary has for itself, which log entries carry and backups install, and where a store
// finds out whether a row is free, live, or holds another record than before. Offsets are computed when the layout is made. Rows
// is the geometry of a table's rows.
//
// # Rows of optimistic transactions
//
//	offset 0   lock   u64   0 = free, else held | machine | thread | coroutine
//	offset 8   seq    u64   incarnation 16 bits | counter 47 bits | being written 1 bit
//	offset 16  value
//
// Validation reads lock and sequence with one 16-byte READ, locking is one CAS on the first word,
// write-back is {WRITE seq and value, WRITE 0 to lock} in one list (thesis sections 4.3.2, 4.3.3).
// The sequence starts at InitialSeq and grows by 2 per commit; it is odd while a CPU rewrites the row.
//
// The sequence also tells a reader that the row is no longer the record it is looking for. Deleting a
// record moves the row to its next incarnation, so the sequence never repeats or decreases over the
// reuse of a row, and a location remembered with the old incarnation is recognised as stale by the
// READ of the row itself, with no extra bytes and no second READ. A row whose incarnations are used up
// is not used again (65,535 deletes of one row). A free row is not live: the counter of its sequence is 0. An
// inserted record begins with counter 4, one that was there from the start with 2.
//
// # Stride
//
// Rows are at least 8-byte aligned. Packed rows are dense; Aligned rows of at most a line never straddle a
// line. SmallBank's 24-byte rows are packed: 24 instead of 32 bytes per row, three replicas of 3.2 million
// rows, is 230 instead of 307 MB, and a quarter of the rows straddles a line. What that costs is modelled
// (two lines in the caches, torn READs) and what it breaks is known. Lines are read in ascending order, and
// either lock and sequence share a line, or the sequence shares it with the whole value. So a torn row shows a
// value at least as new as its sequence, whole if it is as new, and the check of lock and sequence in the
// validation phase rejects what does not belong together. A reader that skips validation (a read-only
// transaction on a single key) has to ask OneLine first.
//
// # Forms of tearing
//
// That is as the protocols of the thesis have it, and as-published is the default of a Layout. Two other forms let a READ alone say whether it is
// of one moment, for readers that validate nothing: header-last rows have their stamp behind the value too, and line-versions rows have
// a version in each line. Rows.Image, Rows.Whole and Rows.Writes hide what they add to a row.
//
// # Log entries
//
// One entry carries all that one transaction changes, and a backup takes from it what it holds. Its size
// stands at both ends (section 4.3.4), each time together with the transaction's number in its thread, so
// that the end of an older entry of the same size in the same place is not taken for the end of this one.
//
// A ring belongs to one (source machine, source thread) and lies in the registered memory of one backup;
// only the source knows its head and tail, and it never overwrites what the backup has not reclaimed. When
// a ring is full, Reserve says so and the transaction has to wait for a reclaim: nothing is dropped.
//
// # Versions per line
//
// Lines lays data out that is READ across several lines without a lock or a validation: each line has the block's version. The
// leaves and inner nodes of xstore/tree are such blocks. Rows are not: those longer than a line rely on validation.
//
// # Versions of records
//
// Versioned is a layout with what snapshots need: see there. Tail is what such rows may have behind their values for snapshots that READ them. Log entries then carry the one stamp of their transaction.
package record
