package tree

import "drtmx/engine/r2"

// htmLock and region stand in for r2's: a body under the fallback lock.
type htmLock struct{ Addr r2.Addr }

type region struct{ c *r2.Co }

func (t *Tree) htm(c *r2.Co, body func(r *region)) {
	for c.LocalCAS(t.lock.Addr, 0, uint64(c.ID())+1) != 0 {
	}
	body(&region{c})
	c.Store64(t.lock.Addr, 0)
}

func (r *region) Load(a r2.Addr, n int) []byte { return r.c.Load(a, n) }
func (r *region) Load64(a r2.Addr) uint64      { return r.c.Load64(a) }
func (r *region) Store(a r2.Addr, b []byte)    { r.c.Store(a, b) }
func (r *region) Store64(a r2.Addr, v uint64)  { r.c.Store64(a, v) }
func (r *region) Compute(cycles int)           { r.c.Compute(cycles) }
