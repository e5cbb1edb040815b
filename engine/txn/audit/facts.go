package audit

import (
	"fmt"

	"drtmx/engine/record"
	"drtmx/engine/store"
)

// Which version a row has whose key was deleted before, or has no stamp at all, follows from what happened to its key on all machines. A
// machine that wants to know writes a fact down, and goes on with a token, which stands for the version until the facts of all machines are
// gathered. A token may be in an access or in a note beside an answer; nothing but the history knows what it stands for.
//
// What is to be written follows on such a version: it has a successor in place of a version.

// fact is something that a machine asks of the versions of a key, or that it did to it.
type fact struct {
	at    int64
	key   uint64
	x, y  uint64
	kind  uint8
	table uint8
}

// Kinds of facts.
const (
	rowSeen       = iota // row x has a record with counter y
	lastSeen             // row x has a record, without a stamp
	gapSeen              // the gap has version x
	beforeRow            // nothing is there yet of what is in row x
	rowInserted          // x
	recordDeleted        // from row x; the gap has version y from then on
	tombCollected        // likewise, and the fact before it is the version that was there
	followsOn            // version x has the successor y
)

const (
	isToken      = 1 << 63
	isSuccessor  = 1 << 62 // of another kind than tokens
	tokenMachine = 44      // and above: the machine; below: the number of its fact
	machineMask  = 1<<(62-tokenMachine) - 1
	successorAt  = 56 // the kind of successor; below: the counter of its stamp
)

// Kinds of successors.
const (
	updated = iota
	deleted
	reinserted
	advanced
)

func successor(kind int, stamp uint64) uint64 {
	return isSuccessor | uint64(kind)<<successorAt | record.Counter(stamp)
}

// value is what a fact's token stands for.
type value struct {
	at int64
	v  uint64
}

// fact writes one down and returns its token. Without a history there is no version.
func (t *Table) fact(machine int, kind uint8, key, x, y uint64) (token uint64) {
	if !t.book.On() {
		return 0
	}
	l := t.book.logs.Of(machine)
	l.facts = append(l.facts, fact{t.book.now(machine), key, x, y, kind, t.id})
	return isToken | uint64(machine)<<tokenMachine | (l.dropped + uint64(len(l.values)+len(l.facts)) - 1)
}

// Version is the version, for the history, of a record that a machine has found in a row with a stamp.
func (t *Table) Version(machine int, key uint64, at store.Ref, stamp uint64) uint64 {
	if t.fixed || !t.book.On() {
		return record.Counter(stamp)
	}
	return t.fact(machine, rowSeen, key, uint64(at), record.Counter(stamp))
}

// Latest is the version of a record now, where its row has no stamp.
func (t *Table) Latest(machine int, key uint64, at store.Ref) uint64 {
	return t.fact(machine, lastSeen, key, uint64(at), 0)
}

// AbsentAtGap is the version of a record's absence while its gap has a version.
func (t *Table) AbsentAtGap(machine int, key uint64, gap uint32) uint64 {
	if t.fixed {
		return 0
	}
	return t.fact(machine, gapSeen, key, uint64(gap), 0)
}

// AbsentBefore is the version of a record's absence before the first version in a row.
func (t *Table) AbsentBefore(machine int, key uint64, before store.Ref) uint64 {
	return t.fact(machine, beforeRow, key, uint64(before), 0)
}

// NoteInsert notes that the store has given a row to a record; the insert may be taken back.
func (t *Table) NoteInsert(machine int, key uint64, ref store.Ref) {
	t.fact(machine, rowInserted, key, uint64(ref), 0)
}

// NoteDeletion notes that the store has removed a record which a committed transaction deleted.
func (t *Table) NoteDeletion(machine int, key uint64, x store.Change) {
	t.fact(machine, recordDeleted, key, uint64(x.Ref), uint64(x.After))
}

