package compare

import (
	"math"

	"drtmx/xstore/dataset"
	"drtmx/xstore/model"
)

// slots are those of a leaf in the thesis (§3.4.1).
const slots = 16

// TopModel is an alternative for the top model, with all sub-models below it trained.
type TopModel struct {
	Name  string
	Model *model.Model `json:"-"`
	Keys  []uint64     // that go to each sub-model (Figures 3-13b and 3-14b)
	// Variance of the number of keys of a sub-model.
	Variance float64
	// The error of a key is that of its sub-model, MinErr + MaxErr, in positions (Figure 3-7), whether it fits 8 bits or not: its
	// mean over the keys and its largest. Of more leaves than a table can have it is all of their slots.
	MeanError, MaxError float64
	// What XStore does by default is to measure errors by leaves. Then Leaves is the mean number of leaves that a lookup of a key
	// fetches, where clients can predict at all, and Fallback is the number of sub-models, FallbackKeys of keys, that clients have
	// to ask the server for.
	Leaves                 float64
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
	t.byPosition(in, slots)
	t.byLeaf(in, slots)
	return t
}

// byPosition trains the sub-models as Figure 3-7 does, and sets variance and errors.
func (t *TopModel) byPosition(in *model.Initial, slots int) {
	n, mean := float64(in.Keys.Len()), float64(in.Keys.Len())/float64(t.Model.M)
	tr := model.NewTrainer(model.Config{Slots: slots})
	tr.All(in, t.Model, 0, func(m uint32, s model.Sub, _ []model.Entry) {
		count := float64(t.Keys[m])
		t.Variance += float64((count-mean)*(count-mean)) / float64(t.Model.M)
		if count == 0 {
			return
		}
		above, below := tr.Errors()
		e := float64(above + below)
		if s.Fallback() {
			span := t.Model.Span(m)
			if leaves := int64(in.LeafOf(span.High)) - int64(in.LeafOf(span.Low)) + 1; leaves > model.MaxEntries { // no line was tried
				e = float64(leaves * int64(slots))
			}
		}
		t.MeanError += float64(count*e) / n
		t.MaxError = max(t.MaxError, e)
	})
}

// byLeaf trains them as XStore does by default, and counts what lookups fetch.
func (t *TopModel) byLeaf(in *model.Initial, slots int) {
	x := t.Model
	subs := make([]model.Sub, x.M)
	tr := model.NewTrainer(model.Config{Slots: slots, LeafErrors: true})
	tr.All(in, x, 0, func(m uint32, s model.Sub, _ []model.Entry) {
		if subs[m] = s; s.Fallback() {
			t.Fallback++
			t.FallbackKeys += t.Keys[m]
		}
	})
	fetched := uint64(0)
	for i := range in.Keys.Len() {
		key := in.Keys.Key(i)
		m := x.Sub(key)
		if first, last := subs[m].Range(x.Base(m), key, slots); first <= last {
			fetched += uint64(last - first + 1)
		}
	}
	if predicted := in.Keys.Len() - t.FallbackKeys; predicted > 0 {
		t.Leaves = float64(fetched) / float64(predicted)
	}
}

// Curve are n points of the distribution as the top model has learned it (Figures 3-13a and 3-14a), at evenly spaced ranks from
// the first to the last.
func (t *TopModel) Curve(keys model.Keys, n int) (points []Point) {
	all := keys.Len()
	n = min(n, int(all))
	for i := range n {
		rank := uint64(i) * (all - 1) / uint64(max(n-1, 1))
		key := keys.Key(rank)
		points = append(points, Point{key, float64(rank) / float64(all), t.Model.Top.Predict(key)})
	}
	return points
}

// TopsOptions are those of Tops. Zero fields are defaults.
type TopsOptions struct {
	Set       dataset.Options
	SubModels uint32
	Slots     int             // of a leaf: 16
	Tops      []model.TopSpec // the fields of mlr are those of the set's keys
	Points    int             // of each curve; 0: no curves
}

// TopsData is Figure 3-13 or 3-14.
type TopsData struct {
	Models []TopModel
	Curves [][]Point // of each model
}

// Tops compares top models on a set of keys.
func Tops(o TopsOptions) (*TopsData, error) {
	set, err := dataset.Make(o.Set)
	if err != nil {
		return nil, err
	}
	if o.Slots == 0 {
		o.Slots = slots
	}
	var keys model.Keys = set
	if o.Set.Name != dataset.LinearName { // whose keys are as fast
		keys = model.Sorted(dataset.Append(nil, set, 0, set.Len()))
	}
	d := &TopsData{}
	for _, spec := range o.Tops {
		if spec.Kind == "mlr" {
			spec.Fields = dataset.Predictors(set)
		}
		top, err := model.TrainTop(spec, keys)
		if err != nil {
			return nil, err
		}
		t := Top(keys, o.SubModels, o.Slots, top)
		if o.Points > 0 {
			d.Curves = append(d.Curves, t.Curve(keys, o.Points))
		}
		d.Models = append(d.Models, t)
	}
	return d, nil
}
