package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"drtmx/xstore/model"
)

// Vector is a key of two floats, 8 bytes (Figure 3-12).
type Vector [2]float32

// SubModel is an alternative for the model of a few keys.
type SubModel struct {
	Name     string
	Position []float64 // that it predicts for each key, in the order of the keys
	// The error by which a lookup has to widen its search: the largest of any key, and the mean over all keys, in positions.
	MaxError, MeanError float64
	Bytes               int   // of its parameters
	Work                int64 // products that its training took
}

// SubOptions are those of SubModels. Zero fields are defaults.
type SubOptions struct {
	// Hidden are the neurons of the ReLU net's hidden layers: 4, 4 and 4. With a third hidden layer the net has 228 bytes, 29
	// times those of a line, within the 256 that it may have (thesis §3.5.2); with two it has 148.
	Hidden []int
	Epochs int // of the net: 3,000
	// Seeds is how many nets are trained, of which the best is taken, as the thesis tunes its net: 4.
	Seeds int
	Eps   float64 // error of the pieces as a share of the keys: 0.05
}

func (o *SubOptions) fill() {
	if o.Hidden == nil {
		o.Hidden = []int{4, 4, 4}
	}
	if o.Epochs == 0 {
		o.Epochs = 3000
	}
	if o.Seeds == 0 {
		o.Seeds = 4
	}
	if o.Eps == 0 {
		o.Eps = 0.05
	}
}

// SubModels are the alternatives of Figure 3-12 on keys in order of their first, then their second number: a neural net, a line,
// three lines with a third of the keys each, and, beyond the thesis, pieces with a bounded error.
func SubModels(keys []Vector, o SubOptions) ([]SubModel, error) {
	o.fill()
	if len(keys) < 3 || !slices.IsSortedFunc(keys, compareVectors) {
		return nil, fmt.Errorf("%d vectors: at least 3, in rising order", len(keys))
	}
	rows, y := normal(keys)
	net, err := bestNet(rows, y, o)
	if err != nil {
		return nil, err
	}
	one := lines(rows, y, 1)
	one.Name = "1-LR"
	three := lines(rows, y, 3)
	three.Name = "3-LR"
	p, err := pieces(keys, o.Eps)
	if err != nil {
		return nil, err
	}
	return []SubModel{net, one, three, p}, nil
}

func compareVectors(a, b Vector) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }

// normal are the vectors with mean 0 and deviation 1 in each dimension, and the keys' ranks as shares.
func normal(keys []Vector) (rows [][]float64, y []float64) {
	rows, y = make([][]float64, len(keys)), make([]float64, len(keys))
	n := float64(len(keys))
	for i := range keys {
		rows[i] = make([]float64, 2)
		y[i] = float64(i) / n
	}
	for d := range 2 {
		var mean, squares float64
		for _, k := range keys {
			mean += float64(k[d]) / n
		}
		for i, k := range keys {
			rows[i][d] = float64(k[d]) - mean
			squares += float64(rows[i][d] * rows[i][d])
		}
		if squares > 0 {
			for i := range rows {
				rows[i][d] /= math.Sqrt(squares / n)
			}
		}
	}
	return rows, y
}

// errors sets a model's errors by its positions.
func (s *SubModel) errors() {
	s.MaxError, s.MeanError = 0, 0
	for i, p := range s.Position {
		e := math.Abs(p - float64(i))
		s.MaxError = max(s.MaxError, e)
		s.MeanError += e / float64(len(s.Position))
	}
}

func bestNet(rows [][]float64, y []float64, o SubOptions) (best SubModel, err error) {
	work := int64(0)
	for seed := range o.Seeds {
		net, err := model.NewNet(2, o.Hidden, "relu")
		if err != nil {
			return best, err
		}
		work += net.Learn(rows, y, model.Learning{Epochs: o.Epochs, Batch: 10, Seed: uint64(seed)})
		s := SubModel{Name: "1-NN", Bytes: net.Bytes()}
		for _, row := range rows {
			s.Position = append(s.Position, float64(net.Predict(row)*float64(len(rows))))
		}
		s.errors()
		if seed == 0 || s.MaxError < best.MaxError {
			best = s
		}
	}
	best.Work = work
	return best, nil
}

// lines are so many linear regressions, each with an equal share of the keys.
func lines(rows [][]float64, y []float64, n int) SubModel {
	s := SubModel{}
	for i := range n {
		from, to := i*len(rows)/n, (i+1)*len(rows)/n
		w, intercept := model.Regress(rows[from:to], y[from:to])
		for _, row := range rows[from:to] {
			p := float64(float32(intercept))
			for j, x := range row {
				p += float64(float64(float32(w[j])) * x)
			}
			s.Position = append(s.Position, float64(p*float64(len(rows))))
		}
		s.Bytes += 4 * (len(w) + 1)
		s.Work += int64(to-from) * 5 // the spreads of two predictors and the ranks, and the products of both with each other
	}
	s.errors()
	return s
}

// pieces is the piecewise linear model over the vectors as numbers in the same order.
func pieces(keys []Vector, eps float64) (SubModel, error) {
	numbers := make(model.Sorted, len(keys))
	for i, k := range keys {
		numbers[i] = uint64(ordered(k[0]))<<32 | uint64(ordered(k[1]))
	}
	top, err := model.TrainTop(model.TopSpec{Kind: "pieces", Sample: -1, Eps: eps}, numbers)
	if err != nil {
		return SubModel{}, err
	}
	s := SubModel{Name: top.Name(), Bytes: top.Bytes(), Work: 2 * int64(len(keys))}
	for _, k := range numbers {
		s.Position = append(s.Position, float64(top.Predict(k)*float64(len(keys)))-0.5) // it predicts the middle of a key's share
	}
	s.errors()
	return s, nil
}

// ordered is a number whose order as an integer is that of the float.
func ordered(f float32) uint32 {
	b := math.Float32bits(f)
	if b>>31 != 0 {
		return ^b
	}
	return b | 1<<31
}
