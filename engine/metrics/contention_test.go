package metrics

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A sketch of few places keeps every record with more than its share of all conflicts, and is never
// further off than it says; nor are several together.
func TestContentionFindsTheHottest(t *testing.T) {
	for _, sketches := range []int{1, 5} {
		rnd := rand.New(rand.NewPCG(1, 2))
		of := make([]Contention, sketches)
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
			c := &of[rnd.IntN(sketches)]
			c.Conflict(key, uint8(key%3), 5)
			if key == 2 {
				c.Abort(key, 7)
				c.Lost(11)
			}
		}
		var c Conflicts
		for i := range of {
			c.Add(&of[i])
		}
		if c.Conflicts != n || c.Aborts != truth[2] || c.LostPS != int64(11*truth[2]) {
			t.Errorf("%d sketches: totals %d conflicts, %d aborts, %d ps", sketches, c.Conflicts, c.Aborts, c.LostPS)
		}
		hottest := c.Hottest(sketches * HotCapacity)
		for i, h := range hottest[:2] {
			key := uint64(i + 1)
			if h.Key != key || h.ByType[key] == 0 || h.WaitPS < 5*int64(h.Conflicts-h.Over) {
				t.Errorf("%d sketches, place %d: %+v", sketches, i, h)
			}
		}
		for _, h := range hottest {
			if h.Conflicts < truth[h.Key] || h.Conflicts-h.Over > truth[h.Key] {
				t.Errorf("%d sketches, record %d: %d conflicts, at most %d of others, had %d", sketches, h.Key, h.Conflicts, h.Over, truth[h.Key])
			}
		}
		of[0].Reset()
		c.Reset()
		if c.Add(&of[0]); c.Conflicts != 0 || len(c.Hottest(5)) != 0 {
			t.Errorf("after a reset: %+v", c)
		}
	}
}

// What sketches have room for is the same as if one had taken it all in.
func TestContentionsAddUp(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	var of [4]Contention
	var whole Contention
	for range 5000 {
		key, typ, wait := rnd.Uint64N(HotCapacity-1), uint8(rnd.IntN(20)), rnd.Int64N(100)
		for _, c := range []*Contention{&whole, &of[rnd.IntN(len(of))]} {
			c.Conflict(key, typ, wait)
			c.Abort(key, wait/2)
		}
	}
	var sum, one Conflicts
	one.Add(&whole)
	for i := range of {
		sum.Add(&of[i])
	}
	if got, want := sum.Hottest(HotCapacity), one.Hottest(HotCapacity); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got[:2], want[:2])
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
