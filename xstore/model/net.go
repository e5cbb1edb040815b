package model

import "fmt"

// Net is a fully-connected neural net with one linear output.
type Net struct {
	widths []int // inputs, then the neurons of each hidden layer
	relu   bool
	// Of each neuron its bias and a weight for each input, layer by layer; the output comes last. They are trained with 64 bits
	// and rounded to the 32 that they are stored with.
	weights []float64
}

// widest is the most inputs or neurons that a layer can have.
const widest = 64

// NewNet checks a shape. Activation "" is sigmoid.
func NewNet(inputs int, hidden []int, activation string) (*Net, error) {
	if activation != "" && activation != "sigmoid" && activation != "relu" {
		return nil, fmt.Errorf("neural net: activation %q: sigmoid or relu", activation)
	}
	n := &Net{widths: append([]int{inputs}, hidden...), relu: activation == "relu"}
	size := n.widths[len(hidden)] + 1
	for i, w := range n.widths {
		if w < 1 || w > widest {
			return nil, fmt.Errorf("neural net: %d inputs and layers of %v neurons: 1 to %d each", inputs, hidden, widest)
		}
		if i > 0 {
			size += w * (n.widths[i-1] + 1)
		}
	}
	n.weights = make([]float64, size)
	return n, nil
}

// sum is what a neuron makes of its inputs, before activation. w is its bias and weights.
func sum(w, inputs []float64) float64 {
	s := w[0]
	for i, x := range inputs {
		s += float64(w[i+1] * x)
	}
	return s
}

func (n *Net) activate(x float64) float64 {
	if n.relu {
		return max(x, 0)
	}
	return sigmoid(x)
}

// Predict is the output for an input.
func (n *Net) Predict(input []float64) float64 {
	var layers [2][widest]float64
	w, in := n.weights, input
	for i, width := range n.widths[1:] {
		out := layers[i%2][:width]
		for j := range out {
			out[j] = n.activate(sum(w, in))
			w = w[len(in)+1:]
		}
		in = out
	}
	return sum(w, in)
}

// Bytes is the memory of the parameters, 4 bytes each.
func (n *Net) Bytes() int { return 4 * len(n.weights) }

// Cycles of a core, assumed: products and sums of a layer's neurons do not wait for each other, two for each cycle without
// vector instructions; a sigmoid's exponential is 12 products and 12 sums and its division takes about 14 cycles, and two
// neurons' overlap; a ReLU is one comparison. A net of 64 sigmoid neurons takes 1,900 cycles then, below the microsecond that
// the thesis reports for it (§3.5.1).
const (
	cyclesSigmoid = 28
	cyclesReLU    = 1
	cyclesNet     = 30 // the input's normalisation, the last sum and the bounds
)

func (n *Net) Cycles() int {
	neurons := 0
	for _, w := range n.widths[1:] {
		neurons += w
	}
	c := cyclesNet + len(n.weights)/2
	if n.relu {
		return c + neurons*cyclesReLU
	}
	return c + neurons*cyclesSigmoid
}
