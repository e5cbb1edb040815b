package mvcc

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
	"drtmx/engine/timestamp"
)

// Variant is a known fault planted into the store: other rules in place of some of the sound ones. The checkers have to tell
// each from the correct store.
type Variant uint8

const (
	// Correct is the store of §5.3.2.
	Correct Variant = iota
	// AsPublishedWait is line 1 of Figure 5-9 as it is printed: a snapshot waits for the holder of a lock only if the
	// record's read timestamp was not beyond its own. Another snapshot may have raised it, and not the holder's stamp.
	AsPublishedWait
	// AsPublishedCommit is line 2 of Figure 5-7 as it is printed: COMMIT stores its stamp as the read timestamp, though
	// a snapshot may have raised that further after the lock.
	AsPublishedCommit
	// NoWait has snapshots read past the holders of locks.
	NoWait
	// LookBeforeClaim looks whether somebody holds the lock, and then claims.
	LookBeforeClaim
	// ReadsNotRaised leaves the read timestamps of what a writer has only read.
	ReadsNotRaised
	// CollectedEarly collects versions that snapshots of the last 50 us may need.
	CollectedEarly
	// SlotReused lets go of an old version at once.
	SlotReused
	// TombForgotten collects a tombstone without its read timestamp.
	TombForgotten
	// ReadUnclaimed takes a row that was READ though a claim would raise its tuple timestamp.
	ReadUnclaimed
	// ReadLocked takes one whose lock is held.
	ReadLocked
	// ReadTorn takes one that may have parts of two versions.
	ReadTorn
	numVariants
)

var variantNames = [...]string{"correct", timestamp.AsPublishedWait, timestamp.AsPublishedCommit, "no-wait", "look-before-claim", "reads-not-raised", "collected-early", "slot-reused", "tomb-forgotten", "read-unclaimed", "read-locked", "read-torn"}

func (v Variant) String() string {
	if v < numVariants {
		return variantNames[v]
	}
	return fmt.Sprintf("variant(%d)", v)
}

// Variants are all but Correct.
func Variants() (list []Variant) {
	for v := Correct + 1; v < numVariants; v++ {
		list = append(list, v)
	}
	return list
}

// printed is the fault that a form of the thesis has, as ts.variant names it.
func printed(form string) Variant {
	for _, v := range [...]Variant{AsPublishedWait, AsPublishedCommit} {
		if form == v.String() {
			return v
		}
	}
	return Correct
}

func (o *Options) rules() rules {
	if o.Variant == Correct {
		return printed(o.Timestamps.Variant).rules()
	}
	return o.Variant.rules()
}

func (v Variant) rules() rules {
	r := sound()
	if plant := faults[v]; plant != nil {
		plant(&r)
	}
	return r
}

// heldUp are cycles between two steps that are in the wrong order, as an interrupt takes. Without them the second follows so
// closely that the fault hardly ever shows.
const heldUp = 2000

// faults change the rules, by variant.
var faults = [numVariants]func(r *rules){
	AsPublishedWait: func(r *rules) { r.waits = func(tuple uint64, _ []byte, p []uint64) bool { return tuple <= p[0] } },
	AsPublishedCommit: func(r *rules) {
		r.overwrite = func(_ *Store, c *r2.Co, at r2.Addr, ts uint64) { c.Store64(at, ts) }
	},
	NoWait: func(r *rules) { r.waits = func(uint64, []byte, []uint64) bool { return false } },
	LookBeforeClaim: func(r *rules) {
		r.order = func(s *Store, c *r2.Co, m *machine, at store.Location, p []uint64, w *waiter) bool {
			ok := s.holder(c, m, at, 0, p, w)
			c.Compute(heldUp)
			s.claimRow(c, at.Addr, p)
			return ok
		}
	},
	ReadsNotRaised: func(r *rules) { r.raiseReads = false },
	CollectedEarly: func(r *rules) { r.ahead = uint64(timestamp.Hybrid(50_000, 0)) },
	SlotReused: func(r *rules) {
		r.overwritten = func(_ *Store, c *r2.Co, h *heap, slot uint32) { h.release(c, slot) }
	},
	ReadUnclaimed: func(r *rules) { r.claimed = func(*Store, uint64, []uint64) bool { return true } },
	ReadLocked:    func(r *rules) { r.free = func(*Store, uint64) bool { return true } },
	ReadTorn:      func(r *rules) { r.whole = func([]byte, []byte, record.Tail) bool { return true } },
	TombForgotten: func(r *rules) { r.buried = func(*Store, *r2.Co, *tomb) {} },
}
