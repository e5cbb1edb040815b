package published

import (
	"bytes"
	"fmt"

	"drtmx/engine/fabric/host"
)

// Changed counts, for each sub-model and behind the last, how many of those before it are not as at the start.
func (v *Version) Changed(mem *host.Memory) []uint32 {
	n := make([]uint32, v.Model.M+1)
	for m := range v.Model.M {
		if n[m+1] = n[m]; !v.asAtStart(m, mem) {
			n[m+1]++
		}
	}
	return n
}

// asAtStart says that the server has not changed a sub-model and its table.
func (v *Version) asAtStart(m uint32, mem *host.Memory) bool {
	if v.image == nil {
		return false
	}
	if at := v.SubLoc(m).Addr; mem.Touched(at, uint64(v.subBytes)) {
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

// Misses says why a client that knows the version would not look for a key into the leaf of a number and an incarnation; "": it would,
// or it would ask the server. slots are those of a leaf.
func (v *Version) Misses(mem *host.Memory, slots int, aln, inca uint32, key uint64) string {
	m := v.Model.Sub(key)
	s, span := v.parse(mem.Bytes(v.SubLoc(m).Addr, v.subBytes))
	if s.Fallback() || v.Model.Tabled() && (span.Empty() || key < span.Low || key > span.High) {
		return ""
	}
	base := v.Model.Base(m)
	if v.Model.Tabled() {
		base = v.Model.BaseOf(span)
	}
	first, last := s.Range(base, key, slots)
	line := v.tableLine(m, uint32(s.Entries()))
	for i := first; i <= last; i++ {
		t := ttLine(mem.Bytes(v.lineLoc(line+uint32(i)/lineEntries).Addr, lineBytes))
		if t.generation() != s.Generation() {
			return fmt.Sprintf("sub-model %d has generation %d, its table %d", m, s.Generation(), t.generation())
		}
		if e := t.entry(uint32(i) % lineEntries); e.ALN() == aln {
			if e.INCA() != inca {
				return fmt.Sprintf("sub-model %d expects incarnation %d, the leaf has %d", m, e.INCA(), inca)
			}
			return ""
		}
	}
	return fmt.Sprintf("sub-model %d predicts entries %d to %d of %d, the leaf is in none of them", m, first, last, s.Entries())
}
