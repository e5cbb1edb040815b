package txn

import "drtmx/engine/r2"

// Pool is the memory of what a session keeps of its accesses. They stay where they are for ever.
type Pool[A any] struct{ blocks [][]A }

// At is the place of an attempt's n-th access, 0 the first. All before it have been asked for.
func (p *Pool[A]) At(n int) *A {
	for _, block := range p.blocks {
		if n < len(block) {
			return &block[n]
		}
		n -= len(block)
	}
	block := make([]A, 4<<len(p.blocks))
	p.blocks = append(p.blocks, block)
	return &block[0]
}

// Ahead asks the host for the first of n accesses.
func (p *Pool[A]) Ahead(n int) {
	if n > 0 {
		block := p.blocks[0]
		r2.PrefetchAll(block[:min(n, len(block))])
	}
}
