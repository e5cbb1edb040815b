package tree

// What is untouched is what it was at the start, a function of the keys. A walk through a tree at rest need not look
// at it: of a hundred million keys a run looks at a few hundred thousand.

// part is a leaf (level 0) or an inner node of the initial tree with all that is below it.
type part struct {
	from, to uint64 // leaves, to excluded
}

// untouched says whether a node is one of the initial tree and was not touched, or anything that was below it.
func (t *Tree) untouched(number uint32, level int) (p part, ok bool) {
	x := &t.first
	if level > x.levels() {
		return p, false
	}
	width := x.width[level]
	p.from = uint64(number-x.base[level]) * width // of level 0 the base is 0
	if number < x.base[level] || p.from >= x.leaves {
		return p, false
	}
	p.to = min(p.from+width, x.leaves)
	for l := 1; l <= level; l++ {
		first := x.base[l] + uint32(p.from/x.width[l])
		n := (p.to - p.from + x.width[l] - 1) / x.width[l]
		if t.mem.Touched(t.InnerAddr(first), n*uint64(t.inner.bytes)) {
			return p, false
		}
	}
	if t.mem.Touched(t.LeafAddr(uint32(p.from)), (p.to-p.from)*uint64(t.layout.bytes)) {
		return p, false
	}
	if t.heap == nil {
		return p, true
	}
	first, last := t.heap.record(p.from*x.fill), t.heap.record(min(p.to*x.fill, x.n))
	return p, !t.mem.Touched(t.heap.base+first*t.heap.largest, (last-first)*t.heap.largest)
}

// EachTouched calls f with the leaves that may have been touched, in the order of their keys, and with the others of which
// also says that they are wanted: it is asked about ranges of keys, and about parts of those it wants. f ends the walk with false.
func (t *Tree) EachTouched(also func(low, high uint64) bool, f func(l *Leaf) bool) {
	w := t.allocWork()
	e := eachTouched{t: t, w: w, also: also, f: f}
	root, levels := DecodeRoot(t.peek64(t.RootAddr()))
	e.node(root, levels, 0, ^uint64(0))
	t.freeWork(w)
}

type eachTouched struct {
	t    *Tree
	w    *work
	l    Leaf
	also func(low, high uint64) bool
	f    func(l *Leaf) bool
}

func (e *eachTouched) node(number uint32, level int, low, high uint64) (more bool) {
	if _, ok := e.t.untouched(number, level); ok && !e.also(low, high) {
		return true
	}
	if level == 0 {
		e.l.Low, e.l.High = low, high
		e.t.peekLeaf(number, &e.l, e.w)
		return e.f(&e.l)
	}
	var n Inner // the walk needs it after the children have used e.w
	e.t.peek(e.t.InnerAddr(number), e.t.inner.Bytes(), e.w.raw)
	e.t.inner.Decode(e.w.raw, &n)
	for i, child := range n.Children {
		from, to := n.Range(i)
		if !e.node(child, level-1, from, to) {
			return false
		}
	}
	return true
}
