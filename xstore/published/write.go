package published

import (
	"drtmx/engine/r2"
	"drtmx/xstore/model"
)

// Load is a sub-model as the server has it, and its span if there is one.
func (v *Version) Load(c *r2.Co, m uint32) (s model.Sub, span model.Span) {
	return v.parse(c.Load(v.SubLoc(m).Addr, v.subBytes))
}

// Writer stores what a trainer has made. Each trainer has one.
type Writer struct{ line [lineBytes]byte }

// Store writes a sub-model and the table that was trained with it. Clients that READ one of them meanwhile see that they are
// of different generations. ok is false if no lines are left: then the server answers for its keys.
func (w *Writer) Store(c *r2.Co, v *Version, m uint32, s model.Sub, span model.Span, tt []model.Entry) (ok bool) {
	v.stored.add(s)
	n := uint32(s.Entries())
	line, isFar, ok := v.allocTable(m, n)
	if !ok {
		s = model.Sub{Slope: -1, TT: s.TT &^ (1<<20 - 1)}
		n, line = 0, m*v.stride
	}
	if isFar {
		putFarLine(w.line[:], s.Generation(), n, line)
		c.Store(v.TableLoc(m).Addr, w.line[:])
	}
	for i := range linesFor(n) {
		putLine(w.line[:], s.Generation(), n, tt[min(i*lineEntries, n):n])
		c.Store(v.lineLoc(line+i).Addr, w.line[:])
	}
	var b [subStride * 2]byte
	s.Put(b[:])
	if v.Model.Tabled() {
		span.Put(b[model.SubBytes:])
	}
	c.Store(v.SubLoc(m).Addr, b[:v.subBytes])
	return ok
}
