package txn

import (
	"errors"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/store"
)

// Secondary indexes. An index is a hint: its entries have no versions and are not
// validated, so a transaction reads the records that they point to, and what it
// concludes has to follow from those. What it can count on:
//
//   - An entry is there before its transaction is decided, and while the records
//     are locked; if the transaction aborts it goes again. So who begins after a
//     commit finds the entry.
//   - An entry that a transaction drops goes after its records are written back.
//     So a record that exists has its entry.
//
// A scan may therefore find entries whose records do not exist, yet or any more,
// and reads of those are validated. What it cannot know is that an entry did not
// come in behind it: a phantom, unless a record that is read says so.

// Index is an ordered table.
type Index = store.Index

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
	if tx.found, err = x.Scan(tx.c, r, tx.found[:0]); err != nil {
		return nil, tx.Fail(err)
	}
	return tx.found, nil
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
		switch err := e.index.Insert(tx.c, e.part, e.key, e.value); {
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

// UndoEntries takes back what an aborted attempt has added.
func (tx *Tx) UndoEntries() {
	for i := range tx.entries {
		if e := &tx.entries[i]; e.done && !e.drop {
			tx.drop(e)
		}
	}
}

// DropEntries takes out the entries of a transaction that is written back.
func (tx *Tx) DropEntries() {
	for i := range tx.entries {
		if e := &tx.entries[i]; e.drop {
			tx.Enter(Commit, r2.Mode{})
			tx.drop(e)
		}
	}
}

func (tx *Tx) drop(e *entryOf) {
	err := e.index.Delete(tx.c, e.part, e.key)
	if err == nil || errors.Is(err, store.ErrMissing) && tx.common.Faulty {
		return
	}
	tx.db.cl.Fail(fmt.Errorf("txn: entry %d of part %d of an index cannot be taken out: %w", e.key, e.part, err))
}
