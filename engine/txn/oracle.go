package txn

import (
	"bytes"
	"errors"
	"fmt"

	"drtmx/engine/history"
	"drtmx/engine/history/export"
	"drtmx/engine/record"
)

// Kinds of anomaly that the oracles note.
const (
	// LogMissing: a transaction was decided, or was to be applied, and a backup
	// did not have its log entry.
	LogMissing = "log-missing"
	// ReplicaDiverged: after a drain a backup's row is not the primary's.
	ReplicaDiverged = "replica-diverged"
	// LockLeft: after a drain a row is locked.
	LockLeft = "lock-left"
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

// sumUp names the value that came with a version, before the body can do anything to it:
// of all who read a version, the part that updates write has to be the same. So the
// history sees a value that does not belong to its version.
func (tx *Tx) sumUp(a *access) {
	if r := tx.db.opt.Recorder; r != nil && r.Wants(history.MakeKey(a.table.id, a.key)) && !a.table.constant {
		a.sum = history.Sum(a.value[:a.table.written])
	}
}

// endHistory records the attempt at its decision, before anybody can see its
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
	h := &tx.db.hist
	h.reads, h.writes = h.reads[:0], h.writes[:0]
	h.readSums, h.writeSums = h.readSums[:0], h.writeSums[:0]
	for i := range tx.set {
		a := &tx.set[i]
		if a.state != fetched || a.table.constant {
			continue
		}
		k := history.MakeKey(a.table.id, a.key)
		h.reads = append(h.reads, history.Read{Key: k, Version: a.seq})
		h.readSums = append(h.readSums, a.sum)
		if a.out == nil {
			continue
		}
		h.writes = append(h.writes, history.Write{Key: k, Old: a.seq, New: u64(a.out)})
		sum := uint64(0)
		if r.Wants(k) {
			sum = history.Sum(a.out[8:])
		}
		h.writeSums = append(h.writeSums, sum)
	}
	h.txn = history.Txn{
		ID: tx.db.nextID, Type: tx.typ, Session: tx.c.ID(), Begin: tx.attemptBegin, End: tx.decision,
		Status: history.Committed, Reads: h.reads, Writes: h.writes, ReadSums: h.readSums, WriteSums: h.writeSums,
	}
	r.Add(&h.txn)
}

// export writes the attempt to the history that somebody asked for. Its number is the one
// that anomalies name.
func (tx *Tx) export(err error) {
	a := &tx.db.exported
	*a = export.Attempt{
		ID: tx.db.nextID, Node: tx.th.machine, Thread: tx.th.thread, Session: tx.c.ID(), Type: tx.typ,
		Begin: tx.attemptBegin, End: tx.decision, Status: history.Committed, Reads: a.Reads[:0], Writes: a.Writes[:0],
	}
	switch {
	case errors.Is(err, ErrRollback):
		a.Status = history.RolledBack
	case err != nil:
		a.Status = history.Aborted
	}
	for i := range tx.set {
		x := &tx.set[i]
		if !x.here() {
			continue // the attempt ended before it was fetched
		}
		read := export.Read{Table: x.table.name, Key: x.key, Found: x.state == fetched}
		if read.Found {
			read.Version = x.seq
		}
		a.Reads = append(a.Reads, read)
		if x.out == nil {
			continue
		}
		w := export.Write{Table: x.table.name, Key: x.key, Kind: export.Update}
		if x.added {
			w.Kind = export.Insert
		}
		if err == nil {
			w.Version = u64(x.out)
		}
		a.Writes = append(a.Writes, w)
	}
	tx.db.history.Add(a)
}

// checkLogs looks whether the backups really have the entry at the commit
// decision.
func (tx *Tx) checkLogs() {
	if !tx.db.opt.CheckLogs {
		return
	}
	for i := range tx.logs {
		g := &tx.logs[i]
		b := tx.db.cl.Mem(g.machine).Bytes(tx.db.ringLoc(g.machine, tx.th, g.pos).Addr, tx.entryBytes())
		if e, err := tx.db.openEntry(b); err != nil || e.ID != tx.logID() {
			tx.db.note(history.Anomaly{Kind: LogMissing, Text: fmt.Sprintf(
				"transaction %d of machine %d thread %d was decided before machine %d had its log", tx.logged, tx.th.machine, tx.th.thread, g.machine)})
		}
	}
}

func (db *DB) note(a history.Anomaly) {
	if r := db.opt.Recorder; r != nil {
		r.Note(a)
	}
}

// touch remembers that a record may have been written or locked.
func (t *table) touch(key uint64) { t.touched.add(key) }

// EachTouched calls f with the keys of a table that some transaction wanted to
// write, in rising order: what can differ from the initial contents.
func (db *DB) EachTouched(id uint8, f func(key uint64)) { db.tables[id].touched.each(f) }

// Row copies the row of a record at its primary: an oracle, free of time.
func (db *DB) Row(id uint8, key uint64, dst []byte) bool {
	t := db.tables[id]
	return t.store.Row(t.store.Primary(key), key, dst)
}

// CheckReplicas compares the backups of all touched records with their
// primaries and looks for locks left behind. It makes sense when InFlight is 0
// and the cluster is quiet. What it finds becomes anomalies too.
func (db *DB) CheckReplicas() bool {
	found := 0
	report := func(kind, format string, args ...any) {
		if found++; found <= 8 {
			db.note(history.Anomaly{Kind: kind, Text: fmt.Sprintf(format, args...)})
		}
	}
	for _, t := range db.order {
		row, copyOf := make([]byte, t.rowBytes), make([]byte, t.rowBytes)
		db.EachTouched(t.id, func(key uint64) {
			m := t.store.Primary(key)
			if !t.store.Row(m, key, row) {
				report(ReplicaDiverged, "key %d of table %s is gone from machine %d", key, t.name, m)
				return
			}
			if o, held := record.Holder(record.Lock(row)); held {
				report(LockLeft, "key %d of table %s is still locked by machine %d thread %d coroutine %d", key, t.name, o.Machine, o.Thread, o.Coroutine)
			}
			for _, b := range db.backups[m] {
				if !t.store.Row(b, key, copyOf) || !bytes.Equal(row[seqAt:], copyOf[seqAt:]) {
					report(ReplicaDiverged, "key %d of table %s has sequence %d on machine %d, %d on its backup %d", key, t.name, record.Seq(row), m, record.Seq(copyOf), b)
				}
			}
		})
	}
	return found == 0
}
