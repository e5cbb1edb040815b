package xstore

import (
	"fmt"
	"testing"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/xstore/model"
)

// plan is what random clients do.
type plan struct {
	keys       uint64 // initial ones
	space      uint64 // operations are on keys from 0 to so many
	ops        int    // of each coroutine
	clients    int    // coroutines of each thread
	weights    [5]int // get, update, insert, delete, scan
	resize     bool   // one client changes the number of sub-models now and then
	everywhere bool   // servers have clients too
}

var mixture = plan{keys: 300, space: 3200, ops: 150, clients: 3, weights: [5]int{40, 10, 35, 10, 5}}

// from is the first machine with clients.
func (p plan) from(b *bed) int {
	if p.everywhere {
		return 0
	}
	return b.servers
}

// play runs the plan's clients to their end.
func (b *bed) play(p plan) {
	b.Helper()
	var flags []*bool
	id := 0
	for m := p.from(b); m < b.cl.Machines(); m++ {
		for t := range b.cl.Threads(m) {
			for range p.clients {
				id++
				id := id
				flags = append(flags, b.spawn(m, t, func(c *r2.Co) { b.client(c, p, id) }))
			}
		}
	}
	b.run(flags...)
}

func (b *bed) client(c *r2.Co, p plan, id int) {
	kv := b.x.Client(c)
	value := make([]byte, b.x.spec.ValueBytes)
	var pairs []store.Pair
	total := 0
	for _, w := range p.weights {
		total += w
	}
	for i := range p.ops {
		c.Reset()
		if p.resize && id == 1 && i%40 == 20 {
			if err := b.x.SetSubModels(8 + c.Rand().Intn(40)); err != nil {
				b.Error(err)
			}
		}
		pick, k := c.Rand().Intn(total), opKind(0)
		for ; pick >= p.weights[k]; k++ {
			pick -= p.weights[k]
		}
		key := c.Rand().Uint64n(p.space)
		if k > remove {
			pairs = b.doScan(c, kv, id, key, pairs)
			continue
		}
		b.do(c, kv, id, k, key, value)
	}
}

// do is one operation on a key.
func (b *bed) do(c *r2.Co, kv store.KVClient, id int, k opKind, key uint64, value []byte) {
	o := op{kind: k}
	from := c.Now()
	var err error
	switch k {
	case get:
		if o.done, err = kv.Get(key, value); o.done {
			o.change = changeOf(key, value)
		}
	case update, insert:
		b.log.change++
		o.change = b.log.change
		valueOf(key, o.change, value)
		if k == update {
			o.done, err = kv.Update(key, value)
		} else {
			o.done, err = kv.Insert(key, value)
		}
	default:
		o.done, err = kv.Delete(key)
	}
	if err != nil {
		b.Errorf("%v of key %d: %v", k, key, err)
		return
	}
	b.log.add(id, key, o, from, c.Now())
}

// doScan reads some pairs: what it finds, and what it does not find between them, is as gets of these keys have it.
func (b *bed) doScan(c *r2.Co, kv store.KVClient, id int, from uint64, pairs []store.Pair) []store.Pair {
	n := 1 + c.Rand().Intn(40)
	begin := c.Now()
	pairs, err := kv.Scan(from, n, pairs[:0])
	if err != nil {
		b.Errorf("scan from key %d: %v", from, err)
		return pairs
	}
	end := c.Now()
	next := from
	for _, p := range pairs {
		if p.Key < next {
			b.Errorf("scan of %d from key %d has key %d behind %d", n, from, p.Key, next-1)
			return pairs
		}
		for ; next < p.Key; next++ {
			b.log.add(id, next, op{kind: get}, begin, end)
		}
		b.log.add(id, p.Key, op{kind: get, done: true, change: changeOf(p.Key, p.Value)}, begin, end)
		next = p.Key + 1
	}
	if len(pairs) < n {
		for ; next < 4000; next++ {
			b.log.add(id, next, op{kind: get}, begin, end)
		}
	}
	return pairs
}

