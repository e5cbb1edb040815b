package txn

import (
	"encoding/binary"
	"errors"
	"fmt"

	"drtmx/engine/history"
	"drtmx/engine/history/export"
	"drtmx/engine/replication"
	"drtmx/engine/store"
)

// Kinds of anomaly that the oracles note.
const (
	// LockLeft: after a drain a row is locked.
	LockLeft = "lock-left"
	// RowsBroken: after a drain a row is not what the index and the free lists say.
	RowsBroken = "rows-broken"
)

// SetHistory has the accesses of every attempt written from now on; nil ends that.
func (db *DB) SetHistory(w *export.Writer) { db.history = w }

// beginHistory opens the record of an attempt.
func (tx *Tx) beginHistory() {
	if r := tx.db.opt.Recorder; r != nil {
		tx.attemptBegin = tx.c.Now()
		r.Begin(tx.c.ID(), tx.attemptBegin)
		tx.db.history.Begin(tx.c.ID(), tx.attemptBegin)
	}
}

// Got says that a record has been fetched: its value and version. It names the value that came
// with a version, before the body can do anything to it:
// of all that read a version, the part that updates write has to be the same. So the
// history sees a value that does not belong to its version.
func (tx *Tx) Got(a *Access, value []byte, version uint64) {
	a.State, a.Value, a.Version = Fetched, value, version
	if r := tx.db.opt.Recorder; r != nil && r.Wants(history.MakeKey(a.Table.ID, a.Key)) && !a.Table.Constant {
		a.sum = history.Sum(a.Value[:a.Table.Written])
	}
}

// Lacks says that a record is missing: its gap has a version.
func (tx *Tx) Lacks(a *Access, gap uint32) {
	a.State, a.Version = Missing, a.Table.deletions.absentAtGap(a.Key, gap)
}

// LacksAt is Lacks of a record whose row says that it was deleted: a tombstone has a version as others have.
func (tx *Tx) LacksAt(a *Access, version uint64) { a.State, a.Version = Missing, version }

// NoteInsert notes that the store has given a row to a record that the attempt inserts.
func (tx *Tx) NoteInsert(a *Access, x store.Change) {
	if a.Blind {
		a.Version = a.Table.deletions.absentAtGap(a.Key, x.Before)
	}
	a.Table.deletions.noteInsert(a.Key, x.Ref)
}

// InsertMetRecord notes that a record exists, or may, which the attempt has inserted without looking it up. The next attempt
// looks it up first.
func (tx *Tx) InsertMetRecord() { tx.checkBeforeInsert = true }

// readNothing says that the attempt has read nothing that can change.
func (a *Access) readNothing() bool {
	return !a.Arrived() || a.Table.Constant || a.State == Missing && (a.Table.Fixed || a.Blind && !a.NewRow)
}

// endHistory records the attempt at its decision, before others can see its
// writes. An attempt that did not commit never put a byte into a record.
func (tx *Tx) endHistory(err error) {
	r := tx.db.opt.Recorder
	if r == nil {
		return
	}
	tx.db.nextID++
	if tx.db.history != nil {
		tx.export(err)
	}
	if err != nil {
		r.End(tx.c.ID())
		return
	}
	h := &tx.scratch().hist
	h.reads, h.writes = h.reads[:0], h.writes[:0]
	h.readSums, h.writeSums = h.readSums[:0], h.writeSums[:0]
	for _, a := range tx.set {
		if a.readNothing() {
			continue
		}
		k := history.MakeKey(a.Table.ID, a.Key)
		h.reads = append(h.reads, history.Read{Key: k, Version: a.Version})
		h.readSums = append(h.readSums, a.sum)
		if a.Out == nil {
			continue
		}
		h.writes = append(h.writes, history.Write{Key: k, Old: a.Version, New: a.Next})
		sum := uint64(0) // nothing has none
		if r.Wants(k) && !a.Delete {
			sum = history.Sum(a.Out[OutHeaderBytes:])
		}
		h.writeSums = append(h.writeSums, sum)
	}
	h.txn = history.Txn{
		ID: tx.db.nextID, Type: tx.typ, Session: tx.c.ID(), Begin: tx.attemptBegin, End: tx.decision,
		Status: history.Committed, Level: tx.level(), Stamp: uint64(tx.stamp), Reads: h.reads, Writes: h.writes, ReadSums: h.readSums, WriteSums: h.writeSums,
	}
	r.Add(&h.txn)
}

