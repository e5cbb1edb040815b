package versions

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/r2"
	"drtmx/engine/wire"
)

// model is what versions there are of some records of machine 0, the oldest first.
type model struct {
	keys [4][]version // of key 2k; nil: there is no row
	last uint64       // the largest stamp
	low  uint64       // what the last collection went by
	bad  []string
}

// version of a record. Value 0 is a tombstone, or what was there from the start.
type version struct{ stamp, value uint64 }

// at is what a snapshot at a point sees of a record.
func (m *model) at(k int, point uint64) (value uint64) {
	for _, v := range m.keys[k] {
		if v.stamp <= point {
			value = v.value
		}
	}
	return value
}

// old is how many versions were overwritten and are still kept.
func (m *model) old() (n int) {
	for _, list := range m.keys {
		for i := 1; i < len(list); i++ {
			if list[i].stamp > m.low {
				n++
			}
		}
	}
	return n
}

// step is one of write, delete, collect and read.
type step struct {
	what  string
	k     int
	more  uint64 // by how much a stamp is beyond the last one, or a point behind it
	value uint64
}

func drawSteps(t *rapid.T) []step {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{
			what: rapid.SampledFrom([]string{"write", "write", "write", "delete", "collect", "read"}).Draw(t, "what"), k: rapid.IntRange(0, 3).Draw(t, "key"),
			more: rapid.Uint64Range(0, 5).Draw(t, "more"), value: rapid.Uint64Range(1, 1<<40).Draw(t, "value"),
		}
	}), 1, 60).Draw(t, "steps")
}

func (m *model) fail(format string, args ...any) {
	m.bad = append(m.bad, fmt.Sprintf(format, args...))
}

func (m *model) do(b *bed, c *r2.Co, places int, x step) {
	list := &m.keys[x.k]
	switch x.what {
	case "write", "delete":
		v := version{m.last + 1 + x.more, x.value}
		if x.what == "delete" {
			if v.value = 0; len(*list) == 0 {
				return
			}
		}
		room := len(*list) == 0 || m.old() < places
		if got := b.install(c, uint64(2*x.k), v.stamp, v.value); got != room {
			m.fail("%s of key %d with %d old versions in %d places: %v", x.what, 2*x.k, m.old(), places, got)
		}
		if room {
			*list, m.last = append(*list, v), v.stamp
		}
	case "collect":
		m.low = max(m.low, m.last-min(m.last, x.more))
		b.hear(m.low)
		b.mv.collect(c, b.mv.machines[0])
		for k, list := range m.keys {
			if n := len(list); n > 1 && list[n-1].value == 0 && list[n-1].stamp <= m.low {
				m.keys[k] = nil
			}
		}
	case "read":
		point := max(m.low, m.last-min(m.last, x.more))
		if got, want := b.read(c, uint64(2*x.k), point), m.at(x.k, point); got != want {
			m.fail("key %d at %d is %d, want %d", 2*x.k, point, got, want)
		}
	}
	if n := b.mv.Stats(); int(n.Pushed-n.Freed) != m.old() {
		m.fail("after %v: %d pushed and %d freed, %d are kept", x, n.Pushed, n.Freed, m.old())
	}
}

// Versions come and go as in a model: a snapshot finds the youngest that is visible to it, a writer finds room unless all places have
// versions that somebody needs, and places and rows are used again.
func TestVersionsAsInAModel(t *testing.T) {
	full, collected := uint64(0), uint64(0)
	rapid.Check(t, func(t *rapid.T) {
		const places = 7
		steps := drawSteps(t)
		b := newBed(t, places)
		defer b.close()
		var m model
		b.on(0, func(c *r2.Co) {
			for k := range m.keys {
				m.keys[k] = []version{{}}
			}
			for _, x := range steps {
				m.do(b, c, places, x)
			}
			for k := range m.keys {
				for back := range uint64(6) {
					m.do(b, c, places, step{what: "read", k: k, more: back})
				}
			}
		})
		full, collected = full+b.mv.Stats().Full, collected+b.mv.Stats().Freed
		for _, bad := range [][]string{m.bad, b.audit(), b.lost()} {
			if len(bad) > 0 {
				t.Error(bad)
			}
		}
	})
	t.Logf("%d writers found no room, %d versions were collected", full, collected)
}

