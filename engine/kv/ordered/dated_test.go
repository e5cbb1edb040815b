package ordered

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/fabric"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/engine/store"
)

// upTo is a point of one word.
func upTo(stamp uint64, point []uint64) bool { return stamp <= point[0] }

// datedBed is a dated table and what has to be in it.
type datedBed struct {
	x     *Dated
	lives map[uint64][]life // by key, as all entries have the same part
	seen  []look
	low   uint64
}

// life is a value of a key; until is when it ended, 0: it has not.
type life struct{ value, until uint64 }

// look is a scan that has found all there was from from to to, at a point.
type look struct{ from, to, point uint64 }

// onDated runs body on a coroutine: of the table's server, or of another machine.
func onDated(t interface {
	Fatal(...any)
	Cleanup(func())
}, remote bool, at func(part, i uint64) Entry, size uint64, body func(c *r2.Co, x *Dated)) {
	s, cl := newCluster(t, 1, fabric.Config{Machines: 2}, r2.Config{})
	v := NewService(cl)
	v.Date(upTo)
	x, err := v.Add(Spec{ID: 1, Name: "dated", Servers: 1, Parts: 2, At: at, Size: size})
	if err != nil {
		t.Fatal(err)
	}
	machine := 0
	if remote {
		machine = 1
	}
	done := false
	cl.Spawn(machine, 0, func(c *r2.Co) {
		body(c, x.(*Dated))
		done = true
	})
	for range 1000 {
		if err := s.Run(s.Now() + 10*sim.Millisecond); err != nil {
			t.Fatal(err)
		}
		if done {
			return
		}
	}
	t.Fatal("the coroutine has not ended")
}

// want is what a scan at a point has to find.
func (b *datedBed) want(r Range, point uint64) (list []Entry) {
	for key, all := range b.lives { // order-free: sorted below
		if key < r.From || key > r.To {
			continue
		}
		for _, l := range all {
			if l.until == 0 || l.until > point {
				list = append(list, Entry{Key: key, Value: l.value})
				break
			}
		}
	}
	slices.SortFunc(list, func(a, b Entry) int { return int(int64(a.Key) - int64(b.Key)) })
	if r.Down {
		slices.Reverse(list)
	}
	return list[:min(r.Limit, len(list))]
}

func (b *datedBed) on(key uint64) bool {
	all := b.lives[key]
	return len(all) > 0 && all[len(all)-1].until == 0
}

// guarded is what the guard of a key has to be at least.
func (b *datedBed) guarded(key uint64) (least uint64) {
	for _, l := range b.seen {
		if l.from <= key && key <= l.to {
			least = max(least, l.point)
		}
	}
	return least
}

// scanned notes what a scan has looked at.
func (b *datedBed) scanned(r Range, found []Entry, point uint64) {
	l := look{r.From, r.To, point}
	if len(found) == r.Limit { // no further than its last entry
		if last := found[len(found)-1].Key; r.Down {
			l.from = last
		} else {
			l.to = last
		}
	}
	b.seen = append(b.seen, l)
}

