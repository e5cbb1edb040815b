package rolex

import (
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/fabric"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/xstore/kvtest"
)

func with(o Options) kvtest.Make {
	return func(cl *r2.Cluster, s store.KVSpec) (store.KV, error) { return New(cl, s, o) }
}

// small has few leaves in a segment, which is trained again at each second split.
var small = Options{Slots: 4, SegmentLeaves: 3, RetrainAt: 2}

func TestMap(t *testing.T)      { kvtest.Map(t, with(Options{RetrainAt: 4}), false) }
func TestMapSmall(t *testing.T) { kvtest.Map(t, with(small), false) }
func TestMapStale(t *testing.T) { kvtest.Map(t, with(Options{Slots: 4, Fill: 4, Error: 64}), false) }

// contended are clients that all work on one or two leaves, and on leaves that get synonyms.
var contended = []kvtest.History{
	{Keys: 6, Operations: 60, Bytes: 8},
	{Keys: 5, Operations: 60, Bytes: 40},
	{Keys: 4, Operations: 150, Bytes: 8, Wide: 200},
}

// large has leaves of fifty lines, which take a while to be WRITten.
var large = kvtest.History{Keys: 5, Operations: 60, Bytes: 200}

// wrong runs seeds until something is wrong.
func wrong(t *testing.T, seeds uint64, o Options, histories ...kvtest.History) string {
	return kvtest.Catch(t, func(t testing.TB) string {
		for seed := uint64(1); seed <= seeds; seed++ {
			for _, h := range histories {
				if w := h.Linear(t, with(o), seed); w != "" {
					return w
				}
			}
		}
		return ""
	})
}

func TestLinearizablePerKey(t *testing.T) {
	seeds := uint64(15)
	if testing.Short() {
		seeds = 3
	}
	for _, o := range []Options{small, {RetrainAt: 1}} {
		if w := wrong(t, seeds, o, append(contended, large)...); w != "" {
			t.Error(w)
		}
	}
}

// Each fault that a checker must find is found.
func TestPlantedFaults(t *testing.T) {
	for name, plant := range map[string]func(*planted){ // order-free: each by itself
		"synonyms are not READ":                        func(p *planted) { p.noSynonyms = true },
		"the range is not looked at under the lock":    func(p *planted) { p.noSecond = true },
		"the lock is released before the WRITE":        func(p *planted) { p.unlockFirst = true },
		"a leaf is linked before its synonym is there": func(p *planted) { p.linkFirst = true },
		"the error of the model is ignored":            func(p *planted) { p.noBounds = true },
	} {
		t.Run(name, func(t *testing.T) {
			o := small
			o.Error = 32
			plant(&o.planted)
			w := wrong(t, 40, o, contended...)
			if w == "" {
				t.Fatal("no seed shows it")
			}
			t.Log(w)
		})
	}
}

// A leaf that was caught in a change is a mixture.
func TestTornLeavesAreCaught(t *testing.T) {
	was := whenDecoded
	defer func() { whenDecoded = was }()
	whenDecoded = func(l *layout, b []byte) { // as if all lines had the version of the first
		for at := 64 - lockBytes; at < l.block.Bytes(); at += 64 {
			copy(b[at:at+2], b[:2])
		}
	}
	w := wrong(t, 40, Options{}, large)
	if w == "" {
		t.Fatal("no seed shows that versions are not looked at")
	}
	t.Log(w)
}

