package dataset

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/store"
	"drtmx/xstore/model"
)

func mustMake(t testing.TB, o Options) store.Keys {
	t.Helper()
	k, err := Make(o)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// sets are all kinds of sets of so many keys.
func sets(t testing.TB, n, seed uint64) map[string]store.Keys {
	list := map[string]store.Keys{}
	for _, name := range Names {
		list[name] = mustMake(t, Options{Name: name, Keys: n, Seed: seed})
	}
	points, err := NewOSMPoints(Options{Keys: min(n, MostPoints), Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	list["points"] = points
	return list
}

// Keys rise strictly, Rank is the inverse, and absent keys have the rank of the next one: whatever the set, its size and
// its parameters.
func TestKeysAndRanks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Options{
			Name: rapid.SampledFrom(Names).Draw(t, "set"), Keys: rapid.Uint64Range(1, 3000).Draw(t, "keys"), Seed: rapid.Uint64().Draw(t, "seed"),
			Noise: rapid.SampledFrom([]int{1, 2, 3, 16, 100, 256, 4096}).Draw(t, "noise"), Sigma: rapid.Float64Range(SigmaMin, SigmaMax).Draw(t, "sigma"),
			Rough: rapid.Float64Range(RoughMin, RoughMax).Draw(t, "rough"),
		}
		k, err := Make(o)
		if err != nil {
			t.Fatal(err)
		}
		if o.Name == OSMName && rapid.Bool().Draw(t, "points") {
			if k, err = NewOSMPoints(o); err != nil {
				t.Fatal(err)
			}
		}
		checkKeys(t, k, o.Keys)
	})
}

func checkKeys(t interface {
	Helper()
	Fatalf(string, ...any)
}, k store.Keys, n uint64) {
	t.Helper()
	if k.Len() != n {
		t.Fatalf("%d keys, want %d", k.Len(), n)
	}
	all := Append(nil, k, 0, n)
	for i, key := range all {
		i := uint64(i)
		if got := k.Key(i); got != key {
			t.Fatalf("key %d is %d, in a run of neighbours %d", i, got, key)
		}
		if i > 0 && key <= all[i-1] {
			t.Fatalf("key %d is %d behind %d", i, key, all[i-1])
		}
		if r, ok := k.Rank(key); !ok || r != i {
			t.Fatalf("key %d has rank %d, %v", i, r, ok)
		}
		for _, absent := range []uint64{key - 1, key + 1, key + 17} {
			at, is := slices.BinarySearch(all, absent)
			if r, ok := k.Rank(absent); r != uint64(at) || ok != is {
				t.Fatalf("%d has rank %d, %v, want %d, %v", absent, r, ok, at, is)
			}
		}
	}
	for _, absent := range []uint64{0, 1, math.MaxUint64, 1 << 63} {
		at, is := slices.BinarySearch(all, absent)
		if r, ok := k.Rank(absent); r != uint64(at) || ok != is {
			t.Fatalf("%d has rank %d, %v, want %d, %v", absent, r, ok, at, is)
		}
	}
}

// Keys of large sets rise too, in places, and so do those at the edges of windows.
func TestLargeSets(t *testing.T) {
	for _, n := range []uint64{100_000_000, 600_000_001} {
		for name, k := range sets(t, n, 7) {
			n := k.Len()
			for i := uint64(0); i+600 < n; i += n/50 + 1 {
				run := Append(nil, k, i, 600)
				for j, key := range run {
					if j > 0 && key <= run[j-1] {
						t.Fatalf("%s: key %d of %d is %d behind %d", name, i+uint64(j), n, key, run[j-1])
					}
				}
				if r, ok := k.Rank(run[300]); !ok || r != i+300 {
					t.Errorf("%s: key %d of %d has rank %d, %v", name, i+300, n, r, ok)
				}
			}
			if last := k.Key(n - 1); last <= k.Key(n-2) {
				t.Errorf("%s: the last of %d keys is %d", name, n, last)
			}
		}
	}
}

// The keys of a seed are for ever, and on every machine, the same.
func TestGolden(t *testing.T) {
	for name, k := range sets(t, 1_000_000, 1) {
		h := fnv.New64a()
		for i := uint64(0); i < k.Len(); i += 997 {
			fmt.Fprintln(h, k.Key(i))
		}
		got := fmt.Sprintf("%d %d %d %x", k.Key(0), k.Key(k.Len()/2), k.Key(k.Len()-1), h.Sum64())
		if goldenSets[name] != got {
			t.Errorf("%s is %q, was %q", name, got, goldenSets[name])
		}
	}
}

