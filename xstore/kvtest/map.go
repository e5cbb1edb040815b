package kvtest

import (
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/r2"
	"drtmx/engine/store"
)

// walker is a coroutine that alone changes the keys that are its number modulo those of all walkers, so that it knows of these
// what is there, whatever the others do meanwhile.
type walker struct {
	t              *rapid.T
	kv             store.KVClient
	number, stride uint64
	span           uint64 // keys are below
	size           int
	noScan         bool
	mine           map[uint64]uint64
	value          []byte
	pairs          []store.Pair
}

// Map holds that a store is a sorted map: clients on several machines, servers among them, change and scan it at the same time;
// each finds its own keys and values, and no others of its own.
func Map(t *testing.T, mk Make, noScan bool) {
	rapid.Check(t, func(t *rapid.T) {
		size := Size{Machines: 3, Threads: rapid.IntRange(1, 4).Draw(t, "threads"), Coroutines: 2}
		size.Servers = rapid.IntRange(1, 3).Draw(t, "servers")
		n := rapid.SampledFrom([]uint64{40, 300, 5_000}).Draw(t, "keys")
		step := rapid.Uint64Range(1, 5).Draw(t, "step")
		operations := rapid.IntRange(20, 200).Draw(t, "operations")
		bytes := rapid.SampledFrom([]int{1, 8, 20, 200}).Draw(t, "value bytes")
		keys := Even{N: n, First: rapid.Uint64Range(0, 50).Draw(t, "first"), Step: step}
		b := NewBed(t, mk, rapid.Uint64().Draw(t, "seed"), size, Hardware(size.Machines), store.KVSpec{Name: "map", Keys: keys, ValueBytes: bytes, Spare: 10_000})
		defer b.Close()
		all := uint64(size.Machines * size.Threads * size.Coroutines)
		var walkers []*walker
		for k := range all {
			w := &walker{t: t, number: k, stride: all, span: keys.Key(n) + 100, size: bytes, noScan: noScan, mine: map[uint64]uint64{}, value: make([]byte, bytes)}
			walkers = append(walkers, w)
		}
		for i := range n {
			key := keys.Key(i)
			walkers[key%all].mine[key] = w8(first(key), bytes)
		}
		for k, w := range walkers {
			b.Spawn(k%size.Machines, k/size.Machines%size.Threads, func(c *r2.Co, kv store.KVClient) {
				w.kv = kv
				for range operations {
					c.Reset()
					w.step(c)
				}
			})
		}
		b.Run()
		b.Audit()
		for key := range walkers[0].span {
			w := walkers[key%all]
			want, there := w.mine[key]
			if b.KV.Find(key, w.value) != there {
				t.Fatalf("key %d in the end: there %v, want %v", key, !there, there)
			}
			if there {
				w.same(key, w.value, want)
			}
		}
	})
}

// w8 is what values of so many bytes keep of a number.
func w8(x uint64, bytes int) uint64 {
	if bytes < 8 {
		x &= 1<<(8*bytes) - 1
	}
	return x
}

func (w *walker) same(key uint64, value []byte, want uint64) {
	if x, err := Number(key, value); err != nil || x != want {
		w.t.Errorf("key %d has value %x, want %x; %v", key, x, want, err)
	}
}

// step is one operation.
func (w *walker) step(c *r2.Co) {
	r := c.Rand()
	key := r.Uint64n(w.span/w.stride+1)*w.stride + w.number
	if key >= w.span {
		key = w.number
	}
	was, there := w.mine[key]
	x := w8(r.Uint64(), w.size)
	switch op := r.Uint64n(6); op {
	case 0:
		found, err := w.kv.Get(key, w.value)
		w.check("get", key, found, there, err)
		if found && there {
			w.same(key, w.value, was)
		}
	case 1:
		Fill(x, w.value)
		found, err := w.kv.Update(key, w.value)
		if w.check("update", key, found, there, err); there {
			w.mine[key] = x
		}
	case 2, 3:
		Fill(x, w.value)
		inserted, err := w.kv.Insert(key, w.value)
		if w.check("insert", key, inserted, !there, err); !there {
			w.mine[key] = x
		}
	case 4:
		found, err := w.kv.Delete(key)
		w.check("delete", key, found, there, err)
		delete(w.mine, key)
	default:
		if !w.noScan {
			w.scan(r.Uint64n(w.span), 1+int(r.Uint64n(600)))
		}
	}
}

func (w *walker) check(what string, key uint64, got, want bool, err error) {
	if err != nil || got != want {
		w.t.Errorf("%s of key %d: %v, want %v; %v", what, key, got, want, err)
	}
}

// scan compares what a scan finds of the walker's own keys.
func (w *walker) scan(from uint64, n int) {
	pairs, err := w.kv.Scan(from, n, w.pairs[:0])
	w.pairs = pairs
	if err != nil || len(pairs) > n {
		w.t.Errorf("scan of %d from %d: %d pairs, %v", n, from, len(pairs), err)
		return
	}
	own, to := 0, ^uint64(0)
	for i, p := range pairs {
		if p.Key < from || i > 0 && p.Key <= pairs[i-1].Key {
			w.t.Errorf("scan of %d from %d: key %d at %d", n, from, p.Key, i)
		}
		if p.Key%w.stride == w.number {
			own++
			if want, ok := w.mine[p.Key]; !ok {
				w.t.Errorf("scan of %d from %d: key %d, which is not there", n, from, p.Key)
			} else {
				w.same(p.Key, p.Value, want)
			}
		}
	}
	if len(pairs) == n {
		to = pairs[n-1].Key
	}
	for key := range w.mine { // order-free: counts
		if key >= from && key <= to {
			own--
		}
	}
	if own != 0 {
		w.t.Errorf("scan of %d from %d: %d own keys too many", n, from, own)
	}
}