// Old versions are linked from the row, the youngest first, each with what its row has had.
func TestChain(t *testing.T) {
	b := newBed(t, 10)
	defer b.close()
	b.on(0, func(c *r2.Co) {
		for _, v := range []version{{10, 7}, {20, 0}, {30, 8}, {40, 9}} {
			b.install(c, 0, v.stamp, v.value)
		}
		row, h := b.row(c, 0), b.mv.machines[0].heaps[bedTable]
		var got []version
		var tombs []bool
		for at := c.Load64(row + b.mv.at.chain); at != 0; at &= nextMask {
			node := c.Load(h.addr(uint32(at-1)), h.bytes)
			at = wire.Get64(node[8:])
			got, tombs = append(got, version{wire.Get64(node), wire.Get64(node[nodeHead:])}), append(tombs, at&tombBit != 0)
		}
		if want := []version{{30, 8}, {20, 7}, {10, 7}, {0, 0}}; !slices.Equal(got, want) { // a tombstone keeps the bytes
			t.Errorf("the chain is %v, want %v", got, want)
		}
		if want := []bool{false, true, false, false}; !slices.Equal(tombs, want) {
			t.Errorf("tombstones %v, want %v", tombs, want)
		}
		for _, x := range []struct{ point, want uint64 }{{5, 0}, {10, 7}, {19, 7}, {20, 0}, {29, 0}, {30, 8}, {40, 9}, {99, 9}} {
			if v := b.read(c, 0, x.point); v != x.want {
				t.Errorf("at %d: %d, want %d", x.point, v, x.want)
			}
		}
		if tuple, version := b.mv.Under(c, row); tuple != 40 || version != 40 {
			t.Errorf("tuple timestamp %d, version %d", tuple, version)
		}
	})
}

// A snapshot that comes to a place which was used again says so; and it ends if the chain leads back to itself.
func TestChainOfAPlaceUsedAgain(t *testing.T) {
	for _, c := range []struct {
		name string
		keys []uint64 // that are written after the first version of key 0 was let go
		says string
	}{
		{"by nobody", nil, "which was collected"},
		{"by another record", []uint64{2}, "which was collected"},
		{"by the record itself", []uint64{0}, "twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed(t, 10)
			defer b.close()
			b.on(0, func(co *r2.Co) {
				b.install(co, 0, 10, 7)
				b.mv.machines[0].heaps[bedTable].release(co, 0)
				for i, key := range c.keys {
					b.install(co, key, uint64(20+i), 8)
				}
				b.read(co, 0, 5)
			})
			if lost := b.lost(); len(lost) != 1 || !strings.Contains(lost[0], c.says) || !strings.Contains(lost[0], "key 0 of table record") {
				t.Errorf("%q, want %q", lost, c.says)
			}
		})
	}
}

// COMMIT leaves a larger read timestamp as it is, and a snapshot one that is larger than its own.
func TestTimestampsOnlyRise(t *testing.T) {
	b := newBed(t, 10)
	defer b.close()
	b.on(0, func(c *r2.Co) {
		row := b.row(c, 0)
		for _, x := range []struct{ raise, want uint64 }{{50, 50}, {40, 50}, {60, 60}} {
			b.mv.Raise(c, row, x.raise)
			b.mv.ClaimGap(c, b.of, 8, x.raise)
			if tuple, _ := b.mv.Under(c, row); tuple != x.want || b.mv.Guard(c, b.of, 8) != x.want {
				t.Errorf("raised to %d: %d, guard %d", x.raise, tuple, b.mv.Guard(c, b.of, 8))
			}
		}
		b.install(c, 0, 55, 7)
		if tuple, version := b.mv.Under(c, row); tuple != 60 || version != 55 {
			t.Errorf("after an install at 55: tuple timestamp %d, version %d", tuple, version)
		}
	})
}

