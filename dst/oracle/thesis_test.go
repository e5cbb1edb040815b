package oracle

import (
	"slices"
	"strings"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/timestamp"
)

// Figure 5-3: TX1 to TX3 have begun to commit, and TX2, with the larger number, ends before TX1. A snapshot that begins then reads at
// StableGTS = 3 though GlobalTS is 5, and at 5 once TX1 has its versions in place.
func TestStableGTSOfFigure5_3(t *testing.T) {
	b := newBed(t, 2, 1, fabric.Config{}, nil)
	s := b.gts()
	var before [3]timestamp.Txn
	for i := range before { // numbers 1 to 3
		b.draw(s, 0, 0, &before[i])
		b.done(s, 0, 0, &before[i])
	}
	var tx1, tx2 timestamp.Txn
	b.draw(s, 0, 0, &tx1)
	b.draw(s, 1, 0, &tx2)
	if tx1.TS != 4 || tx2.TS != 5 {
		t.Fatalf("TX1 has %d and TX2 %d, want 4 and 5", tx1.TS, tx2.TS)
	}
	b.done(s, 1, 0, &tx2)
	if p := b.point(s, 1, 0); !slices.Equal(p, []uint64{3}) || s.State() != "GlobalTS=5 StableGTS=3" {
		t.Errorf("TX4 reads at %v, oracle %s, want 3", p, s.State())
	}
	if text := s.Stuck(); !strings.Contains(text, "StableGTS stands still at 3: number 4 of machine 0") {
		t.Errorf("the watchdog says %q", text)
	}
	b.done(s, 0, 0, &tx1)
	if p := b.point(s, 0, 0); !slices.Equal(p, []uint64{5}) || s.Stuck() != "" {
		t.Errorf("behind TX1 a snapshot reads at %v, want 5; watchdog %q", p, s.Stuck())
	}
}

// Figure 5-5: StableVTS is (3,2,5). TX2, of W2, has read C of <1:2>, and TX3, of W3, depends on what TX2 writes and on W1's next. TX3 is
// installed first and waits in its queue until both are stable.
func TestStableVTSOfFigure5_5(t *testing.T) {
	b := newBed(t, 3, 1, fabric.Config{}, nil)
	s := b.vts()
	for i, n := range []int{3, 2, 5} {
		for range n {
			var x timestamp.Txn
			b.draw(s, i, 0, &x)
			b.done(s, i, 0, &x)
		}
	}
	if p := b.point(s, 0, 0); !slices.Equal(p, []uint64{3, 2, 5}) {
		t.Fatalf("StableVTS is %v, want (3,2,5)", p)
	}
	var tx1, tx2, tx3 timestamp.Txn
	b.draw(s, 0, 0, &tx1)
	b.draw(s, 1, 0, &tx2, timestamp.Slotted(0, 2), tx1.TS)
	b.draw(s, 2, 0, &tx3, tx2.TS)
	for _, x := range []struct {
		name string
		of   int
		tx   *timestamp.Txn
		want []uint64
	}{
		{"TX3", 2, &tx3, []uint64{3, 2, 5}}, // waits for TX2
		{"TX2", 1, &tx2, []uint64{3, 2, 5}}, // waits for TX1
		{"TX1", 0, &tx1, []uint64{4, 3, 6}},
	} {
		b.done(s, x.of, 0, x.tx)
		if p := b.point(s, 1, 0); !slices.Equal(p, x.want) {
			t.Errorf("behind %s StableVTS is %v, want %v", x.name, p, x.want)
		}
	}
}

// GTS adds two round trips to a read-write transaction, one to draw and one to install; VTS one. A snapshot takes one for its point, of
// 8 bytes for each slot (§5.1.3).
func TestRoundTrips(t *testing.T) {
	for _, x := range []struct {
		name                string
		open                func(*bed) timestamp.Scheme
		draw, install, read int
	}{
		{"gts", func(b *bed) timestamp.Scheme { return b.gts() }, 1, 1, 1},
		{"vts", func(b *bed) timestamp.Scheme { return b.vts() }, 0, 1, 1},
	} {
		b := newBed(t, 2, 1, fabric.Config{}, nil)
		s := x.open(b)
		var draw, install, read int
		b.do(0, 0, func(c *r2.Co) {
			var tx timestamp.Txn
			var p timestamp.Point
			s.Begin(c, &tx)
			s.Saw(&tx, timestamp.Slotted(1, 0))
			sums := metrics.ForPhases[uint32]()
			c.TakeTrips(sums)
			s.Draw(c, &tx)
			draw = c.TakeTrips(sums)
			s.Done(c, &tx, new(timestamp.Session))
			install = c.TakeTrips(sums)
			s.Point(c, new(timestamp.Session), timestamp.Stale, &p)
			read = c.TakeTrips(sums)
		})
		if draw != x.draw || install != x.install || read != x.read {
			t.Errorf("%s: %d round trips to draw, %d to install, %d for a point, want %d, %d and %d", x.name, draw, install, read, x.draw, x.install, x.read)
		}
	}
}
