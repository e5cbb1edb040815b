package published_test

import (
	"slices"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/xstore/model"
	"drtmx/xstore/published"
)

// TestReadEntriesOfATableThatShrank: a client has a sub-model whose table was elsewhere; by now the server answers for its keys, and
// its place has an empty table. The client READs nothing of the tables behind that place, though they have its generation.
func TestReadEntriesOfATableThatShrank(t *testing.T) {
	s := sim.New(sim.Options{Seed: 1})
	defer s.Close()
	f, err := fabric.New(s, fabric.Config{Machines: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cl, err := r2.New(s, f, r2.Config{Threads: 1, Coroutines: 1})
	if err != nil {
		t.Fatal(err)
	}
	keys := model.Sorted{10, 20, 30, 40}
	top, err := model.TrainTop(model.TopSpec{}, keys)
	if err != nil {
		t.Fatal(err)
	}
	const subs, entries = 4, 60
	v, err := published.New(cl, 0, 0, model.NewModel(top, subs, keys, 0, 99), nil, subs, 4000)
	if err != nil {
		t.Fatal(err)
	}
	table := func(m uint32) (tt []model.Entry) {
		for i := range uint32(entries) {
			tt = append(tt, model.MakeEntry(100*m+i, 0, 4))
		}
		return tt
	}
	old := model.Sub{TT: 2<<20 | entries}
	run := func(machine int, body func(c *r2.Co)) {
		t.Helper()
		done := false
		cl.Spawn(machine, 0, func(c *r2.Co) {
			c.Phase(metrics.PhaseOther, r2.Mode{Outstanding: true, Doorbell: true})
			body(c)
			done = true
		})
		if err := s.Run(s.Now() + sim.Millisecond); err != nil || !done {
			t.Fatalf("done %v: %v", done, err)
		}
	}
	write := func(c *r2.Co, m uint32, x model.Sub, tt []model.Entry) {
		var w published.Writer
		if !w.Store(c, v, m, x, model.Span{}, tt) {
			t.Error("no lines are left")
		}
	}
	read := func(c *r2.Co, check func(first uint32, got []model.Entry, fits bool)) {
		for first := range uint32(entries) {
			got, fits, err := v.ReadEntries(c, subs-1, old, first, entries-1, false, nil)
			if err != nil {
				t.Fatal(err)
			}
			check(first, got, fits)
		}
	}
	run(0, func(c *r2.Co) {
		write(c, subs-2, old, table(subs-2)) // first: its lines are behind the last place
		write(c, subs-1, old, table(subs-1))
	})
	run(1, func(c *r2.Co) {
		read(c, func(first uint32, got []model.Entry, fits bool) {
			if !fits || !slices.Equal(got, table(subs - 1)[first:]) {
				t.Errorf("entries from %d: %v, fits %v", first, got, fits)
			}
		})
	})
	run(0, func(c *r2.Co) { write(c, subs-1, model.Sub{Slope: -1, TT: 3 << 20}, nil) })
	run(1, func(c *r2.Co) {
		read(c, func(first uint32, got []model.Entry, fits bool) {
			if fits {
				t.Errorf("entries from %d of a table that is gone: %v", first, got)
			}
		})
	})
}
