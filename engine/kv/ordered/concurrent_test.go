package ordered

import (
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/fabric"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
)

// walker is a coroutine that alone inserts and deletes the keys that are its number modulo those of all walkers, so
// that it knows of these what a scan must find, whatever the others do meanwhile.
type walker struct {
	t              *rapid.T
	x              *Table
	number, stride uint64
	keys           uint64 // of a part, of all walkers
	mine           []map[uint64]uint64
}

// TestConcurrentWalkers: coroutines of several machines insert, delete and scan in the same parts while messages are
// lost. Each finds its own entries, all of them and no others, in order and within limits, in both directions.
func TestConcurrentWalkers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const machines, threads, coroutines, parts = 3, 2, 2, 3
		seed := rapid.Uint64().Draw(t, "seed")
		keys := rapid.SampledFrom([]uint64{40, 400, 4_000}).Draw(t, "keys")
		operations := rapid.IntRange(20, 150).Draw(t, "operations")
		at := func(part, i uint64) Entry { return Entry{Key: 3 * i, Value: part} }
		size := keys / 4

		s, cl := newCluster(t, seed, fabric.Config{Machines: machines, LossPPM: 10_000, TornReads: true}, r2.Config{Threads: threads, Coroutines: coroutines})
		x, err := NewService(cl).add(Spec{ID: 1, Name: "shared", Servers: machines, Parts: parts, At: at, Size: size})
		if err != nil {
			t.Fatal(err)
		}
		const all = machines * threads * coroutines
		var walkers []*walker
		left := all
		for n := range uint64(all) {
			w := &walker{t: t, x: x, number: n, stride: all, keys: keys}
			for part := range uint64(parts) {
				own := map[uint64]uint64{}
				for i := range size {
					if e := at(part, i); e.Key%all == n {
						own[e.Key] = e.Value
					}
				}
				w.mine = append(w.mine, own)
			}
			walkers = append(walkers, w)
			cl.Spawn(int(n)%machines, int(n)/machines%threads, func(c *r2.Co) {
				for range operations {
					c.Reset()
					w.step(c)
				}
				left--
			})
		}
		for range 1_000 {
			if err := s.Run(s.Now() + sim.Millisecond); err != nil {
				t.Fatal(err)
			}
			if left == 0 {
				break
			}
		}
		if left > 0 {
			t.Fatalf("%d coroutines have not ended: %v", left, cl.Waiting(8))
		}
		for part := range uint64(parts) {
			entries := 0
			x.Entries(part, func(e Entry) {
				entries++
				if v, ok := walkers[e.Key%all].mine[part][e.Key]; !ok || v != e.Value {
					t.Errorf("part %d has %+v in the end", part, e)
				}
			})
			for _, w := range walkers {
				entries -= len(w.mine[part])
			}
			if entries != 0 {
				t.Errorf("part %d: %d entries too many in the end", part, entries)
			}
			if err := x.tree(part).Audit(); err != nil {
				t.Error(err)
			}
		}
	})
}

// step is one operation.
func (w *walker) step(c *r2.Co) {
	r := c.Rand()
	part := r.Uint64n(uint64(len(w.mine)))
	key := r.Uint64n(w.keys/w.stride+1)*w.stride + w.number
	mine := w.mine[part]
	_, there := mine[key]
	switch r.Uint64n(4) {
	case 0, 1:
		value := r.Uint64n(1 << 40)
		if err := w.x.Insert(c, part, key, value); (err == nil) == there {
			w.t.Errorf("insert of key %d, there before: %v: %v", key, there, err)
		}
		if !there {
			mine[key] = value
		}
	case 2:
		if err := w.x.Delete(c, part, key); (err == nil) != there {
			w.t.Errorf("delete of key %d, there before: %v: %v", key, there, err)
		}
		delete(mine, key)
	default:
		from := r.Uint64n(w.keys)
		w.scan(c, Range{Part: part, From: from, To: from + r.Uint64n(w.keys), Limit: 1 + int(r.Uint64n(600)), Down: r.Uint64n(2) == 0})
	}
}

// scan compares what a scan finds of the walker's own entries.
func (w *walker) scan(c *r2.Co, r Range) {
	list, err := w.x.Scan(c, r, nil)
	if err != nil || len(list) > r.Limit {
		w.t.Errorf("scan %+v: %d entries, %v", r, len(list), err)
		return
	}
	own := 0
	for i, e := range list {
		if e.Key < r.From || e.Key > r.To || i > 0 && (e.Key <= list[i-1].Key) != r.Down {
			w.t.Errorf("scan %+v: key %d at %d of %d", r, e.Key, i, len(list))
		}
		if e.Key%w.stride != w.number {
			continue
		}
		own++
		if v, ok := w.mine[r.Part][e.Key]; !ok || v != e.Value {
			w.t.Errorf("scan %+v: %+v, which is not there", r, e)
		}
	}
	if len(list) == r.Limit { // what comes behind the last was not asked for
		if last := list[len(list)-1].Key; r.Down {
			r.From = last
		} else {
			r.To = last
		}
	}
	for key := range w.mine[r.Part] {
		if key >= r.From && key <= r.To {
			own--
		}
	}
	if own != 0 {
		w.t.Errorf("scan %+v: %d own entries too many", r, own)
	}
}