// NoteCollection notes that the store has removed a tombstone with a stamp: absence keeps its version.
func (t *Table) NoteCollection(machine int, key uint64, x store.Change, stamp uint64) {
	t.fact(machine, rowSeen, key, uint64(x.Ref), record.Counter(stamp))
	t.fact(machine, tombCollected, key, uint64(x.Ref), uint64(x.After))
}

// UpdatedVersion is the version of a record that follows version when its row has a new stamp.
func UpdatedVersion(version, stamp uint64) uint64 {
	if version&isToken != 0 {
		return successor(updated, stamp)
	}
	return version&^(oneDeletion-1) | record.Counter(stamp)
}

// DeletedVersion is the version of a record with version after its deletion.
func DeletedVersion(version uint64) uint64 {
	if version&isToken != 0 {
		return successor(deleted, 0)
	}
	return (version>>deletionShift + 1) << deletionShift
}

// ReinsertedVersion is the version of a record that is inserted again in a new row, where version is that of its absence.
func ReinsertedVersion(version, stamp uint64) uint64 {
	if version&isToken != 0 {
		return successor(reinserted, stamp)
	}
	if version&(oneDeletion-1) != 0 { // a tombstone was there, which was collected
		version = DeletedVersion(version)
	}
	return UpdatedVersion(version, stamp)
}

// Follow is the version that follows on a version by a successor, for an access that has read another version.
func (t *Table) Follow(machine int, key, version, next uint64) uint64 {
	if next&isSuccessor == 0 {
		return next
	}
	return t.fact(machine, followsOn, key, version, next)
}

// AdvancedVersion is that of a record that follows where rows have no stamps.
func AdvancedVersion() uint64 { return successor(advanced, 0) }

// learn works out what a fact's token stands for. The facts before it are known.
func (b *Book) learn(l *log, f *fact) {
	t := b.tables[f.table]
	v := uint64(0)
	switch f.kind {
	case rowSeen:
		v = t.deletions.version(f.key, store.Ref(f.x), f.y)
	case lastSeen:
		v = t.deletions.version(f.key, store.Ref(f.x), record.Counter(t.commits.last(f.key)))
	case gapSeen:
		v = t.deletions.absentAtGap(f.key, uint32(f.x))
	case beforeRow:
		v = t.deletions.absentBefore(f.key, store.Ref(f.x))
	case rowInserted:
		t.deletions.noteInsert(f.key, store.Ref(f.x))
	case recordDeleted:
		t.deletions.add(f.key, store.Ref(f.x), uint32(f.y), 0)
	case tombCollected:
		t.deletions.add(f.key, store.Ref(f.x), uint32(f.y), l.values[len(l.values)-1].v)
	case followsOn:
		v = b.resolve(t, f.key, b.version(f.x), f.y)
	}
	l.values = append(l.values, value{f.at, v})
}

// version is what stands behind a token; others are versions themselves.
func (b *Book) version(v uint64) uint64 {
	if v&isToken == 0 {
		return v
	}
	l, n := b.logs.Of(int(v>>tokenMachine&machineMask)), v&(1<<tokenMachine-1)
	if n < l.dropped || n >= l.dropped+uint64(len(l.values)) {
		panic(fmt.Sprintf("audit: a machine's fact %d is asked for, and %d to %d are known", n, l.dropped, l.dropped+uint64(len(l.values))))
	}
	return l.values[n-l.dropped].v
}

// resolve is the version that a successor of a version is.
func (b *Book) resolve(t *Table, key, before, next uint64) uint64 {
	if next&isSuccessor == 0 || next&isToken != 0 {
		return b.version(next)
	}
	stamp := record.Counter(next)
	switch next >> successorAt & (isSuccessor>>successorAt - 1) {
	case deleted:
		return DeletedVersion(before)
	case reinserted:
		return ReinsertedVersion(before, stamp)
	case advanced:
		t.commits.next(key)
		return UpdatedVersion(before, t.commits.last(key))
	}
	return UpdatedVersion(before, stamp)
}
