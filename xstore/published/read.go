package published

import (
	"drtmx/engine/r2"
	"drtmx/engine/wire"
	"drtmx/xstore/model"
)

// ReadSub READs a sub-model, and its span if there is one.
func (v *Version) ReadSub(c *r2.Co, m uint32) (s model.Sub, span model.Span, err error) {
	buf := c.Read(v.SubLoc(m), v.subBytes)
	if err := c.Wait(); err != nil {
		return s, span, err
	}
	c.TouchDMA(buf.Addr, len(buf.B))
	s, span = v.parse(buf.B)
	return s, span, nil
}

// parse takes a sub-model, and its span if there is one, out of what was fetched.
func (v *Version) parse(b []byte) (s model.Sub, span model.Span) {
	if v.Model.Tabled() {
		span = model.GetSpan(b[model.SubBytes:])
	}
	return model.GetSub(b), span
}

// ReadEntries READs the entries from first to last of a sub-model's table, and appends them. fits is false if the table is of another
// generation than the sub-model; stale takes them all the same, which is a fault that tests plant.
func (v *Version) ReadEntries(c *r2.Co, m uint32, s model.Sub, first, last uint32, stale bool, dst []model.Entry) (entries []model.Entry, fits bool, err error) {
	line := m * v.stride
	at, n := span(first, last)
	if linesFor(uint32(s.Entries())) > v.stride {
		buf := c.Read(v.lineLoc(line), lineHeader+entryBytes)
		if err := c.Wait(); err != nil {
			return dst, false, err
		}
		c.TouchDMA(buf.Addr, len(buf.B))
		l := ttLine(buf.B)
		if !l.far() || l.generation() != s.Generation() && !stale { // a smaller table of now has the place: behind it others begin
			return dst, false, nil
		}
		line = l.farLine()
	}
	loc := v.lineLoc(line)
	loc.Addr += at
	buf := c.Read(loc, n)
	if err := c.Wait(); err != nil {
		return dst, false, err
	}
	c.TouchDMA(buf.Addr, n)
	entries, fits = appendEntries(dst, buf.B, s.Generation(), first, last, stale)
	return entries, fits, nil
}

// appendEntries appends the entries from first to last of lines that begin with the one of first. fits is false if a line is of
// another generation.
func appendEntries(dst []model.Entry, lines []byte, generation, first, last uint32, stale bool) (entries []model.Entry, fits bool) {
	for i := first; i <= last; i++ {
		at := (i/lineEntries - first/lineEntries) * lineBytes
		l := ttLine(lines[at:])
		if l.generation() != generation && !stale {
			return dst, false
		}
		dst = append(dst, l.entry(i%lineEntries))
	}
	return dst, true
}

// Read READs a sub-model and its table in one round trip, or in two if the table is elsewhere, and appends the entries. fits is false
// if both were being changed.
func (v *Version) Read(c *r2.Co, m uint32, stale bool, dst []model.Entry) (s model.Sub, span model.Span, entries []model.Entry, fits bool, err error) {
	lines := int(v.stride) * lineBytes
	sub, table := c.Read(v.SubLoc(m), v.subBytes), c.Read(v.TableLoc(m), lines)
	if err := c.Wait(); err != nil {
		return s, span, dst, false, err
	}
	c.TouchDMA(sub.Addr, len(sub.B))
	c.TouchDMA(table.Addr, lines)
	s, span = v.parse(sub.B)
	n := uint32(s.Entries())
	if l := ttLine(table.B); n > 0 && l.far() && l.generation() == s.Generation() {
		table = c.Read(v.lineLoc(l.farLine()), int(linesFor(n))*lineBytes)
		if err := c.Wait(); err != nil {
			return s, span, dst, false, err
		}
		c.TouchDMA(table.Addr, len(table.B))
	}
	switch {
	case int(linesFor(n))*lineBytes > len(table.B):
		return s, span, dst, false, nil
	case n == 0:
		return s, span, dst, true, nil
	}
	entries, fits = appendEntries(dst, table.B, s.Generation(), 0, n-1, stale)
	return s, span, entries, fits, nil
}

// Newer is what a server's reply says of a sub-model that a client has.
type Newer = byte

const (
	NotNewer    Newer = 0 // or it is being written: the client has to come again
	NewerInline Newer = 1 // it comes with the reply, and its table
	NewerRemote Newer = 2 // the client has to READ it
)

// PutNewer writes a sub-model and its table into a reply, if they are of another generation than the client's. While a trainer
// writes them they do not fit each other, and the client has to come again.
//
//	sub-model, padded to words | entries of its table
func (v *Version) PutNewer(c *r2.Co, m, generation uint32, rep []byte) (kind Newer, n int) {
	s, span := v.Load(c, m)
	if s.Generation() == generation {
		return NotNewer, 0
	}
	entries := uint32(s.Entries())
	line := v.tableLine(m, entries)
	at := wire.Padded(v.subBytes)
	if at+int(entries)*entryBytes > len(rep) {
		return NewerRemote, 0
	}
	s.Put(rep)
	if v.Model.Tabled() {
		span.Put(rep[model.SubBytes:])
	}
	for i := uint32(0); i < entries; i += lineEntries {
		l := ttLine(c.Load(v.lineLoc(line+i/lineEntries).Addr, lineBytes))
		if l.generation() != s.Generation() {
			return NotNewer, 0
		}
		for k := range min(lineEntries, entries-i) {
			wire.Put64(rep[at:], uint64(l.entry(k)))
			at += entryBytes
		}
	}
	return NewerInline, at
}

// GetNewer takes them out of it, and appends the entries.
func (v *Version) GetNewer(b []byte, dst []model.Entry) (s model.Sub, span model.Span, entries []model.Entry) {
	s, span = v.parse(b)
	b = b[wire.Padded(v.subBytes):]
	for i := range s.Entries() {
		dst = append(dst, model.Entry(wire.Get64(b[i*entryBytes:])))
	}
	return s, span, dst
}