// walk does one thing after the other and says what was wrong first.
func (b *datedBed) walk(c *r2.Co, draw func(n uint64) uint64, steps int, keys uint64) error {
	now := uint64(1000)
	for step := range steps {
		c.Reset()
		now += 1 + draw(5)
		key := draw(keys)
		enters := uint64(9) // many, so that leaves split, or few, so that they go
		if uint64(step)/(10*keys)%2 == 1 {
			enters = 1
		}
		switch what := draw(20); {
		case what < enters:
			guard, err := b.x.Enter(c, 0, key, now)
			if (err == nil) == b.on(key) || err != nil && !errors.Is(err, ErrExists) {
				return fmt.Errorf("enter of key %d, there before: %v: %v", key, b.on(key), err)
			}
			if least := b.guarded(key); guard < least || guard > now {
				return fmt.Errorf("key %d was entered under guard %d, after a scan of it at %d", key, guard, least)
			}
			if err == nil {
				b.lives[key] = append(b.lives[key], life{value: now})
			}
		case what < 13:
			err := b.x.Retire(c, 0, key, now)
			if (err == nil) != b.on(key) {
				return fmt.Errorf("retire of key %d, there before: %v: %v", key, b.on(key), err)
			}
			if err == nil {
				b.lives[key][len(b.lives[key])-1].until = now
			}
		case what == 13: // as of an attempt that has aborted
			err := b.x.Delete(c, 0, key)
			if (err == nil) != b.on(key) {
				return fmt.Errorf("delete of key %d, there before: %v: %v", key, b.on(key), err)
			}
			if err == nil {
				b.lives[key] = b.lives[key][:len(b.lives[key])-1]
			}
		case what == 14 && c.Machine() == 0:
			b.low = max(b.low, now-draw(100))
			b.x.service.Collect(c, func(stamp uint64) bool { return stamp <= b.low })
			for key, all := range b.lives { // order-free: each by itself
				b.lives[key] = slices.DeleteFunc(all, func(l life) bool { return l.until != 0 && l.until <= b.low })
			}
		default:
			from := draw(keys)
			wide := keys
			if draw(4) > 0 {
				wide = 1 + keys/50
			}
			r := Range{From: from, To: from + draw(wide), Limit: 1 + int(draw(40)), Down: draw(2) == 0}
			point := max(b.low, now-draw(120))
			if draw(3) == 0 {
				point = now
			}
			var found []Entry
			var err error
			if draw(8) == 0 { // a writer's: what is there now
				point = now
				found, err = b.x.Scan(c, r, nil)
			} else {
				found, err = b.x.ScanAt(c, store.Claim{Point: []uint64{point}, Raise: true}, r, nil)
				b.scanned(r, found, point)
			}
			if want := b.want(r, point); err != nil || !slices.Equal(found, want) {
				return fmt.Errorf("scan %+v at %d: %v, want %v: %v", r, point, found, want, err)
			}
		}
		if err := b.x.tree(0).Audit(); err != nil {
			return err
		}
	}
	return nil
}

// end compares what is left with the list, and that all that has ended is collected at last.
func (b *datedBed) end(c *r2.Co) error {
	var left []Entry
	b.x.Entries(0, func(e Entry) { left = append(left, e) })
	if want := b.want(Range{To: ^uint64(0), Limit: 1 << 40}, ^uint64(0)-1); !slices.Equal(left, want) {
		return fmt.Errorf("%v in the end, want %v", left, want)
	}
	b.x.service.Restamp()
	if n := b.x.tree(0).Len(); n != len(left) || len(b.x.parts[0].retired) > 0 {
		return fmt.Errorf("%d entries in the tree for %d, %d keys with ended lives", n, len(left), len(b.x.parts[0].retired))
	}
	if guard, err := b.x.Enter(c, 0, 1<<50, 1); guard != 0 || err != nil {
		return fmt.Errorf("guard %d after Restamp, %v", guard, err)
	}
	return nil
}

func newDatedBed(x *Dated, at func(part, i uint64) Entry, size uint64) *datedBed {
	b := &datedBed{x: x, lives: map[uint64][]life{}}
	for i := range size {
		e := at(0, i)
		b.lives[e.Key] = []life{{value: e.Value}}
	}
	return b
}

