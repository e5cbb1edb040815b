package txn

import "drtmx/engine/timestamp"

// Snapshots is a Protocol whose read-only transactions may read a snapshot: they run in a session of their own, which
// locks nothing, validates nothing and never aborts.
type Snapshots interface {
	// Snapshot is that of a coroutine, nil where the database has no versions. Transactions run in it while
	// a scheme gives versions their stamps, see Settings.Timestamps.
	Snapshot(tx *Tx) Session
}

// freshness is what the next transaction asks for. Only where each asks for its own is anything drawn.
func (cl *Client) freshness(readOnly bool) timestamp.Freshness {
	s := &cl.db.common.Timestamps
	if readOnly && s.Mixed && s.Versions() {
		return timestamp.Freshness(cl.c.Rand().Uint64n(uint64(timestamp.NumFreshness)))
	}
	return s.Freshness
}

// chooseSession picks the session of the transaction that begins.
func (tx *Tx) chooseSession() {
	tx.run = tx.readWrite
	if tx.readOnly && tx.snap != nil && tx.common.Timestamps.Versions() {
		tx.run = tx.snap
	}
}

// snapshot says that the transaction reads one.
func (tx *Tx) snapshot() bool { return tx.snap != nil && tx.run == tx.snap }

// MayLack says that the last transaction read a snapshot which may lack what was committed before it began.
func (cl *Client) MayLack() bool { return cl.tx.snapshot() && cl.tx.fresh != timestamp.Strict }

// Freshness is what a read-only transaction asks of its snapshot.
func (tx *Tx) Freshness() timestamp.Freshness { return tx.fresh }

// Session is what the coroutine, as a client, has committed or read last.
func (tx *Tx) Session() *timestamp.Session { return &tx.session }

// Stamped asks for a commit timestamp of an attempt that writes nothing.
func (tx *Tx) Stamped() { tx.stamped = true }

// WantsStamp says that the body has asked for one.
func (tx *Tx) WantsStamp() bool { return tx.stamped }
