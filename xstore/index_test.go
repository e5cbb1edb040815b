package xstore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/wire"
)

// walker is a coroutine that alone inserts and deletes the keys that are its number modulo those of all walkers, so that it knows
// of these what a scan must find, whatever the others do meanwhile.
type walker struct {
	b              *bed
	x              store.OrderedTable
	number, stride uint64
	keys           uint64 // of a part, of all walkers
	mine           []map[uint64]uint64
	wrong          int
}

// initialEntry is what an index has at the start: a quarter of the keys of each part.
func initialEntry(part, i uint64) store.Entry { return store.Entry{Key: 3 * i, Value: part} }

// walk has walkers on all machines work on an index, and says how often they found what cannot be.
func (b *bed) walk(v *Indexes, s store.IndexSpec, keys uint64, operations int, size func(part uint64) uint64) (wrong int) {
	b.Helper()
	x, err := v.Add(s)
	if err != nil {
		b.Fatal(err)
	}
	var walkers []*walker
	var flags []*bool
	all := uint64(0)
	for m := range b.cl.Machines() {
		all += uint64(b.cl.Threads(m)) * 2
	}
	for n := range all {
		w := &walker{b: b, x: x, number: n, stride: all, keys: keys}
		for part := range s.Parts {
			own := map[uint64]uint64{}
			for i := range size(part) {
				if e := initialEntry(part, i); e.Key%all == n {
					own[e.Key] = e.Value
				}
			}
			w.mine = append(w.mine, own)
		}
		walkers = append(walkers, w)
		m := int(n) % b.cl.Machines()
		flags = append(flags, b.spawn(m, int(n)/b.cl.Machines()%b.cl.Threads(m), func(c *r2.Co) {
			for range operations {
				c.Reset()
				w.step(c)
			}
		}))
	}
	b.run(flags...)
	for part := range s.Parts {
		entries := 0
		x.Entries(part, func(e store.Entry) {
			entries++
			if v, ok := walkers[e.Key%all].mine[part][e.Key]; !ok || v != e.Value {
				wrong++
			}
		})
		for _, w := range walkers {
			entries -= len(w.mine[part])
		}
		if entries != 0 {
			wrong++
		}
	}
	for _, w := range walkers {
		wrong += w.wrong
	}
	return wrong
}

// step is one operation.
func (w *walker) step(c *r2.Co) {
	r := c.Rand()
	part := r.Uint64n(uint64(len(w.mine)))
	key := r.Uint64n(w.keys/w.stride+1)*w.stride + w.number
	mine := w.mine[part]
	_, there := mine[key]
	switch r.Uint64n(5) {
	case 0, 1:
		value := r.Uint64n(1 << 40)
		if err := w.x.Insert(c, part, key, value); errors.Is(err, store.ErrExists) != there || err != nil && !there {
			w.b.Errorf("insert of key %d, there before: %v: %v", key, there, err)
		}
		if !there {
			mine[key] = value
		}
	case 2:
		if err := w.x.Delete(c, part, key); errors.Is(err, store.ErrMissing) == there || err != nil && there {
			w.b.Errorf("delete of key %d, there before: %v: %v", key, there, err)
		}
		delete(mine, key)
	default:
		from := r.Uint64n(w.keys)
		to := from + r.Uint64n(w.keys)
		if r.Uint64n(3) == 0 {
			to = ^uint64(0)
		}
		w.scan(c, store.Range{Part: part, From: from, To: to, Limit: 1 + int(r.Uint64n(1<<r.Uint64n(9))), Down: r.Uint64n(2) == 0})
	}
}

