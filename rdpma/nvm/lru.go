package nvm

import "math/bits"

// none is no slot.
const none int32 = -1

// lru is a fully associative table of tags with exact least-recently-used
// replacement. It hands out slots, and its owner keeps what belongs to a
// slot. Nothing is allocated after newLRU.
type lru struct {
	nodes []lruNode // one per slot, and the head of the ring behind them
	heads []int32   // of the chains of tags with equal hash
	shift uint8
	used  int32 // slots that were ever taken: the first ones
}

type lruNode struct {
	tag        uint64
	prev, next int32 // ring in order of use; next of the head is the most recent
	chain      int32 // next slot of the same hash
}

func newLRU(slots int) lru {
	log := max(bits.Len(uint(2*slots-1)), 1)
	l := lru{nodes: make([]lruNode, slots+1), heads: make([]int32, 1<<log), shift: uint8(64 - log)}
	for i := range l.heads {
		l.heads[i] = none
	}
	head := int32(slots)
	l.nodes[head].prev, l.nodes[head].next = head, head
	return l
}

// hash spreads by the golden ratio, which keeps neighbours apart.
func (l *lru) hash(tag uint64) uint64 { return tag * 0x9e3779b97f4a7c15 >> l.shift }

// find is the slot of a tag, or none. The last one is asked for most.
func (l *lru) find(tag uint64) int32 {
	head := len(l.nodes) - 1
	if i := l.nodes[head].next; l.nodes[i].tag == tag && int(i) != head {
		return i
	}
	i := l.heads[l.hash(tag)]
	for i != none && l.nodes[i].tag != tag {
		i = l.nodes[i].chain
	}
	return i
}

// touch makes a slot the most recently used.
func (l *lru) touch(i int32) {
	if l.nodes[len(l.nodes)-1].next == i {
		return
	}
	n := &l.nodes[i]
	l.nodes[n.prev].next, l.nodes[n.next].prev = n.next, n.prev
	l.front(i)
}

func (l *lru) front(i int32) {
	head := int32(len(l.nodes) - 1)
	first := l.nodes[head].next
	l.nodes[i].prev, l.nodes[i].next = head, first
	l.nodes[head].next, l.nodes[first].prev = i, i
}

// victim is the slot that take would empty, or none while there is an unused one.
func (l *lru) victim() int32 {
	head := len(l.nodes) - 1
	if int(l.used) < head {
		return none
	}
	return l.nodes[head].prev
}

// insert gives a tag that is not there a slot, as the most recently used.
func (l *lru) insert(tag uint64) int32 {
	i := l.victim()
	if i == none {
		i = l.used
		l.used++
	} else {
		n := &l.nodes[i]
		l.unchain(i)
		l.nodes[n.prev].next, l.nodes[n.next].prev = n.next, n.prev
	}
	h := l.hash(tag)
	l.nodes[i].tag, l.nodes[i].chain = tag, l.heads[h]
	l.heads[h] = i
	l.front(i)
	return i
}

func (l *lru) unchain(i int32) {
	link := &l.heads[l.hash(l.nodes[i].tag)]
	for *link != i {
		link = &l.nodes[*link].chain
	}
	*link = l.nodes[i].chain
}
