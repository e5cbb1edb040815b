package xstore

import (
	"bytes"
	"fmt"

	"drtmx/engine/fabric/host"

	"drtmx/xstore/tree"
)

// Audit looks at the trees, and whether the models find every key at rest: in the leaf that the table names, or by asking the
// server where training has given up. Models that nobody retrains, or that still wait for it, are left out, and servers that are
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
// rise with keys. It leaves out the leaves that nobody has touched and whose sub-models are what they were at the start.
func (p *part) auditModel(v *version, bad func(text string)) {
	faults, changed := 0, v.changed(p.s.cl.Mem(p.server))
	also := func(low, high uint64) bool {
		return v.model.Tabled() || changed[v.model.Sub(low)] < changed[v.model.Sub(high)+1]
	}
	p.tree.EachTouched(also, func(l *tree.Leaf) bool {
		if l.High < p.low {
			return true
		}
		check := func(key uint64, what string) {
			if why := p.misses(v, l, key); why != "" && faults < maxFaults {
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

// changed counts, for each sub-model and behind the last, how many of those before it are not as at the start.
func (v *version) changed(mem *host.Memory) []uint32 {
	n := make([]uint32, v.model.M+1)
	for m := range v.model.M {
		if n[m+1] = n[m]; !v.asAtStart(m, mem) {
			n[m+1]++
		}
	}
	return n
}

// asAtStart says that the server has not changed a sub-model and its table.
func (v *version) asAtStart(m uint32, mem *host.Memory) bool {
	if v.image == nil {
		return false
	}
	if at := v.subLoc(m).Addr; mem.Touched(at, uint64(v.subBytes)) {
		if s, _ := v.parse(mem.Bytes(at, v.subBytes)); s != v.image.sub(m) {
			return false
		}
	}
	if p, isFar := v.farAt[m]; isFar && mem.Touched(v.lineLoc(p.line).Addr, uint64(p.lines)*lineBytes) {
		return false
	}
	for line := m * v.stride; line < (m+1)*v.stride; line++ {
		var was [lineBytes]byte
		if at := v.lineLoc(line).Addr; mem.Touched(at, lineBytes) {
			if v.fillLine(line, was[:]); !bytes.Equal(was[:], mem.Bytes(at, lineBytes)) {
				return false
			}
		}
	}
	return true
}

// maxFaults is how many an audit names.
const maxFaults = 10

// misses says why a client that knows the server's models would not look into the leaf for a key; "": it would, or it would ask
// the server.
func (p *part) misses(v *version, l *tree.Leaf, key uint64) string {
	mem := p.s.cl.Mem(p.server)
	m := v.model.Sub(key)
	s, span := v.parse(mem.Bytes(v.subLoc(m).Addr, v.subBytes))
	if s.Fallback() || v.model.Tabled() && (span.Empty() || key < span.Low || key > span.High) {
		return ""
	}
	base := v.model.Base(m)
	if v.model.Tabled() {
		base = v.model.BaseOf(span)
	}
	first, last := s.Range(base, key, p.layout.Slots)
	line := m * v.stride
	if linesFor(uint32(s.Entries())) > v.stride {
		line = v.farAt[m].line
	}
	for i := first; i <= last; i++ {
		t := ttLine(mem.Bytes(v.lineLoc(line+uint32(i)/lineEntries).Addr, lineBytes))
		if t.generation() != s.Generation() {
			return fmt.Sprintf("sub-model %d has generation %d, its table %d", m, s.Generation(), t.generation())
		}
		if e := t.entry(uint32(i) % lineEntries); e.ALN() == l.ALN {
			if e.INCA() != l.INCA {
				return fmt.Sprintf("sub-model %d expects incarnation %d, the leaf has %d", m, e.INCA(), l.INCA)
			}
			return ""
		}
	}
	return fmt.Sprintf("sub-model %d predicts entries %d to %d of %d, the leaf is in none of them", m, first, last, s.Entries())
}
