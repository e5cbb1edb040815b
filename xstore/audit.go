package xstore

import (
	"fmt"

	"drtmx/xstore/published"
	"drtmx/xstore/tree"
)

// Audit looks at the trees, and whether the models find every key at rest: in the leaf that the table names, or by asking the
// server where training has given up. Models that are not retrained, or that still wait for it, are left out, and servers that are
// down or recover.
func (s *Store) Audit(bad func(text string)) {
	for _, p := range s.parts {
		if !s.cl.Up(p.server) {
			continue
		}
		p.tree.Audit(bad)
		if s.opt.Trainers > 0 && s.opt.Cache.learned() && s.Pending() == 0 {
			p.auditModel(p.current, bad)
		}
	}
}

// auditModel predicts every key, and the ends of what is routed to each leaf, which stand for all absent keys: predictions
// rise with keys. It leaves out the leaves that are untouched and whose sub-models are what they were at the start.
func (p *part) auditModel(v *published.Version, bad func(text string)) {
	mem := p.s.cl.Mem(p.server)
	faults, changed := 0, v.Changed(mem)
	also := func(low, high uint64) bool {
		return v.Model.Tabled() || changed[v.Model.Sub(low)] < changed[v.Model.Sub(high)+1]
	}
	p.tree.EachTouched(also, func(l *tree.Leaf) bool {
		if l.High < p.low {
			return true
		}
		check := func(key uint64, what string) {
			if why := v.Misses(mem, p.layout.Slots, l.ALN, l.INCA, key); why != "" && faults < maxFaults {
				faults++
				bad(fmt.Sprintf("machine %d: %s %d of leaf %d: %s", p.server, what, key, l.ALN, why))
			}
		}
		check(max(l.Low, p.low), "lowest key")
		check(min(l.High, p.high), "highest key")
		for _, k := range l.Keys {
			check(k, "key")
		}
		return faults < maxFaults
	})
}

// maxFaults is how many an audit names.
const maxFaults = 10
