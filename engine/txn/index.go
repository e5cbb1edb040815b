package txn

import (
	"errors"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/timestamp"
)

// Secondary indexes. An index is a hint: its entries have no versions and are not
// validated, so a transaction reads the records that they point to, and what it
// concludes has to follow from those. What it can count on:
//
//   - An entry is there before its transaction is decided, and while the records
//     are locked; if the transaction aborts it goes again. So a transaction that begins after a
//     commit finds the entry.
//   - An entry that a transaction drops goes after its records are written back.
//     So a record that exists has its entry.
//
// A scan may therefore find entries whose records do not exist, yet or any more,
// and reads of those are validated. What it cannot know is that an entry did not
// come in behind it: a phantom, unless a record that is read says so.

// A read-only transaction that reads a snapshot scans at its point. There the same holds: what a commit before the point has
// added is found, what one has dropped before the point is not, and what was dropped behind it still is. A transaction that adds an entry
// to what a snapshot has scanned comes after that snapshot.

// Index is an ordered table.
type Index = store.Index

// Pointed is a Session that reads a snapshot.
type Pointed interface {
	// Claim is where it reads.
	Claim() store.Claim
}

// Filling is a Session whose stamps come after those of snapshots that have looked for what it adds, and did not find it.
type Filling interface {
	// Filled tells it of the point of such a one.
	Filled(guard uint64)
}

// UseIndexes says what makes the ordered tables of the database: where snapshots are read they are dated. It comes before
// the first table.
func (db *DB) UseIndexes(x store.Indexes) error {
	if !db.common.Timestamps.Versions() {
		return nil
	}
	dated, ok := x.(store.DatedIndexes)
	if !ok {
		return errors.New("these indexes have no guards for snapshots, and records have versions")
	}
	dated.Date(func(stamp uint64, point []uint64) bool { return timestamp.Visible(timestamp.Stamp(stamp), point) })
	db.indexes = dated
	return nil
}

// Indexes made the ordered tables of which snapshots are read, nil where there are none.
func (db *DB) Indexes() store.DatedIndexes { return db.indexes }

// entryOf is an entry that the transaction adds or drops.
type entryOf struct {
	index            Index
	part, key, value uint64
	drop             bool
	done             bool
}

// Scan reads entries of an index, valid until the transaction's next scan.
func (tx *Tx) Scan(x Index, r store.Range) ([]store.Entry, error) {
	if tx.failed != nil {
		return nil, tx.failed
	}
	tx.Enter(tx.ExecutionPhase(), r2.Mode{})
	var err error
	if tx.snapshot() {
		tx.found, err = tx.scanAt(x, r)
	} else {
		tx.found, err = x.Scan(tx.c, r, tx.found[:0])
	}
	if err != nil {
		return nil, tx.Fail(err)
	}
	return tx.found, nil
}

// scanAt reads entries at the point of a snapshot.
func (tx *Tx) scanAt(x Index, r store.Range) ([]store.Entry, error) {
	dated, ok := x.(store.Dated)
	at, points := tx.run.(Pointed)
	if !ok || !points {
		return nil, errors.New("a snapshot scans an index that has no guards: it would miss what is added to it")
	}
	return dated.ScanAt(tx.c, at.Claim(), r, tx.found[:0])
}

// AddEntry gives a record that the transaction inserts an entry in an index.
func (tx *Tx) AddEntry(x Index, part, key, value uint64) {
	tx.entries = append(tx.entries, entryOf{index: x, part: part, key: key, value: value})
}

// DropEntry takes the entry of a record that the transaction writes out of an
// index.
func (tx *Tx) DropEntry(x Index, part, key uint64) {
	tx.entries = append(tx.entries, entryOf{index: x, part: part, key: key, drop: true})
}

// AddEntries makes the new entries of indexes, when the records are locked. abort ends the attempt
// where another one has not cleared up its entry yet; if it does not, the entry is as good as added.
func (tx *Tx) AddEntries(abort func() error) error {
	for i := range tx.entries {
		e := &tx.entries[i]
		if e.drop {
			continue
		}
		switch err := tx.enter(e); {
		case err == nil:
			e.done = true
		case errors.Is(err, store.ErrExists):
			if err := abort(); err != nil {
				return err
			}
		default:
			return tx.Fail(err)
		}
	}
	return nil
}

// enter adds an entry. Snapshots that have looked for it at a point come before the transaction.
func (tx *Tx) enter(e *entryOf) error {
	dated, ok := e.index.(store.Dated)
	if !ok {
		return e.index.Insert(tx.c, e.part, e.key, e.value)
	}
	guard, err := dated.Enter(tx.c, e.part, e.key, e.value)
	if s, ok := tx.run.(Filling); ok && (err == nil || errors.Is(err, store.ErrExists)) {
		s.Filled(guard)
	}
	return err
}

// UndoEntries takes back what an aborted attempt has added.
func (tx *Tx) UndoEntries() {
	for i := range tx.entries {
		if e := &tx.entries[i]; e.done && !e.drop {
			tx.drop(e, e.index.Delete(tx.c, e.part, e.key))
		}
	}
}

// DropEntries takes out the entries of a transaction that is written back.
func (tx *Tx) DropEntries() {
	for i := range tx.entries {
		if e := &tx.entries[i]; e.drop {
			tx.Enter(Commit, r2.Mode{})
			tx.drop(e, tx.retire(e))
		}
	}
}

// retire takes an entry out, of a dated table with the attempt's stamp.
func (tx *Tx) retire(e *entryOf) error {
	if dated, ok := e.index.(store.Dated); ok && tx.stamp != 0 {
		return dated.Retire(tx.c, e.part, e.key, uint64(tx.stamp))
	}
	return e.index.Delete(tx.c, e.part, e.key)
}

// drop says what became of an entry that was to be taken out.
func (tx *Tx) drop(e *entryOf, err error) {
	if err == nil || errors.Is(err, store.ErrMissing) && tx.common.IgnoresAborts {
		return
	}
	tx.c.Fail(fmt.Errorf("txn: entry %d of part %d of an index cannot be taken out: %w", e.key, e.part, err))
}
