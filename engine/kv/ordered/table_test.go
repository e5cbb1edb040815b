package ordered

import (
	"errors"
	"slices"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
)

// TestService: scans, inserts and deletes do the same from the part's server and from elsewhere, and time passes.
func TestService(t *testing.T) {
	for machine := range 2 {
		s, cl := newCluster(t, 1, fabric.Config{Machines: 2, LossPPM: 20_000}, r2.Config{Threads: 1})
		v := NewService(cl)
		x, err := v.add(Spec{ID: 3, Name: "even", Servers: 2, Parts: 4, Fill: func(part uint64, add func(k, v uint64)) {
			for k := range uint64(1000) {
				add(2*k, part)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.add(Spec{ID: 3, Name: "again", Servers: 1, Parts: 1}); err == nil {
			t.Error("an id is taken twice")
		}
		done := false
		cl.Spawn(machine, 0, func(c *r2.Co) { use(t, c, x); done = true })
		if err := s.Run(100 * sim.Millisecond); err != nil || !done {
			t.Fatal(err, done)
		}
	}
}

// use works on part 3, which is on machine 1.
func use(t *testing.T, c *r2.Co, x *Table) {
	begin := c.Now()
	check := func(r Range, want ...uint64) {
		t.Helper()
		r.Part = 3
		got, err := x.Scan(c, r, nil)
		var keys []uint64
		for _, e := range got {
			keys = append(keys, e.Key)
		}
		if err != nil || !slices.Equal(keys, want) {
			t.Errorf("machine %d, %+v: %v, %v, want %v", c.Machine(), r, keys, err, want)
		}
	}
	check(Range{From: 5, To: 11, Limit: 9}, 6, 8, 10)
	check(Range{From: 5, To: 11, Limit: 2, Down: true}, 10, 8)
	if err := x.Insert(c, 3, 7, 70); err != nil {
		t.Error(err)
	}
	if err := x.Insert(c, 3, 7, 70); !errors.Is(err, ErrExists) {
		t.Errorf("second insert: %v", err)
	}
	if err := x.Delete(c, 3, 8); err != nil {
		t.Error(err)
	}
	if err := x.Delete(c, 3, 8); !errors.Is(err, ErrMissing) {
		t.Errorf("second delete: %v", err)
	}
	check(Range{From: 5, To: 11, Limit: 9}, 6, 7, 10)
	all, err := x.Scan(c, Range{Part: 3, To: ^uint64(0), Limit: 2000}, nil) // more than a message carries
	if err != nil || len(all) != 1000 || all[999] != (Entry{Key: 1998, Value: 3}) {
		t.Errorf("%d entries, %v", len(all), err)
	}
	all, err = x.Scan(c, Range{Part: 3, To: ^uint64(0), Limit: 600, Down: true}, nil)
	if err != nil || len(all) != 600 || all[599] != (Entry{Key: 800, Value: 3}) {
		t.Errorf("%d entries, last %v, %v", len(all), all[len(all)-1], err)
	}
	if _, err := x.Scan(c, Range{Part: 4, Limit: 1}, nil); err == nil {
		t.Error("a part that does not exist is scanned")
	}
	if _, err := x.Scan(c, Range{Part: 3}, nil); err == nil {
		t.Error("a scan without a limit")
	}
	if x.Used(2) || !x.Used(3) {
		t.Error("part 2 was used, or part 3 not")
	}
	if c.Now() == begin {
		t.Error("nothing was charged")
	}
}
