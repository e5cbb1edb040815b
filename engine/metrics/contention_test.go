package metrics

import (
	"math/rand/v2"
	"testing"
)

// A sketch of few places keeps every record with more than its share of all conflicts, and is never
// further off than it says.
func TestContentionFindsTheHottest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var c Contention
	truth := map[uint64]uint64{}
	const n = 100_000
	for i := range n {
		key := 1000 + rnd.Uint64N(50_000) // cold
		switch {
		case i%20 == 0:
			key = 1
		case i%25 == 3:
			key = 2
		}
		truth[key]++
		c.Conflict(key, uint8(key%3), 5)
		if key == 2 {
			c.Abort(key, 7)
			c.Lost(11)
		}
	}
	if c.Conflicts != n || c.Aborts != truth[2] || c.LostPS != int64(11*truth[2]) {
		t.Errorf("totals %d conflicts, %d aborts, %d ps", c.Conflicts, c.Aborts, c.LostPS)
	}
	for i, h := range c.Hottest(2) {
		key := uint64(i + 1)
		if h.Key != key || h.Conflicts < truth[key] || h.Conflicts-h.Over > truth[key] {
			t.Errorf("place %d: %+v, record %d had %d conflicts", i, h, key, truth[key])
		}
		if h.ByType[key] == 0 || h.WaitPS < 5*int64(h.Conflicts-h.Over) {
			t.Errorf("place %d: types %v, waits %d ps", i, h.ByType, h.WaitPS)
		}
	}
	for _, h := range c.Hottest(HotCapacity) {
		if h.Conflicts < truth[h.Key] || h.Conflicts-h.Over > truth[h.Key] {
			t.Errorf("record %d: %d conflicts, at most %d of others, had %d", h.Key, h.Conflicts, h.Over, truth[h.Key])
		}
	}
	c.Reset()
	if c.Conflicts != 0 || len(c.Hottest(5)) != 0 {
		t.Errorf("after a reset: %+v", c.Hottest(5))
	}
}

func TestContentionAllocatesNothing(t *testing.T) {
	var c Contention
	key := uint64(0)
	if n := testing.AllocsPerRun(1000, func() {
		key++
		c.Conflict(key%200, 1, 3)
		c.Abort(key%200, 2)
		c.Lost(1)
	}); n != 0 {
		t.Errorf("%v allocations for a conflict", n)
	}
}
