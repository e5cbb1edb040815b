package sendq

import "drtmx/engine/fabric"

// Chain is a list of work requests for one queue pair that are posted together.
type Chain struct {
	WRs      [ListMax]fabric.SendWR
	Entries  [ListMax]Entry
	Len      int
	segments []fabric.Segment // of its gather lists
}

// Add adds one.
func (c *Chain) Add(wr fabric.SendWR, e Entry) {
	if c.Len == ListMax {
		panic("r2: list too long")
	}
	c.WRs[c.Len], c.Entries[c.Len] = wr, e
	c.Len++
}

// Gather adds one whose bytes are in parts, which are copied.
func (c *Chain) Gather(wr fabric.SendWR, parts []fabric.Segment, e Entry) {
	if len(parts) > 0 {
		n := len(c.segments)
		c.segments = append(c.segments, parts[1:]...)
		wr.Local, wr.LKey, wr.Len, wr.Further = parts[0].Local, parts[0].LKey, parts[0].Len, c.segments[n:]
	}
	c.Add(wr, e)
}

// Take ends the chain, and returns how many requests it has. They are there until the next is added.
func (c *Chain) Take() (n int) {
	n = c.Len
	c.Len, c.segments = 0, c.segments[:0]
	return n
}
