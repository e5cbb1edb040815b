package txn

import (
	"encoding/binary"
	"errors"
	"fmt"

	"drtmx/engine/replication"
	"drtmx/engine/store"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn/audit"
)

// What transactions tell the oracles of engine/txn/audit. None of it takes time, and nothing depends on it.

// Versioned is what a Protocol with Snapshots says of them.
type Versioned interface {
	Snapshots
	audit.Promises
}

// Book takes in the attempts of its transactions.
func (db *DB) Book() *audit.Book { return db.book }

// Gather takes in what the machines have written for the audits: it takes their memory until then. None of them runs.
func (db *DB) Gather() {
	db.book.Gather()
	for _, t := range db.order {
		t.Audit.Gather()
	}
}

// Note takes in an anomaly that a machine sees by itself.
func (db *DB) Note(machine int, a audit.Anomaly) { db.book.Note(machine, a) }

// beginHistory opens the record of an attempt.
func (tx *Tx) beginHistory() {
	if b := tx.db.book; b.On() {
		tx.attemptBegin = tx.c.Now()
		b.Begin(tx.c.Machine(), tx.c.ID(), tx.attemptBegin)
	}
}

// Got says that a record has been fetched: its value and version. It names the value that came
// with a version, before the body can do anything to it:
// of all that read a version, the part that updates write has to be the same. So the
// history sees a value that does not belong to its version.
func (tx *Tx) Got(a *Access, value []byte, version uint64) {
	a.State, a.Value, a.Version = Fetched, value, version
	a.sum = tx.db.Sum(a.Table, a.Key, value)
}

// Sum is that of a value for the history, 0 if it is not checked.
func (db *DB) Sum(t *Table, key uint64, value []byte) uint64 {
	if t.Constant {
		return 0
	}
	return db.book.Sum(t.ID, key, value[:t.Written])
}

// Lacks says that a record is missing: its gap has a version.
func (tx *Tx) Lacks(a *Access, gap uint32) {
	a.State, a.Version = Missing, a.Table.Audit.AbsentAtGap(tx.c.Machine(), a.Key, gap)
}

// LacksAt is Lacks of a record whose row says that it was deleted: a tombstone has a version as others have.
func (tx *Tx) LacksAt(a *Access, version uint64) { a.State, a.Version = Missing, version }

// NoteInsert notes that the store has given a row to a record that the attempt inserts.
func (tx *Tx) NoteInsert(a *Access, x store.Change) {
	if a.Blind {
		a.Version = a.Table.Audit.AbsentAtGap(tx.c.Machine(), a.Key, x.Before)
	}
	a.Table.Audit.NoteInsert(tx.c.Machine(), a.Key, x.Ref)
}

// Latest is the version of the value that an attempt accepts under its lock, in a row without a stamp.
func (tx *Tx) Latest(a *Access, at store.Ref) (version uint64) {
	if tx.db.book.On() {
		version = a.Table.Audit.Latest(tx.c.Machine(), a.Key, at)
	}
	return version
}

// Install gives what the transaction writes into rows without stamps its versions. It comes with the commit decision,
// before Decided.
func (tx *Tx) Install() {
	if !tx.db.book.On() {
		return
	}
	for _, a := range tx.set {
		switch {
		case a.Out == nil:
		case a.Delete:
			a.Next = audit.DeletedVersion(a.Version)
		default:
			a.Next = audit.AdvancedVersion()
		}
	}
}

// readNothing says that the attempt has read nothing that can change.
func (a *Access) readNothing() bool {
	return !a.Arrived() || a.Table.Constant || a.State == Missing && (a.Table.Fixed || a.Blind && !a.NewRow)
}

// endHistory records the attempt at its decision, before others can see its writes.
func (tx *Tx) endHistory(err error) {
	b := tx.db.book
	if !b.On() {
		return
	}
	p := b.Page(tx.c.Machine())
	if err == nil {
		for _, a := range tx.set {
			tx.record(p, a)
		}
	}
	if b.Exports() {
		for _, a := range tx.set {
			export(p, a, err)
		}
	}
	b.End(p, &audit.Attempt{
		Machine: tx.c.Machine(), Thread: tx.c.Thread(), Coroutine: tx.c.ID(), Type: tx.typ, Begin: tx.attemptBegin, End: tx.decision,
		Committed: err == nil, RolledBack: errors.Is(err, ErrRollback), Snapshot: tx.snapshot(), Versions: tx.common.Timestamps.Versions(), Fresh: tx.fresh, Stamp: tx.stamp,
		Since: audit.Snapshot{Machine: tx.c.Machine(), Begun: tx.begun, BoundNS: tx.boundNS, Bounded: tx.bounded}, Own: tx.guarantees,
	})
}

