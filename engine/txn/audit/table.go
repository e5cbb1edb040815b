package audit

import (
	"drtmx/engine/owned"
	"drtmx/engine/record"
	"drtmx/engine/store"
)

// Table is what is known of the records of a table.
type Table struct {
	touched   keySet
	fresh     owned.Each[[]uint64] // keys that a machine has touched, and that are not in touched yet
	deletions deletions
	commits   commits
}

// NewTable is that of a table whose keys from the start are below a bound, if they are dense.
func NewTable(keys uint64, machines int) Table {
	return Table{touched: newKeySet(keys), fresh: owned.New[[]uint64](machines, nil), commits: newCommits(keys)}
}

// Touch remembers that a machine may have written or locked a record.
func (t *Table) Touch(machine int, key uint64) {
	list := t.fresh.Of(machine)
	*list = append(*list, key)
}

// EachTouched calls f with those keys, in rising order.
func (t *Table) EachTouched(f func(key uint64)) {
	t.Gather()
	t.touched.each(f)
}

// Gather takes in what machines have touched. None of them runs.
func (t *Table) Gather() {
	for _, list := range t.fresh.All() {
		for _, key := range *list {
			t.touched.add(key)
		}
		*list = (*list)[:0]
	}
}

// Version is the version, for the history, of a record that was found in a row with a stamp.
func (t *Table) Version(key uint64, at store.Ref, stamp uint64) uint64 {
	return t.deletions.version(key, at, record.Counter(stamp))
}

// Latest is the version of a record now, where its row has no stamp.
func (t *Table) Latest(key uint64, at store.Ref) uint64 {
	return t.Version(key, at, t.commits.last(key))
}

// Advance gives such a record the version that follows on another one.
func (t *Table) Advance(key, version uint64) uint64 {
	t.commits.next(key)
	return UpdatedVersion(version, t.commits.last(key))
}

// AbsentAtGap is the version of a record's absence while its gap has a version.
func (t *Table) AbsentAtGap(key uint64, gap uint32) uint64 { return t.deletions.absentAtGap(key, gap) }

// AbsentBefore is the version of a record's absence before the first version in a row.
func (t *Table) AbsentBefore(key uint64, before store.Ref) uint64 {
	return t.deletions.absentBefore(key, before)
}

// NoteInsert notes that the store has given a row to a record; the insert may be taken back.
func (t *Table) NoteInsert(key uint64, ref store.Ref) { t.deletions.noteInsert(key, ref) }

// NoteDeletion notes that the store has removed a record which a committed transaction deleted.
func (t *Table) NoteDeletion(key uint64, x store.Change) { t.deletions.add(key, x.Ref, x.After, 0) }

// NoteCollection notes that the store has removed a tombstone: absence keeps its version.
func (t *Table) NoteCollection(key uint64, x store.Change, version uint64) {
	t.deletions.add(key, x.Ref, x.After, version)
}

// UpdatedVersion is the version of a record that follows version when its row has a new stamp.
func UpdatedVersion(version, stamp uint64) uint64 {
	return version&^(oneDeletion-1) | record.Counter(stamp)
}

// DeletedVersion is the version of a record with version after its deletion.
func DeletedVersion(version uint64) uint64 { return (version>>deletionShift + 1) << deletionShift }

// ReinsertedVersion is the version of a record that is inserted again in a new row, where version is that of its absence.
func ReinsertedVersion(version, stamp uint64) uint64 {
	if version&(oneDeletion-1) != 0 { // a tombstone was there, which was collected
		version = DeletedVersion(version)
	}
	return UpdatedVersion(version, stamp)
}
