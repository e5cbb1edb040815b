package model

import (
	"math/rand/v2"
	"testing"

	gbtree "github.com/google/btree"
	tbtree "github.com/tidwall/btree"
)

// linear are keys at equal distances but for some noise, in O(1): those of YCSB (thesis Table 3-2, L and NL).
type linear struct{ n, step, noise uint64 }

func (l linear) Len() uint64 { return l.n }

func (l linear) Key(i uint64) uint64 {
	if l.noise == 0 {
		return i * l.step
	}
	h := i * 0x9e3779b97f4a7c15
	return i*l.step + (h^h>>29)*0xbf58476d1ce4e5b9>>32%l.noise
}

func (l linear) Rank(key uint64) (uint64, bool) {
	i := min(key/l.step, l.n)
	if i == l.n {
		return l.n, false
	}
	k := l.Key(i)
	if k < key {
		return i + 1, false
	}
	return i, k == key
}

// benchLeaf is what a lookup reads of a leaf: the values are elsewhere.
type benchLeaf struct {
	inca, count uint32
	keys        [16]uint64
}

// benchStore is a cache with everything in it, over leaves in the same memory.
type benchStore struct {
	x      *Model
	subs   []benchSub
	tt     []Entry
	leaves []benchLeaf
}

type benchSub struct {
	Sub
	start uint32 // of its table in tt
}

func newBenchStore(b *testing.B, keys Keys, m uint32) *benchStore {
	top, err := TrainTop(TopSpec{}, keys)
	if err != nil {
		b.Fatal(err)
	}
	in := &Initial{Keys: keys, Fill: 8, High: ^uint64(0)}
	s := &benchStore{x: NewModel(top, m, keys, 0, ^uint64(0)), leaves: onLargePages[benchLeaf](b, int(in.Leaves()))}
	s.tt = onLargePages[Entry](b, int(in.Leaves()+2*m))[:0]
	NewTrainer(Config{Slots: 16}).All(in, s.x, 0, func(m uint32, sub Sub, tt []Entry) {
		s.subs = append(s.subs, benchSub{sub, uint32(len(s.tt))})
		s.tt = append(s.tt, tt...)
	})
	for i := range keys.Len() {
		l := &s.leaves[i/8]
		l.keys[l.count] = keys.Key(i)
		l.count++
	}
	return s
}

// position is a lookup as in Figure 3-8, from the middle of the range. It finds the position of the value, as a number in order.
func (s *benchStore) position(key uint64) (position uint64, found bool) {
	m := s.x.Sub(key)
	sub := &s.subs[m]
	first, last := sub.Range(s.x.Base(m), key, 16)
	tt := s.tt[sub.start:]
	middle := (first + last + 1) / 2
	if position, found = s.search(tt[middle], key); found {
		return position, true
	}
	for i := first; i <= last; i++ {
		if i == middle {
			continue
		}
		if position, found = s.search(tt[i], key); found {
			return position, true
		}
	}
	return 0, false
}

// search looks at all keys of a leaf, without a branch that depends on where the key is: the next lookup's memory accesses need
// not wait for this one's.
func (s *benchStore) search(e Entry, key uint64) (position uint64, found bool) {
	l := &s.leaves[e.ALN()]
	if !e.Valid() || l.inca != e.INCA() {
		return 0, false
	}
	at := uint64(0) // one above the slot
	for i, k := range l.keys[:e.CNT()] {
		d := k ^ key
		equal := (d - 1) &^ d >> 63 // 1 if d is 0
		at |= equal * uint64(i+1)
	}
	return uint64(e.ALN())*8 + at - 1, at > 0
}

// keysOf10M: every index has the same keys and is asked for the same ones, so the benchmarks compare.
const keysOf10M = 10_000_000

func benchGets(b *testing.B, keys Keys, get func(key uint64) (uint64, bool)) {
	rng := rand.New(rand.NewPCG(1, 2))
	ranks := make([]uint64, 1<<20)
	wanted := make([]uint64, len(ranks))
	for i := range ranks {
		ranks[i] = rng.Uint64N(keys.Len())
		wanted[i] = keys.Key(ranks[i])
	}
	b.ResetTimer()
	for i := range b.N {
		at := i & (len(ranks) - 1)
		if v, ok := get(wanted[at]); !ok || v != ranks[at] {
			b.Fatalf("key %d: %d %v, want %d", wanted[at], v, ok, ranks[at])
		}
	}
}

