package measure

import "testing"

func TestWindowRing(t *testing.T) {
	var r Ring
	for i := range keptWindows + 10 {
		r.Add(Record{util: []packedUtil{{mean: float32(i)}}, nodes: []float32{float32(i), 1}})
	}
	n, first := 0, -1
	r.From(0, func(rec *Record) {
		if first < 0 {
			first = rec.index
		}
		if x := float32(rec.index); len(rec.util) != 1 || rec.util[0].mean != x || len(rec.nodes) != 2 || rec.nodes[0] != x || len(rec.DIMMs) > 0 {
			t.Fatalf("window %d: %+v", rec.index, rec)
		}
		n++
	})
	if n != keptWindows || first != 10 {
		t.Errorf("%d windows are kept from %d", n, first)
	}
}

// TestWindowRingNeedsNoMore: few windows need little memory, and after some more there is room for
// all of them.
func TestWindowRingNeedsNoMore(t *testing.T) {
	var r Ring
	rec := Record{util: make([]packedUtil, 8), nodes: make([]float32, 32)}
	for range manyWindows {
		r.Add(rec)
	}
	if n := cap(r.recs); n > 2*manyWindows {
		t.Errorf("room for %d after %d windows", n, manyWindows)
	}
	for r.Next < 2*manyWindows {
		r.Add(rec)
	}
	const n = keptWindows/2 - manyWindows
	if more := testing.AllocsPerRun(1, func() { // which calls it twice
		for range n {
			r.Add(rec)
		}
	}); more > 0 {
		t.Errorf("%g allocations for %d windows", more, n)
	}
}