// scan compares what a scan finds of the walker's own entries.
func (w *walker) scan(c *r2.Co, r store.Range) {
	list, err := w.x.Scan(c, r, nil)
	if err != nil || len(list) > r.Limit {
		w.b.Errorf("scan %+v: %d entries, %v", r, len(list), err)
		return
	}
	own := 0
	for i, e := range list {
		if e.Key < r.From || e.Key > r.To || i > 0 && (e.Key <= list[i-1].Key) != r.Down {
			w.wrong++
		}
		if e.Key%w.stride != w.number {
			continue
		}
		own++
		if v, ok := w.mine[r.Part][e.Key]; !ok || v != e.Value {
			w.wrong++
		}
	}
	if len(list) == r.Limit { // what comes behind the last was not asked for
		if last := list[len(list)-1].Key; r.Down {
			r.From = last
		} else {
			r.To = last
		}
	}
	for key := range w.mine[r.Part] { // order-free: counts
		if key >= r.From && key <= r.To {
			own--
		}
	}
	if own != 0 {
		w.wrong++
	}
}

// TestIndexWalkers: whatever the cache keeps and whatever chooses sub-models, each coroutine finds its own entries, all of them and
// no others, in both directions, on its own machine and elsewhere.
func TestIndexWalkers(t *testing.T) {
	var sum Stats
	rapid.Check(t, func(rt *rapid.T) {
		o := Options{
			Slots: 8, Cache: Mode(rapid.IntRange(0, int(None)).Draw(rt, "cache")), TopModel: rapid.SampledFrom([]string{"lr", "mlr", "nn", "pieces"}).Draw(rt, "top"),
			Trainers: rapid.IntRange(0, 2).Draw(rt, "trainers"), SubModels: rapid.SampledFrom([]int{0, 1, 9}).Draw(rt, "models"), ExpandAt: rapid.SampledFrom([]int{0, 40}).Draw(rt, "expand"),
			Speculative: rapid.Bool().Draw(rt, "speculative"), PerThread: rapid.Bool().Draw(rt, "thread"),
		}
		keys := rapid.SampledFrom([]uint64{40, 400, 2_000}).Draw(rt, "keys")
		s := store.IndexSpec{ID: 1, Name: "shared", Servers: rapid.IntRange(1, 3).Draw(rt, "servers"), Parts: rapid.Uint64Range(1, 7).Draw(rt, "parts"), Bits: []int{10, 4}, Spare: 20_000}
		size := func(part uint64) uint64 { return 0 }
		switch rapid.IntRange(0, 2).Draw(rt, "initial") {
		case 0:
			s.At, s.Size = initialEntry, keys/4
			size = func(uint64) uint64 { return s.Size }
		case 1:
			size = func(part uint64) uint64 { return keys / 4 * (part % 3) / 2 }
			s.Fill = func(part uint64, add func(key, value uint64)) {
				for i := size(part); i > 0; i-- {
					e := initialEntry(part, i-1)
					add(e.Key, e.Value)
				}
			}
		}
		b := newBed(t, rapid.Uint64().Draw(rt, "seed"), 3, 1, 2)
		defer b.close()
		v := NewIndexes(b.cl, func(*store.KVSpec) Options { return o })
		if wrong := b.walk(v, s, keys, rapid.IntRange(20, 120).Draw(rt, "operations"), size); wrong > 0 {
			rt.Fatalf("%d entries lost, or found where they were not: %+v", wrong, o)
		}
		b.settleIndexes(v)
		v.Audit(func(text string) { rt.Errorf("audit: %s", text) })
		of := v.Stats()
		sum.Add(&of)
	})
	t.Logf("%+v", sum)
	// READs are torn by regions under the fallback lock alone, of which there are few: see TestRemoteReads of package tree.
	if sum.Fallbacks == 0 || sum.Retrained == 0 || sum.Trained == 0 {
		t.Errorf("a path was never taken: %+v", sum)
	}
}

// settleIndexes runs until the trainers have nothing to do.
func (b *bed) settleIndexes(v *Indexes) {
	b.Helper()
	v.each(func(t *indexTable) {
		b.x = t.Store
		b.settle()
	})
}