// record adds what an attempt that commits did to a record.
func (tx *Tx) record(p *audit.Page, a *Access) {
	if a.readNothing() {
		return
	}
	p.Read(a.Table.ID, a.Key, a.Version, a.sum)
	if a.Out == nil {
		return
	}
	sum := uint64(0) // nothing has none
	if !a.Delete {
		sum = tx.db.book.Sum(a.Table.ID, a.Key, a.OutValue())
	}
	p.Write(a.Table.ID, a.Key, a.Version, a.Next, sum)
}

// export adds what an attempt did to a record to what is written out.
func export(p *audit.Page, a *Access, err error) {
	if !a.Arrived() || a.Blind && (err != nil || !a.NewRow) {
		return // the attempt ended before it was looked up
	}
	p.ExportRead(a.Table.Name, a.Key, a.State == Fetched, a.Version)
	if a.Out == nil {
		return
	}
	kind := audit.Update
	switch {
	case a.Delete:
		kind = audit.Delete
	case a.added || a.NewRow:
		kind = audit.Insert
	}
	p.ExportWrite(a.Table.ID, a.Table.Name, a.Key, kind)
}

// EachTouched calls f with the keys of a table that some transaction wanted to
// write, in rising order: what can differ from the initial contents.
func (db *DB) EachTouched(id uint8, f func(key uint64)) { db.tables[id].Audit.EachTouched(f) }

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
	if !db.Row(id, key, row) || t.Store.Rows().Layout.Tomb(t.Store.Rows().Layout.StampOf(row)) {
		return true, false
	}
	copy(dst, t.Store.Rows().Layout.Value(row))
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
	fold := func(b []byte) { h = audit.Hash(append(binary.LittleEndian.AppendUint64(word[:0], h), b...)) }
	for _, t := range db.order {
		value := make([]byte, len(t.Store.Rows().Layout.Value(db.row[:t.RowBytes])))
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
			db.Note(0, audit.Anomaly{Kind: kind, Text: text})
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
				report(audit.LockLeft, fmt.Sprintf("key %d of table %s is still locked by %s", key, t.Name, who))
			}
			db.log.Audit(replication.Row{Store: t.Store, Name: t.Name, Key: key, Machine: m, Bytes: row}, diverged)
		})
		t.Store.Audit(func(text string) { report(audit.RowsBroken, text) })
	}
	if p, ok := db.protocol.(Auditor); ok {
		p.Audit(func(text string) { report(audit.LockLeft, text) })
	}
	return found == 0
}

// StalenessBound is how stale a read of a snapshot that begins now is at most; ok is false where nothing is promised.
func (db *DB) StalenessBound() (ns int64, ok bool) {
	if db.staleness == nil {
		return 0, false
	}
	return db.staleness.Bound()
}

// StalenessVerdict is audit.Staleness.Verdict; ok is false where there are no snapshots.
func (db *DB) StalenessVerdict() (broken string, ok bool) {
	if db.staleness == nil {
		return "", false
	}
	db.book.Gather()
	return db.staleness.Verdict()
}

// StalenessUnmeasured is audit.Staleness.Unmeasured.
func (db *DB) StalenessUnmeasured() string {
	if db.staleness == nil {
		return ""
	}
	db.book.Gather()
	return db.staleness.Unmeasured()
}

// Restamped says that every snapshot to come has everything that was committed, whatever its stamps: those of another scheme
// mean nothing. No transaction is under way.
func (db *DB) Restamped() {
	if db.staleness == nil {
		return
	}
	for _, p := range db.own.All() {
		for _, cl := range p.clients {
			if cl.tx.guarantees != nil {
				cl.tx.session = timestamp.Session{}
				cl.tx.guarantees.Forget()
			}
		}
	}
	db.book.Restamp()
}

// watch begins to look at snapshots, when the first client can read one.
func (db *DB) watch() {
	if of, ok := db.protocol.(Versioned); ok && db.staleness == nil {
		db.staleness = audit.NewStaleness(of)
		db.book.Follow(db.staleness, db.TableName, db.opt.OnSnapshotRead)
		db.book.Lacks(of)
	}
}

// ReadsAt says at which point the snapshot that begins reads. The words are those of a timestamp.Point.
func (tx *Tx) ReadsAt(point []uint64) {
	tx.boundNS, tx.bounded = tx.db.staleness.Bound()
	tx.breach(tx.guarantees.ReadsAt(tx.c.ID(), tx.fresh, point))
}

func (tx *Tx) breach(text string) {
	if text != "" {
		tx.db.Note(tx.c.Machine(), audit.Anomaly{Kind: audit.SessionGuarantee, Text: text})
	}
}

// CommitsAt says which stamp the attempt's writes have, before Decided.
func (tx *Tx) CommitsAt(s timestamp.Stamp) { tx.stamp = s }
