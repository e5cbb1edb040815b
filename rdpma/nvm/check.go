package nvm

import (
	"fmt"
	"math/bits"
)

// checker follows every written line by itself, apart from the buffer's masks:
// a line is pending from its write until it is written back, and written back
// exactly once. It works only when invariants are on.
type checker struct {
	pending map[uint64]struct{}
	held    uint64 // lines pending at the last reset
	in, out uint64 // lines written, and written back, since then
	merged  uint64 // writes of lines that were pending already
	calls   uint32
}

func (c *checker) wrote(line uint64) {
	if c.pending == nil {
		c.pending = map[uint64]struct{}{}
	}
	c.in++
	if _, ok := c.pending[line]; ok {
		c.merged++
	}
	c.pending[line] = struct{}{}
}

func (c *checker) wroteBack(first, dirty, lines uint64) {
	if dirty == 0 {
		panic(fmt.Sprintf("nvm: line %d and its neighbours are written back though none was written", first))
	}
	for i := range lines {
		_, ok := c.pending[first+i]
		if ok != (dirty>>i&1 != 0) {
			panic(fmt.Sprintf("nvm: line %d is written back with %v pending and mask %b", first+i, ok, dirty))
		}
		if ok {
			delete(c.pending, first+i)
			c.out++
		}
	}
}

// verify is verifyAll now and then, for that walks over the buffer.
func (m *dimm) verify() {
	if m.check.calls++; int(m.check.calls)%(4*len(m.xlines)) == 0 {
		m.verifyAll()
	}
}

// verifyAll panics when lines were lost or duplicated, or counters do not agree
// with each other.
func (m *dimm) verifyAll() {
	c, s := &m.check, &m.count
	must := func(ok bool, what string, values ...any) {
		if !ok {
			panic(fmt.Sprintf("nvm: at %d ps: %s: %v", m.last, what, values))
		}
	}
	var held uint64
	for i := range m.buffer.used {
		x, n := &m.xlines[i], &m.buffer.nodes[i]
		held += uint64(bits.OnesCount64(x.dirty))
		must(x.dirty&^x.valid == 0 && x.valid&^m.t.full == 0, "lines of an XLine: dirty, valid, all", x.dirty, x.valid, m.t.full)
		must(m.buffer.find(n.tag) == i, "an XLine is in two slots: tag, one of them", n.tag, i)
	}
	must(held == uint64(len(c.pending)), "dirty lines, lines pending", held, len(c.pending))
	must(c.held+c.in == c.merged+c.out+held, "lines held before, in, merged, out, held", c.held, c.in, c.merged, c.out, held)
	must(c.in == s.WriteReq && c.merged == s.Overwritten, "writes and overwritten: seen, counted", c.in, s.WriteReq, c.merged, s.Overwritten)
	must(s.MediaWrite == m.t.lines*(s.FullWritebacks+s.PartialWritebacks), "media writes, write-backs full and partial", s.MediaWrite, s.FullWritebacks, s.PartialWritebacks)
	must(s.MediaRead == m.t.lines*(s.ReadReq-s.ReadHits+s.PartialWritebacks), "media reads, read requests, hits, partial write-backs", s.MediaRead, s.ReadReq, s.ReadHits, s.PartialWritebacks)
	must(c.out <= s.MediaWrite, "lines written back, media writes", c.out, s.MediaWrite)
}
