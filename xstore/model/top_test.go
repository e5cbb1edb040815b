package model

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// lognormal are keys whose logarithm is normal.
func lognormal(n int, seed uint64) Sorted {
	rng := rand.New(rand.NewPCG(seed, 0))
	keys := map[uint64]bool{}
	for len(keys) < n {
		keys[uint64(exp(rng.NormFloat64())*1e9)] = true
	}
	return sortedOf(keys)
}

// Learning is the same on every machine: the bits are written down.
func TestNeuralNetIsReproducible(t *testing.T) {
	keys := lognormal(2000, 1)
	for _, c := range []struct {
		spec TopSpec
		want uint64
	}{
		{TopSpec{Kind: "nn", Epochs: 50, Seed: 3}, 0xc774791446e6fb27},
		{TopSpec{Kind: "nn", Epochs: 50, Seed: 3, Hidden: []int{4, 4}, Activation: "relu"}, 0x32e16da670509e97},
	} {
		top, err := TrainTop(c.spec, keys)
		if err != nil {
			t.Fatal(err)
		}
		h := fnv.New64a()
		var b [8]byte
		for _, w := range append(top.(*NN).net.weights, top.Predict(keys[100]), top.Predict(keys[1900])) {
			for i := range b {
				b[i] = byte(math.Float64bits(w) >> (8 * i))
			}
			h.Write(b[:])
		}
		if h.Sum64() != c.want {
			t.Errorf("%s: %#x, want %#x", top.Name(), h.Sum64(), c.want)
		}
	}
}

// worst is the largest error of a top model, as a share of the keys.
func worst(top Top, keys Keys) (e float64) {
	n := keys.Len()
	for i := range n {
		e = max(e, math.Abs(top.Predict(keys.Key(i))-(float64(i)+0.5)/float64(n)))
	}
	return e
}

func mustTrain(t *testing.T, spec TopSpec, keys Keys) Top {
	t.Helper()
	top, err := TrainTop(spec, keys)
	if err != nil {
		t.Fatal(err)
	}
	return top
}

func TestTopsLearnWhatTheyAreFor(t *testing.T) {
	line := linear{50_000, 1 << 40, 0} // distances that a float32 could not hold
	if e := worst(mustTrain(t, TopSpec{}, line), line); e > 1e-4 {
		t.Errorf("LR is off by %g on a line", e)
	}
	high := make(Sorted, 1000) // the last of all keys: as floats of 64 bits they are all the same
	for i := range high {
		high[i] = math.MaxUint64 - 1000 + uint64(i)
	}
	if e := worst(mustTrain(t, TopSpec{}, high), high); e > 0.01 {
		t.Errorf("LR is off by %g on the highest keys", e)
	}
	curve := lognormal(10_000, 2)
	lr, nn := worst(mustTrain(t, TopSpec{}, curve), curve), worst(mustTrain(t, TopSpec{Kind: "nn"}, curve), curve)
	if nn > lr/5 {
		t.Errorf("a neural net is off by %g on a lognormal curve, LR by %g", nn, lr)
	}
	var lines Sorted // warehouse, district, order, line
	for i := range uint64(10_000) {
		lines = append(lines, i/1000<<48|i/100%10<<40|i/10%10<<8|i%10)
	}
	fields := []Field{{48, 16}, {40, 8}, {8, 32}, {0, 8}}
	if e := worst(mustTrain(t, TopSpec{Kind: "mlr", Fields: fields}, lines), lines); e > 1e-9 {
		t.Errorf("MLR is off by %g where it can be exact", e)
	}
	if e := worst(mustTrain(t, TopSpec{}, lines), lines); e < 0.01 {
		t.Errorf("LR is off by only %g on composite keys", e)
	}
}

// Predictors that say nothing, or nothing new, get no weight.
func TestMLRWithDegenerateFields(t *testing.T) {
	keys := linear{1000, 1 << 8, 0}
	top := mustTrain(t, TopSpec{Kind: "mlr", Fields: []Field{{0, 8}, {8, 16}, {8, 20}, {60, 4}}}, keys)
	if e := worst(top, keys); e > 1e-9 || math.IsNaN(e) {
		t.Errorf("off by %g", e)
	}
}