// A deleted record is a tombstone until every snapshot sees that it is gone. Its read timestamp becomes the gap's. Who holds its
// lock, or has made it a record again, keeps it.
func TestTombstones(t *testing.T) {
	b := newBed(t, 10)
	defer b.close()
	m := b.mv.machines[0]
	b.on(0, func(c *r2.Co) {
		for _, key := range []uint64{0, 2, 4} {
			b.install(c, key, 10, 7)
			b.install(c, key, 20, 0)
		}
		row := b.row(c, 0)
		b.mv.Raise(c, row, 33) // a snapshot has seen that it is gone
		locked := b.row(c, 2)
		c.Store64(locked, 1)
		b.install(c, 4, 30, 8)
		there := func(want ...uint64) {
			t.Helper()
			b.mv.collect(c, m)
			var got []uint64
			for _, key := range []uint64{0, 2, 4} {
				if _, ok := b.mv.look(c, b.of, key); ok {
					got = append(got, key)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("below %v there are %v, want %v", m.low, got, want)
			}
		}
		there(0, 2, 4)
		b.hear(19)
		there(0, 2, 4)
		b.hear(20)
		there(2, 4)
		if g := b.mv.Guard(c, b.of, 0); g != 33 {
			t.Errorf("the guard is %d, want 33", g)
		}
		c.Store64(locked, 0)
		there(4)
		if v := b.read(c, 4, 30); v != 8 {
			t.Errorf("a record that is there again is %d", v)
		}
	})
	if bad := append(b.audit(), b.lost()...); len(bad) > 0 {
		t.Error(bad)
	}
}

// Restamp leaves the present versions, all of stamp 0, and nothing else.
func TestRestamp(t *testing.T) {
	b := newBed(t, 3)
	defer b.close()
	m := b.mv.machines[0]
	b.on(0, func(c *r2.Co) {
		b.install(c, 0, 10, 7)
		b.install(c, 0, 20, 8)
		b.install(c, 2, 30, 0)
	})
	b.hear(5)
	b.must(b.mv.Restamp(b.opt))
	b.on(0, func(c *r2.Co) {
		row := b.row(c, 0)
		if tuple, version := b.mv.Under(c, row); tuple != 20 || version != 0 || c.Load64(row+b.mv.at.chain) != 0 {
			t.Errorf("tuple timestamp %d, version %d, chain %d", tuple, version, c.Load64(row+b.mv.at.chain))
		}
		if v := b.read(c, 0, 0); v != 8 {
			t.Errorf("at 0 the record is %d, want 8", v)
		}
		if b.mv.needless(m, 0) {
			t.Error("something may be collected before anybody has announced anything")
		}
		b.hear(0)
		b.mv.collect(c, m)
		if _, ok := b.mv.look(c, b.of, 2); ok {
			t.Error("the tombstone is as old as can be, and is still there")
		}
		for i := range uint64(3) {
			if !b.install(c, 0, 40+i, 9) {
				t.Errorf("no room for version %d of 3", i)
			}
		}
	})
	if bad := append(b.audit(), b.lost()...); len(bad) > 0 {
		t.Error(bad)
	}
}

// What nobody needs any more is what all machines have said, whose messages may overtake each other; of vectors, by
// component.
func TestWatermark(t *testing.T) {
	type said struct {
		machine int
		low     []uint64
	}
	for _, x := range []struct {
		name string
		said []said
		want []uint64
	}{
		{"one is silent", []said{{0, []uint64{9}}}, nil},
		{"the least", []said{{0, []uint64{9}}, {1, []uint64{7}}}, []uint64{7}},
		{"overtaken", []said{{0, []uint64{9}}, {1, []uint64{7}}, {0, []uint64{5}}, {1, []uint64{8}}}, []uint64{8}},
		{"vectors", []said{{0, []uint64{3, 9}}, {1, []uint64{5, 4}}}, []uint64{3, 4}},
		{"a vector that grows", []said{{0, []uint64{3}}, {1, []uint64{5, 4}}, {0, []uint64{2, 6}}}, []uint64{3, 4}},
		{"one that has nothing yet", []said{{0, nil}, {1, []uint64{5}}}, nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			b := newBed(t, 3)
			defer b.close()
			m := b.mv.machines[0]
			for _, y := range x.said {
				b.mv.hear(m, y.machine, y.low)
			}
			if !slices.Equal(m.low, x.want) {
				t.Fatalf("%v, want %v", m.low, x.want)
			}
			if len(x.want) == 1 {
				w := x.want[0]
				if b.mv.needless(m, w+1) || !b.mv.needless(m, w) {
					t.Errorf("below %d: needless(%d) is %v, needless(%d) is %v", w, w+1, b.mv.needless(m, w+1), w, b.mv.needless(m, w))
				}
			} else if len(x.want) == 0 && b.mv.needless(m, 0) {
				t.Error("something is needless, and nobody has said so")
			}
		})
	}
}

// A machine announces no more than what its running snapshots read at, and never less than before.
func TestLowest(t *testing.T) {
	b := newBed(t, 3)
	defer b.close()
	m := b.mv.machines[0]
	b.on(0, func(c *r2.Co) {
		first := b.mv.lowest(c, m)[0]
		x := &session{s: b.mv, c: c, running: true}
		x.point.Words = []uint64{first + 1}
		m.sessions[0] = []*session{nil, x}
		c.Sleep(10_000_000)
		if now := b.mv.lowest(c, m)[0]; now != first+1 {
			t.Errorf("with a snapshot at %d: %d", first+1, now)
		}
		x.running = false
		if now := b.mv.lowest(c, m)[0]; now <= first+1 {
			t.Errorf("after it: %d", now)
		}
	})
}

// A queue gives back what it was given, in that order.
func TestFIFO(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f fifo[int]
		var want []int
		for i, push := range rapid.SliceOfN(rapid.Bool(), 0, 400).Draw(t, "push") {
			if push || len(want) == 0 {
				f.push(i)
				want = append(want, i)
			} else {
				if got := f.first(); got != want[0] {
					t.Fatalf("first is %d, want %d", got, want[0])
				}
				f.pop()
				want = want[1:]
			}
			if f.len() != len(want) {
				t.Fatalf("length %d, want %d", f.len(), len(want))
			}
		}
	})
}
