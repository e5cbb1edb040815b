package tree

import (
	"bytes"
	"slices"

	"drtmx/engine/r2"
	"drtmx/engine/record"
)

// Leaf is a leaf as trainers of models see it. Its memory is used again.
type Leaf struct {
	ALN, INCA uint32
	Keys      []uint64 // sorted
	Low, High uint64   // the tree routes these keys to it, both included
}

// Cursor goes through the leaves in the order of their keys, with loads that others' changes come between. All of a leaf
// that it returns was true at one moment: keys, incarnation and the separators on both sides.
type Cursor struct {
	t     *Tree
	from  uint64 // next key
	ended bool

	above  Inner // the inner node above the leaves; no children: it has to be looked for
	number uint32
	line   []byte // its first line
	keys   keyBlock
	raw    []byte // of the leaf
}

// Cursor begins with the leaf that a key is routed to.
func (t *Tree) Cursor(from uint64) Cursor {
	return Cursor{
		t: t, from: from, line: make([]byte, record.LineBytes),
		keys: make(keyBlock, t.layout.lookup.Data()), raw: make([]byte, t.layout.LookupBytes()),
	}
}

// Next reads the next leaf; false says that there is none.
func (k *Cursor) Next(c *r2.Co, l *Leaf) bool {
	if k.ended {
		return false
	}
	for !k.read(c, l) {
		k.above.Children = k.above.Children[:0]
	}
	k.from, k.ended = l.High+1, l.High == ^uint64(0)
	return true
}

// read reads the leaf that from is routed to. It is false if something changed meanwhile.
func (k *Cursor) read(c *r2.Co, l *Leaf) bool {
	if len(k.above.Children) == 0 || k.from > k.above.High {
		k.seek(c)
	}
	i := k.above.Child(k.from)
	l.ALN = k.above.Children[i]
	l.Low, l.High = k.above.Range(i)
	if !k.load(c, l.ALN) || !k.confirm(c, l.ALN) {
		return false
	}
	l.INCA, l.Keys = k.keys.inca(), l.Keys[:0]
	for j := range k.keys.cnt() {
		l.Keys = append(l.Keys, k.keys.key(j))
	}
	slices.Sort(l.Keys)
	return true
}

// seek walks to the inner node above the leaf that from is routed to.
func (k *Cursor) seek(c *r2.Co) {
	t := k.t
	w := t.allocWork()
	c.HTM(&t.lock, func(r *r2.Region) {
		t.descend(r, k.from, w)
		k.number = w.path[1]
		copy(k.line, r.Load(t.InnerAddr(k.number), record.LineBytes))
		t.inner.read(w.data, &k.above)
	})
	t.freeWork(w)
}

// load reads header and keys line by line, the incarnation first.
func (k *Cursor) load(c *r2.Co, leaf uint32) (whole bool) {
	for at := 0; at < len(k.raw); at += record.LineBytes {
		n := min(record.LineBytes, len(k.raw)-at)
		copy(k.raw[at:], c.Load(k.t.LeafAddr(leaf)+r2.Addr(at), n))
	}
	_, whole = k.t.layout.lookup.Decode(k.keys, k.raw)
	return whole
}

// confirm reports whether leaf and inner node are still what was read, at one moment. A change of either changes its first
// line, which has the version, or everything.
func (k *Cursor) confirm(c *r2.Co, leaf uint32) (same bool) {
	t, first := k.t, k.raw[:min(len(k.raw), record.LineBytes)]
	c.HTM(&t.lock, func(r *r2.Region) {
		same = bytes.Equal(r.Load(t.InnerAddr(k.number), record.LineBytes), k.line) && bytes.Equal(r.Load(t.LeafAddr(leaf), len(first)), first)
	})
	return same
}