// Pieces are within their bound for every key that was sampled, whatever the keys are.
func TestPiecesAreWithinTheirBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := someKeys(t)
		eps := rapid.Float64Range(0.002, 0.3).Draw(t, "eps")
		top, err := TrainTop(TopSpec{Kind: "pieces", Sample: -1, Eps: eps}, keys)
		if err != nil {
			t.Fatal(err)
		}
		if e := worst(top, keys); e > eps+1e-5 {
			t.Fatalf("off by %g, the bound is %g", e, eps)
		}
	})
}

// Who promises to be monotone is.
func TestMonotoneTops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := someKeys(t)
		top := someTop(t, keys)
		if !top.Monotone() {
			return
		}
		last, lastKey := 0.0, uint64(0)
		for _, k := range keys {
			for _, key := range []uint64{max(k, 1) - 1, k, min(k, math.MaxUint64-1) + 1} {
				p := top.Predict(key)
				if key >= lastKey && p < last || p < 0 || p >= 1 {
					t.Fatalf("%s: %g at %d, %g at %d", top.Name(), last, lastKey, p, key)
				}
				last, lastKey = p, key
			}
		}
	})
}

func TestExp(t *testing.T) {
	for x := -690.0; x < 690; x += 0.37 {
		if got, want := exp(x), math.Exp(x); math.Abs(got-want) > 4e-15*want {
			t.Errorf("e^%g = %g, want %g", x, got, want)
		}
	}
	if exp(0) != 1 || math.IsInf(exp(1e9), 0) || sigmoid(-1e9) < 0 || sigmoid(1e9) != 1 {
		t.Error("at the ends")
	}
}

func TestTopSpecIsChecked(t *testing.T) {
	keys := linear{100, 3, 0}
	for _, spec := range []TopSpec{
		{Kind: "tree"}, {Kind: "mlr"}, {Kind: "mlr", Fields: []Field{{60, 5}}}, {Kind: "nn", Activation: "tanh"}, {Kind: "nn", Hidden: []int{65}},
		{Kind: "nn", Hidden: []int{0}}, {Kind: "pieces", Eps: 1},
	} {
		if _, err := TrainTop(spec, keys); err == nil {
			t.Errorf("%+v is accepted", spec)
		}
	}
}

// Every kind can be trained without keys and with one.
func TestFewKeys(t *testing.T) {
	for _, kind := range TopKinds() {
		for _, keys := range []Sorted{nil, {7}} {
			in := &Initial{Keys: keys, Fill: 8, Low: 5, High: math.MaxUint64}
			top := mustTrain(t, TopSpec{Kind: kind, Fields: []Field{{0, 64}}, Epochs: 5}, keys)
			x := NewModel(top, 3, keys, in.Low, in.High)
			tree := listOf(in, 16)
			c := trainAll(tree, x, NewTrainer(Config{Slots: 16}))
			for _, key := range []uint64{5, 6, 7, 8, math.MaxUint64} {
				if text := c.misses(tree, key); text != "" {
					t.Errorf("%s, %d keys: %s", kind, len(keys), text)
				}
			}
		}
	}
}

// A prediction, the training of a sub-model and a retraining allocate nothing.
func TestNothingIsAllocated(t *testing.T) {
	keys := lognormal(5000, 3)
	in := &Initial{Keys: keys, Fill: 8, High: math.MaxUint64}
	tr := NewTrainer(Config{Slots: 16})
	for _, kind := range TopKinds() {
		x := NewModel(mustTrain(t, TopSpec{Kind: kind, Fields: []Field{{8, 20}, {0, 8}}, Epochs: 5}, keys), 20, keys, 0, in.High)
		var tt []Entry
		var s Sub
		work := func() {
			for m := range x.M {
				s, tt = tr.Initial(in, x, m, 0, tt)
			}
			for _, k := range keys[:100] {
				m := x.Sub(k)
				s.Range(x.Base(m), k, 16)
			}
		}
		work()
		if n := testing.AllocsPerRun(3, work); n > 0 {
			t.Errorf("%s: %g allocations", kind, n)
		}
	}
}