// No key is lost, whatever the cache keeps, with splits, retraining and expansion under way (§3.4.3, correctness).
func TestNoLostKeys(t *testing.T) {
	for _, mode := range []Mode{Full, Model, Top, Tree, Tree4, None} {
		for _, spec := range []bool{true, false} {
			if !spec && !mode.learned() {
				continue
			}
			t.Run(fmt.Sprintf("%v/speculative=%v", mode, spec), func(t *testing.T) {
				var sum Stats
				for seed := uint64(1); seed <= 3; seed++ {
					for _, bytes := range []int{8, 64} {
						b := newBed(t, seed, 1, 2, 2)
						b.open(mixture.keys, bytes, Options{SubModels: 12, Slots: 8, Cache: mode, Trainers: 2, Speculative: spec, PositionHint: true})
						p := mixture
						p.resize = mode.learned()
						b.play(p)
						b.settle()
						if keys := b.lost(); len(keys) > 0 {
							t.Errorf("seed %d, values of %d bytes: keys %v", seed, bytes, keys)
						}
						b.audit()
						s := b.x.Stats()
						sum.Add(&s)
						b.close()
					}
				}
				t.Logf("%+v", sum)
			})
		}
	}
}

// Keys on several servers, with top models of all kinds, and caches of threads.
func TestServersAndTops(t *testing.T) {
	for _, top := range []string{"lr", "nn", "mlr", "pieces"} {
		for _, perThread := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/thread=%v", top, perThread), func(t *testing.T) {
				for seed := uint64(1); seed <= 2; seed++ {
					b := newBed(t, seed, 3, 2, 2)
					b.open(mixture.keys, 8, Options{SubModels: 6, Slots: 8, TopModel: top, Fields: []model.Field{{Shift: 5, Bits: 12}, {Bits: 5}},
						PerThread: perThread, Trainers: 1, Speculative: true, PositionHint: true, Merge: true, ExpandAt: 40})
					p := mixture
					p.everywhere = perThread
					b.play(p)
					b.settle()
					if keys := b.lost(); len(keys) > 0 {
						t.Errorf("seed %d: keys %v", seed, keys)
					}
					b.audit()
					t.Logf("%+v", b.x.Stats())
					b.close()
				}
			})
		}
	}
}

// A tree grows to ten times its leaves while top models of all kinds are replaced and grow: none loses a key that is there, or
// that an insert has put beyond all others.
func TestTopsWhileTheTreeGrows(t *testing.T) {
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for _, top := range []string{"lr", "nn", "mlr", "pieces"} {
		for _, mode := range []Mode{Full, Model, Top} {
			t.Run(fmt.Sprintf("%s/%v", top, mode), func(t *testing.T) {
				for seed := uint64(1); seed <= seeds; seed++ {
					b := newBed(t, seed, 1, 2, 2)
					b.open(40, 8, Options{SubModels: 3, Slots: 4, TopModel: top, Fields: []model.Field{{Shift: 5, Bits: 12}, {Bits: 5}},
						Cache: mode, Trainers: 2, Speculative: seed%2 == 0, PositionHint: true, ExpandAt: int(20 * (seed % 3))})
					p := plan{keys: 40, space: 3200, ops: 200, clients: 3, weights: [5]int{30, 5, 50, 10, 5}, resize: true}
					b.play(p)
					b.settle()
					if keys := b.lost(); len(keys) > 0 {
						t.Errorf("seed %d: keys %v", seed, keys)
					}
					b.audit()
					if s := b.x.Stats(); s.Splits < 100 || s.Retrained == 0 {
						t.Errorf("seed %d: %d splits, %d retrained: the tree has not grown", seed, s.Splits, s.Retrained)
					}
					b.close()
				}
			})
		}
	}
}

// When nothing changes any more, clients come to have what the server has: no lookup falls back.
func TestFallbacksEnd(t *testing.T) {
	for _, speculative := range []bool{false, true} {
		for _, mode := range []Mode{Full, Model, Top} {
			b := newBed(t, 1, 1, 2, 2)
			b.open(mixture.keys, 8, Options{SubModels: 12, Slots: 8, Cache: mode, Trainers: 2, Speculative: speculative})
			b.play(mixture)
			b.settle()
			reads := mixture
			reads.weights = [5]int{95, 0, 0, 0, 5}
			reads.ops = 1500
			b.play(reads)
			before := b.x.Stats()
			b.play(reads)
			after := b.x.Stats()
			if n := after.Fallbacks - before.Fallbacks; n > 0 {
				t.Errorf("%v, speculative %v: %d of %d lookups fell back at rest", mode, speculative, n, after.Lookups-before.Lookups)
			}
			b.close()
		}
	}
}
