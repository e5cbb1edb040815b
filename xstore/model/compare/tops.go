package compare

import (
	"math"

	"drtmx/xstore/model"
)

// TopModel is an alternative for the top model, with all sub-models below it trained.
type TopModel struct {
	Name  string
	Model *model.Model
	Keys  []uint64 // that go to each sub-model (Figures 3-13b and 3-14b)
	// Variance of the number of keys of a sub-model.
	Variance float64
	// The error of a key is that of its sub-model, MinErr + MaxErr, in positions, whether it fits 8 bits or not: its mean over
	// the keys and its largest.
	MeanError, MaxError float64
	// Leaves is the mean number of leaves that a lookup of a key fetches, where clients can predict at all.
	Leaves float64
	// Fallback is the number of sub-models, and FallbackKeys of keys, that clients have to ask the server for.
	Fallback, FallbackKeys uint64
	Bytes                  int // of the top model, its table and the sub-models
	Cycles                 int // of a prediction
}

// Point is a key, the share of the keys below it, and what a model predicts for that.
type Point struct {
	Key             uint64
	True, Predicted float64
}

// TopModels trains a model of m sub-models over leaves of so many slots, half full, for each description.
func TopModels(keys model.Keys, m uint32, slots int, specs ...model.TopSpec) ([]TopModel, error) {
	var all []TopModel
	for _, spec := range specs {
		top, err := model.TrainTop(spec, keys)
		if err != nil {
			return nil, err
		}
		all = append(all, Top(keys, m, slots, top))
	}
	return all, nil
}

// Top trains the sub-models below a top model, a custom one perhaps.
func Top(keys model.Keys, m uint32, slots int, top model.Top) TopModel {
	in := &model.Initial{Keys: keys, Fill: max(slots/2, 1), High: math.MaxUint64}
	x := model.NewModel(top, m, keys, in.Low, in.High)
	t := TopModel{Name: top.Name(), Model: x, Keys: make([]uint64, x.M), Bytes: x.Bytes() + int(x.M)*model.SubBytes, Cycles: top.Cycles() + model.SubCycles}
	for i := range keys.Len() {
		t.Keys[x.Sub(keys.Key(i))]++
	}
	subs := make([]model.Sub, x.M)
	tr := model.NewTrainer(model.Config{Slots: slots})
	n, mean := float64(keys.Len()), float64(keys.Len())/float64(x.M)
	tr.All(in, x, 0, func(m uint32, s model.Sub, _ []model.Entry) {
		subs[m] = s
		count := float64(t.Keys[m])
		t.Variance += float64((count-mean)*(count-mean)) / float64(x.M)
		if s.Fallback() {
			t.Fallback++
			t.FallbackKeys += t.Keys[m]
		}
		if count > 0 {
			above, below := tr.Errors()
			t.MeanError += float64(count*float64(above+below)) / n
			t.MaxError = max(t.MaxError, float64(above+below))
		}
	})
	fetched := uint64(0)
	for i := range keys.Len() {
		key := keys.Key(i)
		m := x.Sub(key)
		if first, last := subs[m].Range(x.Base(m), key, slots); first <= last {
			fetched += uint64(last - first + 1)
		}
	}
	if predicted := keys.Len() - t.FallbackKeys; predicted > 0 {
		t.Leaves = float64(fetched) / float64(predicted)
	}
	return t
}

// Curve are n points of the distribution as the top model has learned it (Figures 3-13a and 3-14a), at evenly spaced ranks.
func (t *TopModel) Curve(keys model.Keys, n int) (points []Point) {
	all := keys.Len()
	n = min(n, int(all))
	for i := range n {
		rank := all / uint64(n) * uint64(i)
		key := keys.Key(rank)
		points = append(points, Point{key, float64(rank) / float64(all), t.Model.Top.Predict(key)})
	}
	return points
}
