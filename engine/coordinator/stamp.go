package coordinator

import (
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/versions"
)

// Host is a protocol whose records may have versions, and which then hosts the snapshots of engine/versions; it embeds this.
type Host struct {
	MV *versions.Store // nil: records have one version
}

// Snapshot is the second session of a coroutine.
func (h *Host) Snapshot(tx *txn.Tx) txn.Session { return h.MV.Snapshot(tx) }

// Prepare makes what snapshots need, where there are some.
func (h *Host) Prepare() (snapshots bool) {
	if h.MV == nil {
		return false
	}
	h.MV.Prepare()
	return true
}

// Bound and Missable are those of the versions.
func (h *Host) Bound() (ns int64, ok bool)          { return h.MV.Bound() }
func (h *Host) Missable(stamp timestamp.Stamp) bool { return h.MV.Missable(stamp) }

// NeedsReset is that of the records' versions.
func (h *Host) NeedsReset(to txn.Config) (knob, why string) {
	return h.MV.NeedsReset(to.Common().Timestamps)
}

// ChangesScheme says that another scheme would give the stamps.
func (h *Host) ChangesScheme(to *txn.Settings) bool {
	return h.MV != nil && h.MV.Changes(to.Timestamps)
}

// Audit, Gauges and Stuck are those of the versions.
func (h *Host) Audit(bad func(text string)) { h.MV.Audit(bad) }
func (h *Host) Gauges(r *metrics.Readings)  { h.MV.Gauges(r) }
func (h *Host) Stuck(few int) []string      { return h.MV.Stuck(few) }
func (h *Host) Scheme() timestamp.Scheme    { return h.MV.Scheme() }

// Stamped is the stamp of a session's attempt where records have versions; sessions of hosts embed it.
type Stamped struct {
	X timestamp.Txn

	host *Host
	tx   *txn.Tx
	c    *r2.Co
}

// OpenStamped is that of a coroutine.
func OpenStamped(h *Host, tx *txn.Tx) Stamped { return Stamped{host: h, tx: tx, c: tx.Co()} }

// BeginStamp begins an attempt.
func (s *Stamped) BeginStamp() {
	if s.host.MV != nil {
		s.host.Scheme().Begin(s.c, &s.X)
	}
}

// Draw gives the attempt its stamp.
func (s *Stamped) Draw() error {
	if s.host.MV.Traits().Oracle {
		s.tx.Enter(txn.Timestamp, r2.Mode{})
	}
	switch err := s.host.Scheme().Draw(s.c, &s.X); err {
	case nil:
		return nil
	case timestamp.ErrRetry:
		return s.tx.Fail(txn.ErrAborted)
	default:
		return s.tx.Fail(err)
	}
}

// Filled takes the timestamp of a gap that an insert, or a new entry of an index, has filled.
func (s *Stamped) Filled(guard uint64) { s.host.Scheme().Over(&s.X, timestamp.Stamp(guard), 0) }

// Void gives back the stamp of an attempt that fails.
func (s *Stamped) Void() {
	if s.X.Drawn {
		s.host.Scheme().Void(s.c, &s.X)
		s.X.Drawn = false
	}
}
