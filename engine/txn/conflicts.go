package txn

import (
	"drtmx/engine/history"
	"drtmx/engine/r2"
)

// Conflicts takes in what happens when transactions meet at a record: one finds it locked, or
// finds another version than it has read. It is told at conflicts only and must have no effect on
// the run. Records are named as in the history (history.Key), times are in picoseconds.
type Conflicts interface {
	// Conflict is one at a record, of a transaction of a type. wait is how long the
	// transaction pauses before it looks at the record again.
	Conflict(record uint64, typ uint8, wait int64)
	// Abort is an attempt that ends because of a record, and the back-off behind it.
	Abort(record uint64, backoff int64)
	// Lost is time that conflicts take from a transaction: pauses before a locked record
	// is read again, attempts that abort, and back-off.
	Lost(ps int64)
}

// met notes that the transaction has met another one at a record.
func (tx *Tx) met(a *access, wait r2.Time) {
	key := uint64(history.MakeKey(a.table.id, a.key))
	if !tx.blamed {
		tx.culprit, tx.blamed = key, true
	}
	if x := tx.db.opt.Conflicts; x != nil {
		x.Conflict(key, tx.typ, wait)
	}
}

// lockedOut notes that records from index first on could not be read, and that the transaction
// tries again after a pause, or if 0 gives up. A record whose cached location was stale is none.
func (tx *Tx) lockedOut(first int, pause r2.Time) {
	for i := first; i < len(tx.set); i++ {
		if a := &tx.set[i]; a.state == wanted && a.located {
			tx.met(a, pause)
		}
	}
	tx.waited += pause
	if x := tx.db.opt.Conflicts; x != nil && pause > 0 {
		x.Lost(pause)
	}
}

// metBy is met for a handler that finds the conflict: the reply does not say at which record it
// was, so the simulator looks up who asked. Nothing of it takes time or is on the wire.
func (db *DB) metBy(from r2.Peer, machine int, row r2.Addr) {
	txs := db.threads[from.Machine][from.Thread].txs
	if from.Coroutine < 0 || from.Coroutine >= len(txs) || txs[from.Coroutine] == nil {
		return
	}
	tx := txs[from.Coroutine]
	for i := range tx.set {
		if a := &tx.set[i]; a.loc.Addr == row && int(a.machine) == machine {
			tx.met(a, 0)
			return
		}
	}
}

// is notes whose transactions a coroutine of the thread runs.
func (t *thread) is(coroutine int, tx *Tx) {
	for len(t.txs) <= coroutine {
		t.txs = append(t.txs, nil)
	}
	t.txs[coroutine] = tx
}

// aborted notes an attempt that a conflict ended, and the back-off that followed it. What it paused
// for locked records is lost already.
func (tx *Tx) aborted(backoff r2.Time) {
	x := tx.db.opt.Conflicts
	if x == nil {
		return
	}
	x.Lost(tx.c.Now() - tx.since - tx.waited)
	if tx.blamed {
		x.Abort(tx.culprit, backoff)
	}
}