// export writes the attempt to the exported history. Its number is the one
// that anomalies name.
func (tx *Tx) export(err error) {
	a := &tx.scratch().exported
	*a = export.Attempt{
		ID: tx.db.nextID, Node: tx.c.Machine(), Thread: tx.c.Thread(), Session: tx.c.ID(), Type: tx.typ,
		Begin: tx.attemptBegin, End: tx.decision, Status: history.Committed, Snapshot: tx.snapshot(), Reads: a.Reads[:0], Writes: a.Writes[:0],
	}
	switch {
	case errors.Is(err, ErrRollback):
		a.Status = history.RolledBack
	case err != nil:
		a.Status = history.Aborted
	}
	for _, x := range tx.set {
		if !x.Arrived() || x.Blind && (err != nil || !x.NewRow) {
			continue // the attempt ended before it was looked up
		}
		a.Reads = append(a.Reads, export.Read{Table: x.Table.Name, Key: x.Key, Found: x.State == Fetched, Version: x.Version})
		if x.Out == nil {
			continue
		}
		w := export.Write{Table: x.Table.Name, Key: x.Key, Kind: export.Update}
		switch {
		case x.Delete:
			w.Kind = export.Delete
		case x.added || x.NewRow:
			w.Kind = export.Insert
		}
		if err == nil {
			w.Version = x.Next
		}
		a.Writes = append(a.Writes, w)
	}
	tx.db.history.Add(a)
}

// Note takes in an anomaly that a protocol sees by itself.
func (db *DB) Note(a history.Anomaly) {
	if r := db.opt.Recorder; r != nil {
		r.Note(a)
	}
}

// EachTouched calls f with the keys of a table that some transaction wanted to
// write, in rising order: what can differ from the initial contents.
func (db *DB) EachTouched(id uint8, f func(key uint64)) { db.tables[id].touched.each(f) }

// Row copies the row of a record at its primary: an oracle, free of time.
func (db *DB) Row(id uint8, key uint64, dst []byte) bool {
	t := db.tables[id]
	return t.Store.Row(t.Store.Primary(key), key, dst)
}

// Value copies the value of a record at its primary into dst, which has its length: an oracle,
// free of time. free says that the record is not locked.
func (db *DB) Value(id uint8, key uint64, dst []byte) (free, ok bool) {
	t := db.tables[id]
	row := db.row[:t.RowBytes]
	if !db.Row(id, key, row) || t.Store.Header().Tomb(t.Store.Header().StampOf(row)) {
		return true, false
	}
	copy(dst, t.Store.Header().Value(row))
	_, held := db.protocol.Locked(row)
	if p, ok := db.protocol.(Holder); ok {
		held = held || p.Held(t, key)
	}
	return !held, true
}

// Contents is a hash over the values of the records that differ from the initial contents, at their
// primaries, without the protocol's headers: an oracle, free of time.
func (db *DB) Contents() (h uint64) {
	var word [8]byte
	fold := func(b []byte) { h = history.Sum(append(binary.LittleEndian.AppendUint64(word[:0], h), b...)) }
	for _, t := range db.order {
		value := make([]byte, len(t.Store.Header().Value(db.row[:t.RowBytes])))
		db.EachTouched(t.ID, func(key uint64) {
			fold([]byte{t.ID})
			fold(binary.LittleEndian.AppendUint64(nil, key))
			if _, ok := db.Value(t.ID, key, value); ok {
				fold(value)
			}
		})
	}
	return h
}

// CheckReplicas has the backups of all touched records compared with their
// primaries, looks for locks left behind, and audits the rows of tables that grow. It makes sense when InFlight is 0
// and the cluster is quiet. What it finds becomes anomalies too.
func (db *DB) CheckReplicas() bool {
	found := 0
	report := func(kind, text string) {
		if found++; found <= 8 {
			db.Note(history.Anomaly{Kind: kind, Text: text})
		}
	}
	diverged := func(text string) { report(replication.Diverged, text) }
	for _, t := range db.order {
		row := make([]byte, t.RowBytes)
		db.EachTouched(t.ID, func(key uint64) {
			m := t.Store.Primary(key)
			if !t.Store.Row(m, key, row) {
				if t.Fixed {
					diverged(fmt.Sprintf("key %d of table %s is gone from machine %d", key, t.Name, m))
				}
				return // deleted, or never inserted
			}
			if who, held := db.protocol.Locked(row); held {
				report(LockLeft, fmt.Sprintf("key %d of table %s is still locked by %s", key, t.Name, who))
			}
			db.log.Audit(replication.Row{Store: t.Store, Name: t.Name, Key: key, Machine: m, Bytes: row}, diverged)
		})
		t.Store.Audit(func(text string) { report(RowsBroken, text) })
	}
	if p, ok := db.protocol.(Auditor); ok {
		p.Audit(func(text string) { report(LockLeft, text) })
	}
	return found == 0
}
