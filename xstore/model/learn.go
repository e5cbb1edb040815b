package model

import "math/rand/v2"

// Learning is how a neural net is trained: stochastic gradient descent in small batches, the step of each weight scaled by the
// recent size of its gradient (Adam). Everything is summed in one order, so equal seeds give equal weights on all machines. Zero
// fields are defaults.
type Learning struct {
	Epochs int // how often every sample is read: 1,000
	Batch  int // samples of a step: 32
	// Rate is the size of the first steps; it falls to 0. 0.02.
	Rate float64
	Seed uint64 // of the first weights and of the samples' order
}

const (
	defaultEpochs = 1000
	defaultBatch  = 32
	defaultRate   = 0.02
	momentum      = 0.9 // how much of the mean gradient stays, as in the article on Adam
	memory        = 0.999
	tiny          = 1e-8
)

// learner has what training needs beside the net.
type learner struct {
	*Net
	layers         [][]float64 // activations of inputs and hidden layers
	errors         [][]float64 // gradient by each of them
	gradient       []float64
	mean, variance []float64
	rng            *rand.Rand
	steps          int
	keepMean       float64 // momentum and memory to the power of steps
	keepVariance   float64
}

// Learn trains a net on rows and returns the number of products that it took.
func (n *Net) Learn(rows [][]float64, y []float64, o Learning) (work int64) {
	if o.Epochs == 0 {
		o.Epochs = defaultEpochs
	}
	if o.Batch == 0 {
		o.Batch = defaultBatch
	}
	if o.Rate == 0 {
		o.Rate = defaultRate
	}
	l := &learner{Net: n, rng: rand.New(rand.NewPCG(o.Seed, 0)), keepMean: 1, keepVariance: 1}
	for _, w := range n.widths {
		l.layers = append(l.layers, make([]float64, w))
		l.errors = append(l.errors, make([]float64, w))
	}
	l.gradient, l.mean, l.variance = make([]float64, len(n.weights)), make([]float64, len(n.weights)), make([]float64, len(n.weights))
	l.start()
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	total := o.Epochs * ((len(rows) + o.Batch - 1) / o.Batch)
	for range o.Epochs {
		l.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for from := 0; from < len(order); from += o.Batch {
			batch := order[from:min(from+o.Batch, len(order))]
			for _, i := range batch {
				l.backward(l.forward(rows[i]) - y[i])
			}
			left := 1 - float64(l.steps)/float64(total)
			l.step(float64(o.Rate*left), float64(len(batch)))
		}
	}
	for i, w := range n.weights {
		n.weights[i] = float64(float32(w))
	}
	return 3 * int64(len(n.weights)) * int64(len(rows)) * int64(o.Epochs) // forward, and two products for each weight backward
}

// start draws the first weights of a neuron evenly from -1/sqrt(inputs) to 1/sqrt(inputs), as PyTorch does.
func (l *learner) start() {
	w := l.weights
	for i, inputs := range l.widths {
		neurons := 1
		if i+1 < len(l.widths) {
			neurons = l.widths[i+1]
		}
		for j := range neurons * (inputs + 1) {
			w[j] = (float64(2*l.rng.Float64()) - 1) / sqrt(float64(inputs))
		}
		w = w[neurons*(inputs+1):]
	}
}

// forward is the output for an input. The activations stay.
func (l *learner) forward(input []float64) float64 {
	copy(l.layers[0], input)
	w := l.weights
	for i := 1; i < len(l.layers); i++ {
		in := l.layers[i-1]
		for j := range l.layers[i] {
			l.layers[i][j] = l.activate(sum(w, in))
			w = w[len(in)+1:]
		}
	}
	return sum(w, l.layers[len(l.layers)-1])
}

// backward adds the gradient of the squared error of the last output, off by e.
func (l *learner) backward(e float64) {
	last := len(l.layers) - 1
	at := len(l.weights) - l.widths[last] - 1
	clear(l.errors[last])
	l.share(at, e, last)
	for i := last; i > 0; i-- {
		in := i - 1
		clear(l.errors[in])
		at -= l.widths[i] * (l.widths[in] + 1)
		for j, a := range l.layers[i] {
			d := l.errors[i][j]
			switch {
			case !l.relu:
				d = float64(d*a) * (1 - a)
			case a <= 0:
				continue
			}
			l.share(at+j*(l.widths[in]+1), d, in)
		}
	}
}

// share gives a neuron's error e to its weights, which begin at at, and to the layer that feeds it.
func (l *learner) share(at int, e float64, layer int) {
	l.gradient[at] += e
	for i, a := range l.layers[layer] {
		l.gradient[at+1+i] += float64(e * a)
		l.errors[layer][i] += float64(e * l.weights[at+1+i])
	}
}

// step moves the weights against the mean gradient of a batch.
func (l *learner) step(rate, batch float64) {
	l.steps++
	l.keepMean *= momentum
	l.keepVariance *= memory
	for i := range l.weights {
		g := l.gradient[i] / batch
		l.gradient[i] = 0
		l.mean[i] = float64(momentum*l.mean[i]) + float64((1-momentum)*g)
		l.variance[i] = float64(memory*l.variance[i]) + float64(float64((1-memory)*g)*g)
		m := l.mean[i] / (1 - l.keepMean)
		v := l.variance[i] / (1 - l.keepVariance)
		l.weights[i] -= float64(rate*m) / (sqrt(v) + tiny)
	}
}
