package txn

import (
	"fmt"

	"drtmx/engine/store"
)

// ErrExists says that a key is in its table already.
var ErrExists = store.ErrExists

// Insert puts a record that does not exist into the write set, and returns its value, zeros, for writing in place.
// If it exists, ErrExists says so. Where it was not looked up yet, as for the order that belongs to the number which
// this transaction takes from a counter, the insert itself finds out, and the body runs again.
//
// In a table that does not grow, a record that may come has its row from the start. There Insert is Update, and no transaction
// else can be about to write the record. If it is on the coroutine's own machine, its CPU may lock and write it
// without an atomic, however other machines lock.
func (tx *Tx) Insert(table uint8, key uint64) ([]byte, error) {
	if tx.failed == nil && tx.insertsBlind(table, key) && tx.find(table, key) == nil {
		a, err := tx.add(table, key)
		if err != nil {
			return nil, err
		}
		a.State, a.Blind = Missing, true
	}
	a, err := tx.look(table, key, true, true)
	switch {
	case err != nil:
		return nil, err
	case a.isAbsent() && a.Table.Fixed:
		return nil, (*absent)(a)
	case !a.isAbsent() && (a.NewRow || a.Table.AllowsInserts):
		return nil, fmt.Errorf("key %d of table %s: %w", key, a.Table.Name, ErrExists)
	case a.Table.Written != a.Table.ValueBytes():
		// The backup may see a later update of the mutable part first, and then
		// would skip the insert.
		return nil, tx.Fail(fmt.Errorf("insert of key %d of table %s, of whose values only %d bytes are mutable: declare all mutable", key, a.Table.Name, a.Table.Written))
	case a.isAbsent():
		return tx.stageInsert(a)
	}
	if a, err = tx.write(table, key, true); err != nil {
		return nil, err
	}
	a.Insert, a.added = int(a.Machine) == tx.c.Machine(), true
	return a.OutValue(), nil
}

// InsertMetRecord notes that a record exists, or may, which the attempt has inserted without looking it up. The next attempt
// looks it up first.
func (tx *Tx) InsertMetRecord() { tx.checkBeforeInsert = true }

// insertsBlind says that a record is inserted without being looked up: it was not there from the start, and no attempt has
// found it there.
func (tx *Tx) insertsBlind(table uint8, key uint64) bool {
	t := tx.db.tables[table]
	return !tx.checkBeforeInsert && t != nil && t.AllowsInserts && !t.Store.Known(key)
}

// stageInsert begins the insert of a record that is not there, or that the transaction deletes.
func (tx *Tx) stageInsert(a *Access) ([]byte, error) {
	if err := tx.mayWrite(a); err != nil {
		return nil, err
	}
	n := a.Table.OutHeaderBytes + a.Table.ValueBytes()
	switch {
	case a.Delete: // it has a row: now it is an update
		a.Delete = false
	default:
		a.NewRow, a.Insert = true, false
		if err := tx.run.Write(a); err != nil {
			return nil, tx.Fail(err)
		}
		tx.writes++
	}
	a.Out = tx.mem.alloc(n)
	clear(a.Out)
	return a.OutValue(), nil
}

// mayWrite refuses what cannot be written.
func (tx *Tx) mayWrite(a *Access) error {
	switch {
	case tx.readOnly:
		return tx.Fail(fmt.Errorf("write of key %d of table %s in a read-only transaction: run it as read-write", a.Key, a.Table.Name))
	case a.Table.Constant:
		return tx.Fail(fmt.Errorf("write of key %d of table %s, which is declared constant", a.Key, a.Table.Name))
	case tx.closed && !a.ToWrite:
		return tx.Fail(fmt.Errorf("write of key %d of table %s, which Tx.Declare says is only read: declare it with Write", a.Key, a.Table.Name))
	}
	return nil
}

// dropWrites drops the write set of an attempt that its body has given up because a record exists, and reports
// whether the attempt saw one moment. If not, the record may be one that the body would not have inserted.
func (tx *Tx) dropWrites() error {
	for _, a := range tx.set {
		a.Out, a.NewRow, a.Delete = nil, false, false
	}
	tx.writes = 0
	return tx.run.Validate()
}

// Delete removes a record that exists. Later lookups do not find it.
func (tx *Tx) Delete(table uint8, key uint64) error {
	a, err := tx.get(table, key, true, false)
	if err == nil {
		err = tx.mayWrite(a)
	}
	switch {
	case err != nil:
		return err
	case a.Table.Fixed:
		return tx.Fail(fmt.Errorf("delete of key %d of table %s: %w", key, a.Table.Name, store.ErrFixed))
	case a.NewRow && a.Blind: // only the insert would find out that it exists
		tx.InsertMetRecord()
		return tx.Fail(ErrAborted)
	case a.NewRow: // no other transaction has seen it
		a.NewRow, a.Out = false, nil
		tx.writes--
		return nil
	}
	a.Delete, a.Insert = true, false
	if a.Out == nil {
		if err := tx.run.Write(a); err != nil {
			return tx.Fail(err)
		}
		a.Out = tx.mem.alloc(a.Table.OutHeaderBytes)
		tx.writes++
	}
	a.Out = a.Out[:a.Table.OutHeaderBytes]
	return nil
}