// A client that does not compare incarnations loses entries, up or down: the walkers find out.
func TestPlantedInIndex(t *testing.T) {
	for seed := uint64(1); seed <= 20; seed++ {
		b := newBed(t, seed, 1, 2, 2)
		v := NewIndexes(b.cl, func(*store.KVSpec) Options {
			return Options{Slots: 8, SubModels: 9, Trainers: 1, planted: planted{noIncarnation: true}}
		})
		s := store.IndexSpec{ID: 1, Name: "shared", Servers: 1, Parts: 3, Bits: []int{14}, Spare: 20_000, At: initialEntry, Size: 100}
		wrong := b.walk(v, s, 400, 80, func(uint64) uint64 { return 100 })
		b.close()
		if wrong > 0 {
			return
		}
	}
	t.Error("not found")
}

// TestIndexReads: a scan of few entries READs few leaves, however many it would take, and nothing else once its client knows the
// model; clients that only scan come to know it.
func TestIndexReads(t *testing.T) {
	for _, mode := range []Mode{Full, Model, Top} {
		for _, down := range []bool{false, true} {
			b := newBed(t, 1, 2, 1, 1)
			v := NewIndexes(b.cl, func(*store.KVSpec) Options { return Options{Cache: mode, Trainers: 1} })
			s := store.IndexSpec{ID: 1, Name: "orders", Servers: 2, Parts: 4, Bits: []int{20}, Spare: 20_000, At: initialEntry, Size: 2000}
			x, err := v.Add(s)
			if err != nil {
				t.Fatal(err)
			}
			var list []store.Entry
			scan := func(c *r2.Co, part, from, to uint64, limit, want int) {
				c.Reset()
				list, err = x.Scan(c, store.Range{Part: part, From: from, To: to, Limit: limit, Down: down}, list[:0])
				if err != nil || len(list) != want {
					t.Errorf("%v, part %d, %d to %d, down %v: %d entries, want %d: %v", mode, part, from, to, down, len(list), want, err)
				}
			}
			of := func(scans func(c *r2.Co)) Stats {
				before := v.Stats()
				b.run(b.spawn(2, 0, scans))
				after := v.Stats()
				return Stats{Lookups: after.Lookups - before.Lookups, Leaves: after.Leaves - before.Leaves, Fallbacks: after.Fallbacks - before.Fallbacks}
			}
			some := of(func(c *r2.Co) {
				for i := range uint64(200) {
					scan(c, i%4, 27*i+1, 27*i+7, 3000, 2)   // a range that ends soon
					scan(c, i%4, 0, ^uint64(0), 1, 1)       // the first, or the last
					scan(c, i%4, 27*i+1, 27*i+2, 3000, 0)   // nothing there
					scan(c, i%4, 1<<19, ^uint64(0), 100, 0) // behind all of them
				}
			})
			if some.Leaves > 5*some.Lookups/2 || some.Fallbacks > 0 {
				t.Errorf("%v, down %v: %d leaves for %d lookups, %d fallbacks", mode, down, some.Leaves, some.Lookups, some.Fallbacks)
			}
			b.run(b.spawn(1, 0, func(c *r2.Co) {
				for i := range uint64(1000) {
					if err := x.Insert(c, i%4, 6000+i/4, i); err != nil {
						t.Error(err)
					}
				}
			}))
			b.settleIndexes(v)
			fresh := func(c *r2.Co) {
				for i := range uint64(300) {
					scan(c, i%4, 6000+i/3, 6004+i/3, 100, 5)
					scan(c, i%4, 6000, ^uint64(0), 1000, 250)
				}
			}
			first := of(fresh)
			if again := of(fresh); again.Fallbacks > 0 {
				t.Errorf("%v, down %v: at rest %d of %d lookups fell back, at first %d", mode, down, again.Fallbacks, again.Lookups, first.Fallbacks)
			}
			v.Audit(func(text string) { t.Error(text) })
			b.close()
		}
	}
}

