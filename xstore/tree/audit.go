package tree

import "fmt"

// Audit looks at the tree at rest, free of time, and calls bad with a sentence for each fault: nodes that are torn, fences and
// separators that do not fit each other, leaves that are not linked in the order of their keys, keys where no lookup looks for
// them, values that belong to others. Of untouched parts it looks at the ends only.
func (t *Tree) Audit(bad func(text string)) {
	slab := t.peek64(t.base + leafSlab)
	a := &auditor{t: t, bad: bad, w: t.allocWork(), seen: make([]uint64, uint32(slab)/64+1)}
	root, levels := DecodeRoot(t.peek64(t.RootAddr()))
	a.node(root, levels, 0, ^uint64(0))
	if a.leaves > 0 && a.nxt != NoLeaf {
		bad(fmt.Sprintf("the last leaf %d has leaf %d to its right", a.last, a.nxt))
	}
	free := 0
	for head := uint32(slab >> 32); head != 0; head = a.w.keys.nxt() + 1 {
		if free++; a.see(head - 1) {
			bad(fmt.Sprintf("leaf %d is in the tree, or twice in the list of free ones", head-1))
			break
		}
		t.peekKeys(head-1, a.w)
	}
	for _, k := range t.kept {
		if k.some && a.see(k.leaf) {
			bad(fmt.Sprintf("leaf %d is in the tree, or free, and a thread keeps it", k.leaf))
		}
	}
	if used := int(uint32(slab)); a.leaves+free+t.keeps() != used {
		bad(fmt.Sprintf("%d leaves in the tree, %d free ones and %d that threads keep, the slab has given away %d", a.leaves, free, t.keeps(), used))
	}
	t.freeWork(a.w)
}

type auditor struct {
	t      *Tree
	bad    func(text string)
	w      *work
	seen   []uint64 // leaves, a bit each
	leaves int
	last   uint32 // leaf
	nxt    uint32 // of the last leaf
}

// see marks a leaf and reports whether it was marked before.
func (a *auditor) see(leaf uint32) (before bool) {
	if int(leaf/64) >= len(a.seen) {
		a.bad(fmt.Sprintf("leaf %d: the slab has given away none so high", leaf))
		return false
	}
	before = a.seen[leaf/64]>>(leaf%64)&1 != 0
	a.seen[leaf/64] |= 1 << (leaf % 64)
	return before
}

// asAtStart looks at the ends of an untouched part.
func (a *auditor) asAtStart(p part, low, high uint64) {
	x, first := &a.t.first, uint32(p.from)
	a.isNext(first)
	for leaf := p.from; leaf < p.to; leaf++ {
		if a.see(uint32(leaf)) {
			a.bad(fmt.Sprintf("leaf %d is twice in the tree", leaf))
		}
	}
	if from, to := x.low(p.from), x.high(p.to); from != low || to != high {
		a.bad(fmt.Sprintf("leaves %d..%d have fences %d..%d, the index says %d..%d", p.from, p.to-1, from, to, low, high))
	}
	a.leaves, a.last, a.nxt = a.leaves+int(p.to-p.from), uint32(p.to-1), x.nxt(p.to-1)
}

// isNext looks at the link to a leaf.
func (a *auditor) isNext(leaf uint32) {
	if a.leaves > 0 && a.nxt != leaf {
		a.bad(fmt.Sprintf("leaf %d has leaf %d to its right, the index says %d", a.last, a.nxt, leaf))
	}
}

// node looks at an inner node that keys from low to high are routed to, and at what is below.
func (a *auditor) node(number uint32, level int, low, high uint64) {
	if p, ok := a.t.untouched(number, level); ok {
		a.asAtStart(p, low, high)
		return
	}
	if level == 0 {
		a.leaf(number, low, high)
		return
	}
	var n Inner
	raw := make([]byte, a.t.inner.Bytes())
	a.t.peek(a.t.InnerAddr(number), len(raw), raw)
	switch whole := a.t.inner.Decode(raw, &n); {
	case !whole:
		a.bad(fmt.Sprintf("inner node %d is torn", number))
		return
	case n.Level != level || len(n.Children) == 0 || len(n.Children) > a.t.inner.Fanout:
		a.bad(fmt.Sprintf("inner node %d on level %d says level %d and has %d children", number, level, n.Level, len(n.Children)))
		return
	case n.Low != low || n.High != high:
		a.bad(fmt.Sprintf("inner node %d has fences %d..%d, the node above says %d..%d", number, n.Low, n.High, low, high))
	}
	for i, child := range n.Children {
		from, to := n.Range(i)
		if from > to || to > high {
			a.bad(fmt.Sprintf("inner node %d routes %d..%d to child %d", number, from, to, i))
		}
		a.node(child, level-1, from, to)
	}
}

func (a *auditor) leaf(number uint32, low, high uint64) {
	t, w := a.t, a.w
	a.isNext(number)
	if a.see(number) {
		a.bad(fmt.Sprintf("leaf %d is twice in the tree", number))
	}
	_, whole := t.peekKeys(number, w)
	a.leaves, a.last, a.nxt = a.leaves+1, number, w.keys.nxt()
	if !whole || w.keys.cnt() > t.layout.Slots {
		a.bad(fmt.Sprintf("leaf %d is torn or says that it has %d keys", number, w.keys.cnt()))
		return
	}
	if from, to := w.keys.fences(); from != low || to != high {
		a.bad(fmt.Sprintf("leaf %d has fences %d..%d, the index says %d..%d", number, from, to, low, high))
	}
	order := w.sorted(w.keys, 0)
	for j, slot := range order {
		key := w.keys.key(slot)
		switch {
		case key < low || key > high:
			a.bad(fmt.Sprintf("leaf %d has key %d, %d..%d is routed to it", number, key, low, high))
		case j > 0 && key == w.keys.key(order[j-1]):
			a.bad(fmt.Sprintf("leaf %d has key %d twice", number, key))
		}
		if !t.peekSlot(number, slot, w) || keyOf(w.val) != key {
			a.bad(fmt.Sprintf("leaf %d: the value of key %d is torn or belongs to key %d", number, key, keyOf(w.val)))
			continue
		}
		if t.o.Real != nil {
			if fault := t.auditRecords(key); fault != "" {
				a.bad(fmt.Sprintf("leaf %d: %s", number, fault))
			}
		} else if _, ok := t.peekValue(w); !ok {
			a.bad(fmt.Sprintf("leaf %d: the heap has no value of key %d", number, key))
		}
	}
}
