package model

import (
	"fmt"
	"math/bits"
	"slices"
)

// Top is a top model: it learns how keys are distributed. LR, MLR, NN and Pieces are; a custom model implements it.
type Top interface {
	// Predict is the share of the keys that are below key, in [0, 1). It must be a pure function that is equal on all machines:
	// clients and servers call it for themselves.
	Predict(key uint64) float64
	// Bytes is the memory of its parameters.
	Bytes() int
	// Cycles is what a prediction costs a core.
	Cycles() int
	// Monotone promises that no key's prediction is below a lower key's, rounding included.
	Monotone() bool
	Name() string
}

// Inverter is what a monotone top model may have: a key near which it predicts p, in closed form. Without it every sub-model
// needs 16 bytes more, see Model.Tabled.
type Inverter interface {
	Invert(p float64) uint64
}

// TopSpec says which top model to train. Zero fields are defaults.
type TopSpec struct {
	Kind string // lr, mlr, nn or pieces; lr
	// Sample is the number of keys to train with, evenly spaced by rank: "the top model can be trained over a sampled data"
	// (thesis §3.4.1). 65,536, and 1,024 for nn, whose training reads each of them many times. Negative: all.
	Sample int
	// Fields are the predictors of mlr: the parts of a composite key. It has no default.
	Fields []Field
	// Hidden are the neurons of the hidden layers of nn: 8 (thesis Figure 3-13). Activation is sigmoid or relu; sigmoid.
	Hidden     []int
	Activation string
	Epochs     int    // of nn, see NNOptions
	Seed       uint64 // of nn
	// Eps bounds the error of pieces, as a share of the keys: 1/2,048.
	Eps float64
}

// TopKinds are the kinds of top models, as TopSpec names them.
func TopKinds() []string { return []string{"lr", "mlr", "nn", "pieces"} }

const (
	defaultSample   = 1 << 16
	defaultSampleNN = 1 << 10
	defaultEps      = 1.0 / 2048
)

// TrainTop trains a top model.
func TrainTop(spec TopSpec, keys Keys) (Top, error) {
	if spec.Kind == "" {
		spec.Kind = "lr"
	}
	if !slices.Contains(TopKinds(), spec.Kind) {
		return nil, fmt.Errorf("top model %q: one of %v", spec.Kind, TopKinds())
	}
	size := defaultSample
	if spec.Kind == "nn" {
		size = defaultSampleNN
	}
	if spec.Sample != 0 {
		size = spec.Sample
	}
	s := sampleKeys(keys, size)
	switch spec.Kind {
	case "mlr":
		return trainMLR(s, spec.Fields)
	case "nn":
		return trainNNTop(s, spec)
	case "pieces":
		if spec.Eps == 0 {
			spec.Eps = defaultEps
		}
		return trainPieces(s, spec.Eps)
	}
	return trainLR(s), nil
}

// sample are keys and the share of all keys that is below the middle of each.
type sample struct {
	keys []uint64
	y    []float64
}

// sampleKeys picks n keys of evenly spaced ranks, or all.
func sampleKeys(keys Keys, n int) sample {
	all := keys.Len()
	size := all
	if n >= 0 {
		size = min(all, uint64(n))
	}
	s := sample{make([]uint64, size), make([]float64, size)}
	for i := range s.keys {
		hi, lo := bits.Mul64(uint64(2*i+1), all)
		rank, _ := bits.Div64(hi, lo, 2*size) // size is not 0 here
		s.keys[i] = keys.Key(rank)
		s.y[i] = (float64(rank) + 0.5) / float64(all)
	}
	return s
}

// inUnit brings a prediction into [0, 1).
func inUnit(p float64) float64 {
	switch {
	case p >= 1:
		return below1
	case p > 0:
		return p
	}
	return 0
}

// below1 is the largest number below 1.
const below1 = 1 - 1.0/(1<<53)
