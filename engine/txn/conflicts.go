package txn

import (
	"drtmx/engine/r2"
	"drtmx/engine/txn/audit"
)

// Conflicts takes in what happens when transactions meet at a record: one finds it locked, or
// finds another version than it has read. It is told at conflicts only and must have no effect on
// the run. Records are named as in the history (audit.Key), times are in picoseconds. machine is the one on which the transaction runs.
type Conflicts interface {
	// Conflict is one at a record, of a transaction of a type. wait is how long the
	// transaction pauses before it looks at the record again.
	Conflict(machine int, record uint64, typ uint8, wait int64)
	// Abort is an attempt that ends because of a record, and the back-off behind it.
	Abort(machine int, record uint64, backoff int64)
	// Lost is time that conflicts take from a transaction: pauses before a locked record
	// is read again, attempts that abort, and back-off.
	Lost(machine int, ps int64)
}

// Met notes that the transaction has met another one at a record. wait is how long it pauses before
// it looks at the record again.
func (tx *Tx) Met(a *Access, wait r2.Time) {
	key := audit.Key(a.Table.ID, a.Key)
	if !tx.blamed {
		tx.culprit, tx.blamed = key, true
	}
	if x := tx.db.opt.Conflicts; x != nil {
		x.Conflict(tx.c.Machine(), key, tx.typ, wait)
	}
}

// Paused notes time that the attempt spends before it looks at a locked record again.
func (tx *Tx) Paused(pause r2.Time) {
	tx.waited += pause
	if x := tx.db.opt.Conflicts; x != nil && pause > 0 {
		x.Lost(tx.c.Machine(), pause)
	}
}

// aborted notes an attempt that a conflict ended, and the back-off that followed it. What it paused
// for locked records is lost already.
func (tx *Tx) aborted(backoff r2.Time) {
	x := tx.db.opt.Conflicts
	if x == nil {
		return
	}
	x.Lost(tx.c.Machine(), tx.c.Now()-tx.since-tx.waited)
	if tx.blamed {
		x.Abort(tx.c.Machine(), tx.culprit, backoff)
	}
}
