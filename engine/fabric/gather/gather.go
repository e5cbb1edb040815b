// Package gather has the gather lists of work requests: buffers that lie in several places.
package gather

import "drtmx/engine/fabric/space"

// Segment is one piece of a buffer.
type Segment struct {
	Local space.Addr
	LKey  uint32
	Len   uint32
}

// Bytes is the length of a buffer.
func Bytes(list []Segment) (n uint32) {
	for i := range list {
		n += list[i].Len
	}
	return n
}

// Refused is the first segment that is not allowed, -1 for none. One without bytes is.
func Refused(list []Segment, allowed func(key uint32, a space.Addr, n uint32) bool) int {
	for i := range list {
		if s := &list[i]; s.Len > 0 && !allowed(s.LKey, s.Local, s.Len) {
			return i
		}
	}
	return -1
}

// List is the buffer of a request that is under way, all of it.
type List struct {
	Segments []Segment
	Bad      uint8 // the one that local protection refuses
}

// Pieces calls each with the pieces of the bytes [from, to) of the buffer: where a piece lies, which byte of the buffer it begins with,
// and how many it has.
func (l *List) Pieces(from, to uint32, each func(a space.Addr, first, n uint32)) {
	at := uint32(0)
	for i := range l.Segments {
		x := &l.Segments[i]
		if lo, hi := max(from, at), min(to, at+x.Len); lo < hi {
			each(x.Local+space.Addr(lo-at), lo, hi-lo)
		}
		at += x.Len
	}
}

// Lists are those of the requests that have several segments, by number from 1; 0 is none.
type Lists struct {
	lists []List
	free  []uint32
}

// Add keeps a list. It is the caller's again.
func (g *Lists) Add(first Segment, further []Segment) (number uint32) {
	if len(g.free) == 0 {
		g.lists = append(g.lists, List{})
		g.free = append(g.free, uint32(len(g.lists)))
	}
	number = g.free[len(g.free)-1]
	g.free = g.free[:len(g.free)-1]
	l := g.Of(number)
	l.Segments, l.Bad = append(append(l.Segments[:0], first), further...), 0
	return number
}

// Of is the list of a number, until the next Add.
func (g *Lists) Of(number uint32) *List { return &g.lists[number-1] }

// Release ends a list.
func (g *Lists) Release(number uint32) { g.free = append(g.free, number) }

// InUse is how many lists are not released.
func (g *Lists) InUse() int { return len(g.lists) - len(g.free) }
