package model

import "fmt"

// NN is a small neural net as a top model. Its input is the key's distance from the mean key, in standard deviations.
type NN struct {
	net   *Net
	mean  uint64
	scale float64
}

func trainNNTop(s sample, spec TopSpec) (*NN, error) {
	hidden := spec.Hidden
	if len(hidden) == 0 {
		hidden = []int{8}
	}
	net, err := NewNet(1, hidden, spec.Activation)
	if err != nil {
		return nil, err
	}
	t := &NN{net: net}
	if len(s.keys) == 0 {
		return t, nil
	}
	t.mean, t.scale = standardise(s.keys)
	rows := make([][]float64, len(s.keys))
	for i, k := range s.keys {
		rows[i] = []float64{float64(distance(t.mean, k) * t.scale)}
	}
	net.Learn(rows, s.y, Learning{Epochs: spec.Epochs, Seed: spec.Seed})
	return t, nil
}

// standardise are the mean of rising keys and one over their standard deviation.
func standardise(keys []uint64) (mean uint64, scale float64) {
	var sum, squares float64
	for _, k := range keys {
		sum += float64(k - keys[0])
	}
	mean = offset(keys[0], sum/float64(len(keys)))
	for _, k := range keys {
		d := distance(mean, k)
		squares += float64(d * d)
	}
	if squares == 0 {
		return mean, 1
	}
	return mean, 1 / sqrt(squares/float64(len(keys)))
}

// Predict implements Top.
func (t *NN) Predict(key uint64) float64 {
	in := [1]float64{float64(distance(t.mean, key) * t.scale)}
	return inUnit(t.net.Predict(in[:]))
}

// Bytes implements Top: the weights, and the mean and the scale of keys.
func (t *NN) Bytes() int     { return t.net.Bytes() + 16 }
func (t *NN) Cycles() int    { return t.net.Cycles() }
func (t *NN) Monotone() bool { return false } // nothing keeps a weight from being negative
func (t *NN) Name() string {
	kind := "sigmoid"
	if t.net.relu {
		kind = "ReLU"
	}
	return fmt.Sprintf("NN of %v %s", t.net.widths[1:], kind)
}
