package audit

import (
	"strings"
	"testing"

	"drtmx/engine/history"
	"drtmx/engine/timestamp"
)

// promised is a bound, and the stamp above which snapshots may lack what was decided.
type promised struct {
	bound int64
	low   timestamp.Stamp
}

func (p *promised) Bound() (int64, bool)                { return p.bound, p.bound > 0 }
func (p *promised) Missable(stamp timestamp.Stamp) bool { return stamp > p.low }

// Decisions that no snapshot lacks are forgotten; without room for the others staleness is not measured, and no bound is called kept.
func TestStalenessMemory(t *testing.T) {
	of := &promised{bound: 100}
	s := NewStaleness(of)
	write := func(i, version uint64) {
		s.Prune()
		s.Decided(history.MakeKey(0, i%7), version, int64(i), timestamp.Stamp(i+1))
	}
	for i := range uint64(5000) {
		of.low = timestamp.Stamp(i)
		write(i, 6+4*i)
	}
	if len(s.recent) > 1<<10 || s.next-s.first > 2 || len(s.last) > 2 {
		t.Errorf("room for %d, %d remembered, of %d records", len(s.recent), s.next-s.first, len(s.last))
	}
	if x := (Snapshot{Begun: 1, BoundNS: 100, Bounded: true}); !s.Begin(x) || s.Read(&x, "accounts", 0, 1<<30) != 0 {
		t.Error("a version that nothing replaced is old, or was not measured")
	}
	of.low = 0
	for i := range uint64(mostVerdicts + 10) {
		write(i, 1<<20+4*i)
	}
	if why := s.Unmeasured(); !strings.Contains(why, "1048576 decisions") {
		t.Errorf("the room is used up, and it says %q", why)
	}
	if _, ok := s.Verdict(); ok || len(s.recent) != mostVerdicts {
		t.Errorf("room for %d: a verdict %v", len(s.recent), ok)
	}
}
