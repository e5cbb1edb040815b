package replication

import (
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/record"
)

// None keeps one copy of each record: there is nothing to send.
var None = Kind{
	Name:   "none",
	Doc:    "no logs, for replicas=1",
	Single: true,
	Open:   func(*r2.Cluster, Options) (Scheme, error) { return Single{}, nil },
}

// Single is the scheme of None, and of a protocol that opens none.
type Single struct{}

// Writer takes write sets and does nothing with them.
func (Single) Writer(*r2.Co) Writer { return &unlogged{} }

// Unreclaimed is none.
func (Single) Unreclaimed() int { return 0 }

// Full is never.
func (Single) Full() uint64 { return 0 }

// Backups are none.
func (Single) Backups(int) []int { return nil }

// Audit has nothing to compare.
func (Single) Audit(Row, func(text string)) {}

// Gauges has none.
func (Single) Gauges(*metrics.Readings) {}

// unlogged counts the records of a write set.
type unlogged struct{ changes int }

func (w *unlogged) Begin(Reclaiming) { w.changes = 0 }

func (w *unlogged) Add(int, record.Update) int {
	w.changes++
	return w.changes - 1
}

func (*unlogged) SetRow(int, uint32, uint64) {}
func (*unlogged) Stamp(uint64)               {}
func (*unlogged) Plan(bool) error            { return nil }
func (*unlogged) Needed() bool               { return false }
func (*unlogged) Append(bool) error          { return nil }
func (*unlogged) Decide(bool) error          { return nil }
func (*unlogged) Awaited() bool              { return false }
func (*unlogged) Reclaim() error             { return nil }
func (*unlogged) Ahead()                     {}