// TestPartKeys: the initial keys of an index are those of its parts in order, whatever way they are described.
func TestPartKeys(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		parts := rapid.Uint64Range(1, 6).Draw(rt, "parts")
		var lists [][]store.Entry
		for range parts {
			list := rapid.SliceOfNDistinct(rapid.Uint64Range(0, 255), 0, 9, rapid.ID[uint64]).Draw(rt, "keys")
			entries := []store.Entry{}
			for _, k := range list {
				entries = append(entries, store.Entry{Key: k, Value: k ^ 77})
			}
			lists = append(lists, entries)
		}
		k := newPartKeys(store.IndexSpec{Name: "x", Parts: parts, Fill: func(part uint64, add func(key, value uint64)) {
			for _, e := range lists[part] {
				add(e.Key, e.Value)
			}
		}}, 8)
		var want []uint64
		for part, list := range lists {
			for _, e := range list {
				want = append(want, uint64(part)<<8|e.Key)
			}
		}
		slices.Sort(want)
		if k.Len() != uint64(len(want)) {
			rt.Fatalf("%d keys, want %d", k.Len(), len(want))
		}
		for i, key := range want {
			var value [8]byte
			k.value(key, value[:])
			if k.Key(uint64(i)) != key || wire.Get64(value[:]) != key&255^77 {
				rt.Errorf("key %d is %d with value %d, want %d", i, k.Key(uint64(i)), wire.Get64(value[:]), key)
			}
		}
		for key := range parts<<8 + 300 {
			i, there := slices.BinarySearch(want, key)
			if rank, ok := k.Rank(key); rank != uint64(i) || ok != there {
				rt.Errorf("key %d has rank %d, %v, want %d, %v", key, rank, ok, i, there)
			}
		}
	})
}

// TestIndexLimits: what does not fit is an error that says so.
func TestIndexLimits(t *testing.T) {
	b := newBed(t, 1, 3, 0, 1)
	v := NewIndexes(b.cl, func(*store.KVSpec) Options { return Options{} })
	for _, x := range []struct {
		spec store.IndexSpec
		want string
	}{
		{store.IndexSpec{ID: 1, Name: "wide", Servers: 3, Parts: 9, Bits: []int{40, 21}}, "numbers of 9 parts have 4 bits and keys 61, and those of XStore have 64"},
		{store.IndexSpec{ID: 1, Name: "fits", Servers: 3, Parts: 9, Bits: []int{40, 20}, Spare: 100}, ""},
		{store.IndexSpec{ID: 1, Name: "again", Servers: 3, Parts: 9, Bits: []int{20}}, "number 1 is taken by fits"},
		{store.IndexSpec{ID: 2, Name: "none", Servers: 3, Parts: 1}, "have 64"},
		{store.IndexSpec{ID: 2, Name: "many", Servers: 4, Parts: 4, Bits: []int{8}}, "the cluster has 3 machines"},
		{store.IndexSpec{ID: 2, Name: "few", Servers: 3, Parts: 1, Bits: []int{8}, Spare: 100}, ""},
	} {
		_, err := v.Add(x.spec)
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", x.spec.Name, err, x.want)
		}
	}
	table := v.tables[2]
	b.run(b.spawn(1, 0, func(c *r2.Co) {
		if err := table.Insert(c, 0, 256, 1); err == nil || !strings.Contains(err.Error(), "keys up to 255") {
			t.Errorf("a key that is too long: %v", err)
		}
		if err := table.Delete(c, 0, 256); !errors.Is(err, store.ErrMissing) {
			t.Errorf("a key that is too long: %v", err)
		}
		for _, r := range []store.Range{{Part: 1, Limit: 1}, {To: 9}} {
			if _, err := table.Scan(c, r, nil); err == nil {
				t.Errorf("scan %+v", r)
			}
		}
		for _, key := range []uint64{0, 255, 7} {
			if err := table.Insert(c, 0, key, key); err != nil {
				t.Error(err)
			}
		}
		for _, down := range []bool{false, true} {
			list, err := table.Scan(c, store.Range{To: ^uint64(0), Limit: 9, Down: down}, nil)
			if text := fmt.Sprint(list); err != nil || len(list) != 3 || down != (text == "[{255 255} {7 7} {0 0}]") {
				t.Errorf("%s, %v", text, err)
			}
		}
	}))
	if !table.Used(0) || v.tables[1].Used(3) {
		t.Error("part 0 was not used, or another one was")
	}
}