// TestDated: at every point from the watermark on a scan finds what was there, and whoever enters a key afterwards is
// told of it, while leaves split, go, and their numbers are used again.
func TestDated(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		remote := rapid.Bool().Draw(rt, "remote")
		keys := rapid.SampledFrom([]uint64{20, 200, 2000}).Draw(rt, "keys")
		steps := rapid.IntRange(1, 2000).Draw(rt, "steps")
		seed := rapid.Uint64().Draw(rt, "seed")
		at := func(part, i uint64) Entry { return Entry{Key: 3 * i, Value: 7 + part} }
		size := keys / 5
		onDated(rt, remote, at, size, func(c *r2.Co, x *Dated) {
			b := newDatedBed(x, at, size)
			if err := b.walk(c, rand.New(rand.NewPCG(seed, 5)).Uint64N, steps, keys); err != nil {
				rt.Error(err)
				return
			}
			if err := b.end(c); err != nil {
				rt.Error(err)
			}
		})
	})
}

// TestSplitThatDropsTheGuard: a leaf that does not tell the leaf which takes its keys over of the scans before is found by
// the same walk.
func TestSplitThatDropsTheGuard(t *testing.T) {
	const seeds = 10
	for name, plant := range map[string]func(p *datedPart){
		"split": func(p *datedPart) { p.splits = func(int32, int32) {} },
		"gone":  func(p *datedPart) { p.t.trees[0].Watch = deaf{p} },
	} {
		found := 0
		for seed := range uint64(seeds) {
			at := func(uint64, uint64) Entry { return Entry{} }
			onDated(t, false, at, 0, func(c *r2.Co, x *Dated) {
				x.tree(0)
				plant(&x.parts[0])
				b := newDatedBed(x, at, 0)
				if err := b.walk(c, rand.New(rand.NewPCG(seed, 5)).Uint64N, 12_000, 120); err != nil {
					found++
					t.Logf("%s: %v", name, err)
				}
			})
		}
		if found < 3 {
			t.Errorf("%s: found in %d runs of %d", name, found, seeds)
		}
	}
}

// deaf does not hear of leaves that go.
type deaf struct{ *datedPart }

func (deaf) Gone(int32, int32) {}

// TestForcedSplits: a scan of a whole part is seen by whoever enters a key afterwards, wherever leaves have split since.
func TestForcedSplits(t *testing.T) {
	for _, order := range []string{"rising", "falling", "inside"} {
		onDated(t, false, func(_, i uint64) Entry { return Entry{Key: 1_000_000 * (i + 1)} }, 5, func(c *r2.Co, x *Dated) {
			const point = 77
			if _, err := x.ScanAt(c, store.Claim{Point: []uint64{point}, Raise: true}, Range{To: ^uint64(0), Limit: 100}, nil); err != nil {
				t.Error(err)
			}
			for i := range uint64(2000) {
				key := 10_000_000 + i
				switch order {
				case "falling":
					key = 900_000 - i
				case "inside":
					key = 2_000_001 + i*7919%100_000
				}
				if guard, err := x.Enter(c, 0, key, i); guard != point || err != nil {
					t.Fatalf("%s: key %d, the %d-th: guard %d, %v", order, key, i, guard, err)
				}
				c.Reset()
			}
			if guard, _ := x.Enter(c, 1, 5, 1); guard != 0 {
				t.Errorf("the other part has guard %d", guard)
			}
			if _, err := x.ScanAt(c, store.Claim{Point: []uint64{point + 5}}, Range{To: ^uint64(0), Limit: 100}, nil); err != nil {
				t.Error(err)
			}
			if guard, _ := x.Enter(c, 0, 1, 1); guard != point {
				t.Errorf("a scan that raises nothing has raised the guard to %d", guard)
			}
		})
	}
}