// TestSegment: a model leads every key of every leaf to a range that has it, and is the same behind a READ of its bytes.
func TestSegment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lows := fences{rapid.Uint64Range(0, 1<<40).Draw(t, "first")}
		for range rapid.IntRange(0, 300).Draw(t, "more") {
			lows = append(lows, lows[len(lows)-1]+1+rapid.Uint64().Draw(t, "gap")>>rapid.IntRange(12, 63).Draw(t, "shift"))
		}
		high := lows[len(lows)-1] + rapid.Uint64Range(0, 1<<20).Draw(t, "last")
		s := train(lows, high, rapid.IntRange(1, 64).Draw(t, "error"))
		s.version = 7
		for i := range lows {
			s.table = append(s.table, uint32(1000-i))
		}
		b := make([]byte, s.bytes()+40)
		s.put(b)
		if _, ok := getSegment(b, 8); ok {
			t.Fatal("another version is taken for it")
		}
		got, ok := getSegment(b, 7)
		if !ok {
			t.Fatal("it is not read again")
		}
		for g, low := range lows {
			last := high
			if g+1 < len(lows) {
				last = lows[g+1] - 1
			}
			for _, key := range []uint64{low, last, low + (last-low)/3} {
				from, to := s.span(key)
				if a, b := got.span(key); a != from || b != to || got.leaf(g) != s.leaf(g) {
					t.Fatalf("key %d: leaves %d to %d, and behind a READ %d to %d", key, from, to, a, b)
				}
				if g < from || g > to {
					t.Fatalf("key %d of leaf %d is predicted in %d to %d", key, g, from, to)
				}
			}
		}
	})
}

// TestRetraining: without it inserts make chains of synonyms; with it lookups of all clients mostly READ one leaf again.
func TestRetraining(t *testing.T) {
	hops := map[int]float64{}
	for _, at := range []int{0, 8} {
		size := kvtest.Size{Machines: 3, Threads: 2, Coroutines: 4, Servers: 1}
		b := kvtest.NewBed(t, with(Options{SegmentLeaves: 16, RetrainAt: at}), 1, size, kvtest.Hardware(3), store.KVSpec{Name: "grow", Keys: kvtest.Even{N: 1000, Step: 1000}, ValueBytes: 8, Spare: 100_000})
		s := b.KV.(*Store)
		for k := range 16 {
			b.Spawn(1+k%2, k/2%2, func(c *r2.Co, kv store.KVClient) {
				value := make([]byte, 8)
				for range 500 {
					c.Reset()
					if _, err := kv.Insert(c.Rand().Uint64n(1_000_000), value); err != nil {
						t.Error(err)
					}
				}
			})
		}
		b.Run()
		before := s.Stats()
		for k := range 16 {
			b.Spawn(1+k%2, k/2%2, func(c *r2.Co, kv store.KVClient) {
				value := make([]byte, 8)
				for range 500 {
					c.Reset()
					if _, err := kv.Get(c.Rand().Uint64n(1_000_000), value); err != nil {
						t.Error(err)
					}
				}
			})
		}
		b.Run()
		b.Audit()
		after := s.Stats()
		hops[at] = float64(after.Synonyms-before.Synonyms) / float64(after.Lookups-before.Lookups)
		t.Logf("retrained at %d splits: %.2f synonyms for each GET; %+v", at, hops[at], after)
		if trained := after.Trained > 0 && after.Fetched > 0; trained != (at > 0) {
			t.Errorf("retrained at %d splits: %d trainings, %d models fetched", at, after.Trained, after.Fetched)
		}
		b.Close()
	}
	if hops[8] > hops[0]/4 {
		t.Errorf("%.2f synonyms for each GET, without retraining %.2f", hops[8], hops[0])
	}
}

// A hundred million keys take no memory until they are looked at.
func TestInitialLeaves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 100_000_000).Draw(t, "keys")
		keys := kvtest.Even{N: n, First: 5, Step: 3}
		b := kvtest.NewBed(t, with(Options{}), 1, kvtest.Size{Machines: 1, Threads: 1, Coroutines: 1, Servers: 1}, fabric.Config{Machines: 1}, store.KVSpec{Name: "initial", Keys: keys, ValueBytes: 8})
		defer b.Close()
		value, want := make([]byte, 8), make([]byte, 8)
		for range 20 {
			key := keys.Key(rapid.Uint64Range(0, n-1).Draw(t, "i"))
			kvtest.Initial(key, want)
			if !b.KV.Find(key, value) || binary.LittleEndian.Uint64(value) != binary.LittleEndian.Uint64(want) || b.KV.Find(key+1, value) {
				t.Fatalf("key %d is not there alone", key)
			}
		}
		b.Audit()
	})
}

func BenchmarkGet(b *testing.B) { kvtest.BenchGets(b, with(Options{})) }
