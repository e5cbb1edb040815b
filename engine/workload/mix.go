package workload

import (
	"fmt"

	"drtmx/engine/r2"
)

// Mix picks transaction types by weight.
type Mix struct {
	names   []string
	weights []int
	total   int
}

// NewMix makes a mix of the named types.
func NewMix(names []string, weights []int) (*Mix, error) {
	if len(names) != len(weights) {
		return nil, fmt.Errorf("mix of %d types has %d weights", len(names), len(weights))
	}
	m := &Mix{names: append([]string(nil), names...), weights: make([]int, len(names))}
	for i, w := range weights {
		if w < 0 {
			return nil, fmt.Errorf("mix.%s %d: a weight is at least 0", names[i], w)
		}
		m.weights[i] = w
		m.total += w
	}
	if m.total == 0 {
		return nil, fmt.Errorf("mix of %v: all weights are 0; give one of them a positive weight", names)
	}
	return m, nil
}

// Types are the names, in the order of Pick's numbers.
func (m *Mix) Types() []string { return m.names }

// Set changes one weight. The others stay as they are.
func (m *Mix) Set(name string, weight int) error {
	for i, n := range m.names {
		if n != name {
			continue
		}
		switch {
		case weight < 0:
			return fmt.Errorf("mix.%s %d: a weight is at least 0", name, weight)
		case m.total-m.weights[i]+weight == 0:
			return fmt.Errorf("mix.%s 0: no other type has a weight; raise another first", name)
		}
		m.total += weight - m.weights[i]
		m.weights[i] = weight
		return nil
	}
	return fmt.Errorf("mix.%s: the types are %v", name, m.names)
}

// Add appends a type and returns its number.
func (m *Mix) Add(name string, weight int) (int, error) {
	for _, n := range m.names {
		if n == name {
			return 0, fmt.Errorf("transaction type %q exists already", name)
		}
	}
	if name == "" || weight < 0 {
		return 0, fmt.Errorf("transaction type %q with weight %d: a name and a weight of at least 0", name, weight)
	}
	m.names = append(m.names, name)
	m.weights = append(m.weights, weight)
	m.total += weight
	return len(m.names) - 1, nil
}

// Pick draws a type.
func (m *Mix) Pick(r *r2.Rand) int {
	u := int(r.Uint64n(uint64(m.total)))
	for i, w := range m.weights {
		if u < w {
			return i
		}
		u -= w
	}
	panic("workload: weights do not add up to their total")
}
