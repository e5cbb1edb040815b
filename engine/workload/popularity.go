package workload

import (
	"fmt"

	"drtmx/engine/r2"
)

// Popularity draws items of [0, n) by a zipfian distribution, its popular ranks taken apart. With the
// constant 0 it is off: all items are equally popular.
type Popularity struct {
	n       uint64
	scatter Scatter
	zipf    *Zipf // nil: off
}

// NewPopularity makes one.
func NewPopularity(n uint64, theta float64) (Popularity, error) {
	p := Popularity{n: n, scatter: NewScatter(n)}
	return p, p.Set(theta)
}

// Set takes a value of the knob workload.theta.
func (p *Popularity) Set(value any) error {
	theta, ok := value.(float64)
	if !ok {
		return fmt.Errorf("workload.theta %v: a number is needed", value)
	}
	if theta == 0 {
		p.zipf = nil
		return nil
	}
	z, err := NewZipf(p.n, theta)
	if err != nil {
		return fmt.Errorf("workload.theta: %w", err)
	}
	p.zipf = z
	return nil
}

// Skewed says whether the constant is above 0.
func (p *Popularity) Skewed() bool { return p.zipf != nil }

// Draw draws an item.
func (p *Popularity) Draw(r *r2.Rand) uint64 {
	if p.zipf == nil {
		return r.Uint64n(p.n)
	}
	return p.scatter.At(p.zipf.Draw(r))
}

// At is the item of a rank, the most popular first, on or off.
func (p *Popularity) At(rank uint64) uint64 { return p.scatter.At(rank) }

// Beside is the item of a server next to this one, where items are dealt to servers in turn (see
// store.Stripes). So a server's items are as unequally popular as all together. A server that has
// none leaves the item as it is.
func (p *Popularity) Beside(item, servers, server uint64) uint64 {
	if server >= p.n {
		return item
	}
	if item = item - item%servers + server; item >= p.n { // behind the last of that server
		item -= servers
	}
	return item
}