var goldenSets = map[string]string{
	"linear":    "64 32000064 64000000 dacc9dadd4d8cae9",
	"noised":    "97 32000098 63999981 de4af33981e2f4de",
	"lognormal": "2043749746 35441255574135 429220401202799232 89ae4fbf65177967",
	"osm":       "4783458322 343918421992348 1125899900454890 3d5183048bfe7706",
	"points":    "4380876564341543297 4457704481974254016 14065867086247847206 a567fdd58395560c",
	"orderline": "281479271743494 5066553875824645 9570192354377735 3a9f3b071df934bf",
}

// Seeds make other keys, but of linear ones.
func TestSeeds(t *testing.T) {
	other := sets(t, 1000, 2)
	for name, k := range sets(t, 1000, 1) {
		if same := slices.Equal(Append(nil, k, 0, 1000), Append(nil, other[name], 0, 1000)); same != (name == LinearName) {
			t.Errorf("%s: equal under two seeds: %v", name, same)
		}
	}
}

// The lognormal set has the distribution's quantiles, and its logarithms the standard deviation.
func TestLognormalDistribution(t *testing.T) {
	const n = 100_000
	k := mustMake(t, Options{Name: LognormalName, Keys: n, Seed: 3})
	middle := math.Log(float64(k.Key(n / 2)))
	for _, x := range []struct{ at, z float64 }{{0.0228, -2}, {0.1587, -1}, {0.8413, 1}, {0.9772, 2}} {
		if got := (math.Log(float64(k.Key(uint64(x.at*n)))) - middle) / Sigma; math.Abs(got-x.z) > 0.01 {
			t.Errorf("the logarithm at %g is %.3f standard deviations off the middle, want %g", x.at, got, x.z)
		}
	}
}

// Noise is as of a random sample within the window: keys are off their line by the root of the window, not more.
func TestNoise(t *testing.T) {
	const n = 1 << 18
	for _, window := range []int{1, 16, 256, 4096} {
		k := mustMake(t, Options{Name: NoisedName, Keys: n, Noise: window, Seed: 5})
		sum := 0.0
		for i := range uint64(n) {
			off := (float64(k.Key(i))-Stride)/Stride - (float64(i) + 0.5)
			sum += off * off
		}
		// The i-th of w uniform numbers in w strides has the variance of a beta distribution; its mean over i is about w/6.
		if got, want := sum/n, float64(window)/6; window > 1 && math.Abs(got/want-1) > 0.3 || got > want+0.1+0.3*want {
			t.Errorf("window %d: variance %.3g strides^2, want %.3g", window, got, want)
		}
	}
}

// OSM-like keys are clustered at all scales: whatever part of the set one looks at, its densest tenth of the range
// has several times its share of keys, and noised linear ones have not.
func TestClusters(t *testing.T) {
	const n = 1_000_000
	osm, noised := mustMake(t, Options{Name: OSMName, Keys: n, Seed: 1}), mustMake(t, Options{Name: NoisedName, Keys: n, Seed: 1})
	for _, part := range []uint64{n, n / 10, n / 100, n / 1000} {
		if x := densest(osm, part); x < 2.5 {
			t.Errorf("parts of %d keys: the densest tenths of their range have %.1f times their share", part, x)
		}
		if x := densest(noised, part); x > 1.6 {
			t.Errorf("parts of %d noised keys: %.1f times", part, x)
		}
	}
}

// densest is how many times its share of keys the densest tenth of a part's range has, on average over parts.
func densest(k store.Keys, part uint64) float64 {
	sum, parts := 0.0, 0.0
	for from := uint64(0); from+part <= k.Len() && parts < 10; from += part {
		low, high := k.Key(from), k.Key(from+part-1)
		most := uint64(0)
		before, _ := k.Rank(low)
		for tenth := uint64(1); tenth <= 10; tenth++ {
			r, _ := k.Rank(low + (high-low)/10*tenth)
			most = max(most, r-before)
			before = r
		}
		sum += float64(most) * 10 / float64(part)
		parts++
	}
	return sum / parts
}

