package compare

import (
	"slices"
	"testing"

	"drtmx/xstore/dataset"
	"drtmx/xstore/model"
)

// vectors are keys in two clusters.
func vectors(n int) (keys []Vector) {
	for i := range n {
		x := float32(i) / float32(n)
		keys = append(keys, Vector{x * x * (3 - 2*x), float32(i%7) / 7})
	}
	slices.SortFunc(keys, compareVectors)
	return keys
}

// The net has 29 times the memory of a line (§3.5.2), three lines three times, and equal inputs give equal models.
func TestSubModels(t *testing.T) {
	list, err := SubModels(vectors(100), SubOptions{Epochs: 200, Seeds: 1})
	if err != nil {
		t.Fatal(err)
	}
	again, _ := SubModels(vectors(100), SubOptions{Epochs: 200, Seeds: 1})
	bytes := map[string]int{"1-NN": 228, "1-LR": 12, "3-LR": 36}
	for i, s := range list {
		if want, ok := bytes[s.Name]; ok && s.Bytes != want {
			t.Errorf("%s has %d bytes, want %d", s.Name, s.Bytes, want)
		}
		if len(s.Position) != 100 || s.MaxError < s.MeanError || s.Work <= 0 || !slices.Equal(s.Position, again[i].Position) {
			t.Errorf("%s: %d positions, errors %g and %g, work %d; the same again: %v", s.Name, len(s.Position), s.MaxError, s.MeanError, s.Work, slices.Equal(s.Position, again[i].Position))
		}
	}
	if three, one := list[2], list[1]; three.MaxError >= one.MaxError {
		t.Errorf("three lines are off by %g, one by %g", three.MaxError, one.MaxError)
	}
	if _, err := SubModels([]Vector{{1, 0}, {0, 0}, {2, 0}}, SubOptions{}); err == nil {
		t.Error("vectors in no order are accepted")
	}
}

// A net spreads lognormal keys more evenly over the sub-models than a line, and so does a regression of the fields of an
// order line's key.
func TestTopModels(t *testing.T) {
	skewed, err := dataset.Make(dataset.Options{Name: dataset.LognormalName, Keys: 2000, Sigma: 1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	list, err := TopModels(skewed, 20, 16, model.TopSpec{Kind: "lr"}, model.TopSpec{Kind: "nn", Epochs: 200})
	if err != nil {
		t.Fatal(err)
	}
	if line, net := list[0], list[1]; net.Variance >= line.Variance || net.Bytes <= line.Bytes || net.Cycles <= line.Cycles {
		t.Errorf("variance %g of a net, %g of a line; bytes %d and %d; cycles %d and %d", net.Variance, line.Variance, net.Bytes, line.Bytes, net.Cycles, line.Cycles)
	}
	for _, x := range list {
		if c := x.Curve(skewed, 50); len(c) != 50 || c[0].Key != skewed.Key(0) || c[49].Key != skewed.Key(1999) {
			t.Errorf("%s: a curve of %d points from %d to %d", x.Name, len(c), c[0].Key, c[len(c)-1].Key)
		}
		sum := uint64(0)
		for _, k := range x.Keys {
			sum += k
		}
		if sum != skewed.Len() {
			t.Errorf("%s: %d of %d keys are in sub-models", x.Name, sum, skewed.Len())
		}
	}
}

// 500 K sub-models of 14 bytes, and 8 bytes for each leaf of 100 M keys (§3.4.1).
func TestMemory(t *testing.T) {
	keys := dataset.Linear(1_000_000)
	in := &model.Initial{Keys: keys, Fill: 8, High: ^uint64(0)}
	m, err := MemoryOf(in, model.TopSpec{Kind: "lr"}, 100, 5000)
	if err != nil {
		t.Fatal(err)
	}
	if m[1].XModel != 5000*14+16 || m[1].TT < 1_000_000 || m[1].TT > 1_000_000+5000*8 || m[0].TT > m[1].TT {
		t.Errorf("%+v", m)
	}
}

// Curves, spreads and memory of whole figures: what must be equal is, and what follows from the options does.
func TestFigures(t *testing.T) {
	d, err := Places(PlacesOptions{Set: dataset.Options{Keys: 100, Seed: 1}, Sets: 3, Sub: SubOptions{Epochs: 50, Seeds: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Keys) != 100 || len(d.First) != 4 || len(d.Models) != 4 {
		t.Fatalf("%d keys, %d and %d models", len(d.Keys), len(d.First), len(d.Models))
	}
	for i, m := range d.Models {
		if m.MaxError < m.MeanError || m.MaxCI95 <= 0 || m.Bytes <= 0 {
			t.Errorf("%s: %+v", d.First[i].Name, m)
		}
	}
	if _, err := Places(PlacesOptions{}); err == nil {
		t.Error("no sets are accepted")
	}
	o := TopsOptions{Set: dataset.Options{Name: dataset.OrderLineName, Keys: 5000, Seed: 1}, SubModels: 50, Points: 40, Tops: []model.TopSpec{{Kind: "lr"}, {Kind: "mlr"}, {Kind: "pieces"}}}
	tops, err := Tops(o)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range tops.Models {
		if len(tops.Curves[i]) != 40 || len(m.Keys) != 50 || m.MaxError < m.MeanError {
			t.Errorf("%s: %d points, %d sub-models, errors %g and %g", m.Name, len(tops.Curves[i]), len(m.Keys), m.MaxError, m.MeanError)
		}
	}
	if lr, mlr := tops.Models[0], tops.Models[1]; mlr.Variance >= lr.Variance {
		t.Errorf("the fields of an order line give a variance of %g, the whole key %g", mlr.Variance, lr.Variance)
	}
	mem, err := MemoryOfSet(MemoryOptions{Set: dataset.Options{Name: dataset.LinearName, Keys: 100_000}, Counts: []uint32{50, 500}})
	if err != nil {
		t.Fatal(err)
	}
	if mem.Top != 16 || mem.Rows[1].XModel != 16+500*14 || mem.Tree.Leaves != 12_500 || mem.Tree.CacheBytes == 0 {
		t.Errorf("%+v", mem)
	}
}

// Errors are those of the leaves that a table cannot have, too: of a sub-model with more of them no line is tried, and the error
// of the sub-model before must not stand for it.
func TestErrorsWithoutALine(t *testing.T) {
	keys := make(model.Sorted, 0, 1<<21)
	for i := range 100 {
		keys = append(keys, uint64(i)*1_000_000)
	}
	for i := range model.MaxEntries + 2 {
		keys = append(keys, 1<<40+uint64(i))
	}
	top := Top(keys, 2, 2, step{})
	if want := float64(2 * (model.MaxEntries + 2)); top.MaxError < want-4 || top.Fallback == 0 {
		t.Errorf("an error of %g for %g positions, %d sub-models cannot predict", top.MaxError, want, top.Fallback)
	}
}

// step is a top model that sends the keys from 2^40 on to the second half of the sub-models.
type step struct{}

func (step) Predict(key uint64) float64 {
	if key >= 1<<40 {
		return 0.5
	}
	return 0
}
func (step) Invert(p float64) uint64 { return uint64(float64(p * (1 << 41))) }
func (step) Bytes() int              { return 8 }
func (step) Cycles() int             { return 1 }
func (step) Monotone() bool          { return true }
func (step) Name() string            { return "step" }