type pair struct{ key, value uint64 }

// BenchmarkLookup10M compares lookups on one core: XModel with 50,000 sub-models, and the peers' B-trees at their usual degree.
func BenchmarkLookup10M(b *testing.B) {
	for _, set := range []struct {
		name string
		keys linear
	}{{"linear", linear{keysOf10M, 1 << 10, 0}}, {"noised", linear{keysOf10M, 1 << 10, 1 << 10}}} {
		b.Run(set.name+"/XModel", func(b *testing.B) {
			benchGets(b, set.keys, newBenchStore(b, set.keys, keysOf10M/200).position)
		})
		b.Run(set.name+"/google", func(b *testing.B) {
			t := gbtree.NewG(32, func(a, b pair) bool { return a.key < b.key })
			for i := range set.keys.Len() {
				t.ReplaceOrInsert(pair{set.keys.Key(i), i})
			}
			benchGets(b, set.keys, func(key uint64) (uint64, bool) {
				p, ok := t.Get(pair{key: key})
				return p.value, ok
			})
		})
		b.Run(set.name+"/tidwall", func(b *testing.B) {
			var t tbtree.Map[uint64, uint64]
			for i := range set.keys.Len() {
				t.Load(set.keys.Key(i), i)
			}
			benchGets(b, set.keys, t.Get)
		})
	}
}

// BenchmarkTrainAll trains 500,000 sub-models over 100 million sorted keys (thesis §3.4.1: 8 us for each, 4 s for the top model).
func BenchmarkTrainAll(b *testing.B) {
	const n = 100_000_000
	keys := make(Sorted, n)
	for i := range keys {
		keys[i] = linear{n, 1 << 10, 1 << 10}.Key(uint64(i))
	}
	b.ResetTimer()
	for range b.N {
		top, err := TrainTop(TopSpec{}, keys)
		if err != nil {
			b.Fatal(err)
		}
		x := NewModel(top, 500_000, keys, 0, ^uint64(0))
		bad := 0
		NewTrainer(Config{Slots: 16}).All(&Initial{Keys: keys, Fill: 8, High: ^uint64(0)}, x, 0, func(m uint32, s Sub, tt []Entry) {
			if s.Fallback() {
				bad++
			}
		})
		if bad > 0 {
			b.Fatalf("%d sub-models cannot predict", bad)
		}
	}
}

// BenchmarkTrainSub trains a sub-model of 200 keys: from leaves, as after a split, and of an untouched store.
func BenchmarkTrainSub(b *testing.B) {
	keys := linear{keysOf10M, 1 << 10, 1 << 10}
	in := &Initial{Keys: keys, Fill: 8, High: ^uint64(0)}
	x := NewModel(trainLR(sampleKeys(keys, defaultSample)), keysOf10M/200, keys, 0, ^uint64(0))
	tr := NewTrainer(Config{Slots: 16})
	var tt []Entry
	b.Run("leaves", func(b *testing.B) {
		span := x.Span(1000)
		leaves := listOf(&Initial{Keys: Sorted(some(in, span)), Fill: 8, High: ^uint64(0)}, 16).leaves
		b.ReportAllocs()
		for range b.N {
			_, tt = tr.Sub(leaves, span, x.Base(1000), 1, tt)
		}
	})
	b.Run("untouched", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			_, tt = tr.Initial(in, x, uint32(i)%x.M, 1, tt)
		}
	})
}

// some are the keys of the leaves of a span.
func some(in *Initial, span Span) (keys []uint64) {
	for j := in.LeafOf(span.Low); j <= in.LeafOf(span.High); j++ {
		_, keys = in.Leaf(j, keys)
	}
	return keys
}

// BenchmarkPredict is one prediction of a top model of each kind, with the sub-model's.
func BenchmarkPredict(b *testing.B) {
	keys := linear{1 << 16, 1 << 10, 1 << 10}
	for _, spec := range []TopSpec{{Kind: "lr"}, {Kind: "mlr", Fields: []Field{{18, 12}, {10, 8}, {4, 6}, {0, 4}}}, {Kind: "nn", Epochs: 1}, {Kind: "pieces"}} {
		top, err := TrainTop(spec, keys)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(spec.Kind, func(b *testing.B) {
			b.ReportAllocs()
			sum := 0.0
			for i := range b.N {
				sum += top.Predict(uint64(i) << 4)
			}
			if sum < 0 {
				b.Fatal(sum)
			}
		})
	}
}