// Order lines have valid fields; every order has 5 to 15 lines, on average 10, all numbers of lines as often.
func TestOrderLines(t *testing.T) {
	x, err := NewOrderLine(Options{Keys: 10_000, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	f := x.Fields()
	for i := range x.Len() {
		key := x.Key(i)
		w, d, o, l := f[0].Of(key), f[1].Of(key), f[2].Of(key), f[3].Of(key)
		if w < 1 || w > WarehousesMin || d < 1 || d > 10 || o < 1 || o > 3000 || l < 1 || l > 15 || Pack(uint64(w), uint64(d), uint64(o), uint64(l)) != key {
			t.Fatalf("key %d is %d: warehouse %g, district %g, order %g, line %g", i, key, w, d, o, l)
		}
	}
	lines, before := map[int]int{}, uint64(0)
	for n := range uint64(linesOfMany) {
		key := x.line(n)
		if key <= before {
			t.Fatalf("line %d of all has key %d behind %d", n, key, before)
		}
		if f[3].Of(key) == 1 && n > 0 {
			lines[int(f[3].Of(before))]++
		}
		before = key
	}
	for n := lineMin; n < lineMin+lineSpan; n++ {
		if share := float64(lines[n]) / (districts * orders); math.Abs(share-1.0/lineSpan) > 0.01 {
			t.Errorf("a share of %.3f of the orders has %d lines", share, n)
		}
	}
}

// The two floats of a place are within the world, in the order of keys, and places have latitudes of their own.
func TestPoints(t *testing.T) {
	x, err := NewOSMPoints(Options{Keys: 100, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	f, before, latitudes := x.Fields(), -181.0, map[float64]bool{}
	for i := range x.Len() {
		lon, lat := f[0].Of(x.Key(i)), f[1].Of(x.Key(i))
		if lon <= before || lon >= 180 || lat < -90 || lat >= 90 {
			t.Fatalf("place %d at %g, %g behind %g", i, lon, lat, before)
		}
		before, latitudes[lat] = lon, true
	}
	if len(latitudes) < 95 {
		t.Errorf("%d latitudes of 100 places", len(latitudes))
	}
}

// The own log, exp and quantile agree with package math's.
func TestFloats(t *testing.T) {
	for i := 1; i < 100_000; i++ {
		p := float64(i) / 100_000
		if got, want := quantile(p), math.Sqrt2*math.Erfinv(2*p-1); math.Abs(got-want) > 1e-13*(1+math.Abs(want)) {
			t.Fatalf("quantile(%g) = %g, want %g", p, got, want)
		}
		x := (p - 0.5) * 80
		if got, want := expOf(x), math.Exp(x); math.Abs(got/want-1) > 4e-15 {
			t.Fatalf("exp(%g) = %g, want %g", x, got, want)
		}
		if got, want := logOf(math.Exp(x)), math.Log(math.Exp(x)); math.Abs(got-want) > 1e-15*(1+math.Abs(want)) {
			t.Fatalf("log(e^%g) = %g, want %g", x, got, want)
		}
	}
	for _, p := range []float64{1e-3, 1e-9, 1e-12, 1e-15} {
		if x := quantile(p); math.Abs(math.Erfc(-x/math.Sqrt2)/2/p-1) > 1e-12 {
			t.Errorf("quantile(%g) = %g", p, x)
		}
	}
}

func TestRefused(t *testing.T) {
	for want, o := range map[string]Options{
		"must be one of linear": {Name: "zipf", Keys: 10},
		"of 0 keys":             {Name: LinearName},
		"a window of 5000":      {Name: NoisedName, Keys: 10, Noise: 5000},
		"sigma 9":               {Name: LognormalName, Keys: 10, Sigma: 9},
		"too many to differ":    {Name: LognormalName, Keys: MostKeys, Sigma: SigmaMax},
		"a roughness of 1":      {Name: OSMName, Keys: 10, Rough: 1},
	} {
		if _, err := Make(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
	for name, most := range map[string]uint64{LognormalName: MostKeys, OrderLineName: MostKeys, OSMName: MostKeys} {
		if _, err := Make(Options{Name: name, Keys: most}); err != nil {
			t.Error(err)
		}
	}
}

func BenchmarkKey(b *testing.B) {
	for _, name := range Names {
		k := mustMake(b, Options{Name: name, Keys: 100_000_000})
		b.Run(name, func(b *testing.B) {
			sum, i := uint64(0), uint64(0)
			for range b.N {
				i = (i + 61_803_399) % 100_000_000
				sum += k.Key(i)
			}
			_ = sum
		})
		b.Run(name+"/run", func(b *testing.B) {
			var dst []uint64
			for i := 0; i < b.N; i += 1000 {
				dst = Append(dst[:0], k, uint64(i)*77_777%99_000_000, 1000)
			}
		})
		b.Run(name+"/rank", func(b *testing.B) {
			sum, i := uint64(0), uint64(0)
			for range b.N {
				i = (i + 61_803_399) % 100_000_000
				r, _ := k.Rank(i * Stride)
				sum += r
			}
			_ = sum
		})
	}
}

// A multi-variate model predicts from the fields of composite keys, and from the whole of others.
func TestPredictors(t *testing.T) {
	lines := Predictors(mustMake(t, Options{Name: OrderLineName, Keys: 100}))
	if want := []model.Field{{Shift: 48, Bits: 16}, {Shift: 32, Bits: 16}, {Shift: 16, Bits: 16}, {Bits: 16}}; !slices.Equal(lines, want) {
		t.Errorf("order lines: %v", lines)
	}
	if whole := Predictors(Linear(10)); !slices.Equal(whole, []model.Field{{Bits: 64}}) {
		t.Errorf("linear keys: %v", whole)
	}
}