// TestPlainTableRefusesPoints: what is not dated answers nothing that needs it.
func TestPlainTableRefusesPoints(t *testing.T) {
	s, cl := newCluster(t, 1, fabric.Config{Machines: 2}, r2.Config{})
	v := NewService(cl)
	plain, err := v.Add(Spec{ID: 1, Name: "plain", Servers: 1, Parts: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := plain.(store.Dated); ok {
		t.Error("a plain table is dated")
	}
	done := false
	cl.Spawn(1, 0, func(c *r2.Co) {
		forged := &Dated{Table: plain.(*Table)}
		if _, err := forged.Enter(c, 0, 1, 1); err == nil {
			t.Error("enter in a plain table")
		}
		if err := forged.Retire(c, 0, 1, 1); err == nil {
			t.Error("retire in a plain table")
		}
		if list, err := forged.ScanAt(c, store.Claim{}, Range{Limit: 1}, nil); err == nil || len(list) > 0 {
			t.Error("scan at no point")
		}
		done = true
	})
	if err := s.Run(100 * sim.Millisecond); err != nil || !done {
		t.Fatal(err, done)
	}
}

// TestCollectOfOneServer: each server takes out its own.
func TestCollectOfOneServer(t *testing.T) {
	s, cl := newCluster(t, 1, fabric.Config{Machines: 2}, r2.Config{})
	v := NewService(cl)
	v.Date(upTo)
	made, err := v.Add(Spec{ID: 1, Name: "dated", Servers: 2, Parts: 2, At: func(part, i uint64) Entry { return Entry{Key: i} }, Size: 100})
	if err != nil {
		t.Fatal(err)
	}
	x := made.(*Dated)
	done := 0
	for m := range 2 {
		cl.Spawn(m, 0, func(c *r2.Co) {
			for i := range uint64(50) {
				if err := x.Retire(c, uint64(m), 2*i, 10+i); err != nil {
					t.Error(err)
				}
			}
			v.Collect(c, func(stamp uint64) bool { return stamp <= 29 })
			if n := x.tree(uint64(m)).Len(); n != 80 {
				t.Errorf("%d entries on machine %d, want 100 without the 20 that are collected", n, m)
			}
			if list, err := x.ScanAt(c, store.Claim{Point: []uint64{35}}, Range{Part: uint64(m), To: 200, Limit: 1000}, nil); len(list) != 74 || err != nil {
				t.Errorf("%d entries at 35, want 100 without 26: %v", len(list), err)
			}
			done++
		})
	}
	if err := s.Run(100 * sim.Millisecond); err != nil || done != 2 {
		t.Fatal(err, done)
	}
}

// TestScansOfManyPoints: requests that a server's threads answer at the same time keep their own points, though they share
// scratch memory.
func TestScansOfManyPoints(t *testing.T) {
	const machines, threads, coroutines = 3, 2, 4
	s, cl := newCluster(t, 1, fabric.Config{Machines: machines}, r2.Config{Threads: threads, Coroutines: coroutines})
	cl.SpoilScratch()
	v := NewService(cl)
	v.Date(upTo)
	made, err := v.Add(Spec{ID: 1, Name: "dated", Servers: 1, Parts: 1, At: func(_, i uint64) Entry { return Entry{Key: i} }, Size: 64})
	if err != nil {
		t.Fatal(err)
	}
	x := made.(*Dated)
	left := machines * threads * coroutines
	ready := false
	cl.Spawn(0, 0, func(c *r2.Co) {
		for i := range uint64(64) {
			if err := x.Retire(c, 0, i, 10+i); err != nil {
				t.Error(err)
			}
		}
		ready = true
	})
	if err := s.Run(10 * sim.Millisecond); err != nil || !ready {
		t.Fatal(err, ready)
	}
	for n := range left {
		cl.Spawn(n%machines, n/machines%threads, func(c *r2.Co) {
			for range 200 {
				c.Reset()
				point := 10 + c.Rand().Uint64n(63) // what ended later is there
				list, err := x.ScanAt(c, store.Claim{Point: []uint64{point}, Raise: true}, Range{To: 100, Limit: 100}, nil)
				if err != nil || uint64(len(list)) != 73-point {
					t.Errorf("%d entries at %d, want %d: %v", len(list), point, 73-point, err)
				}
			}
			left--
		})
	}
	for range 100 {
		if err := s.Run(s.Now() + 10*sim.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if left > 0 {
		t.Fatalf("%d coroutines have not ended", left)
	}
}
