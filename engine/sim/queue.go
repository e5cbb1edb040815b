package sim

import (
	"cmp"
	"slices"
)

// event holds no pointer, so neither the wheel's buckets nor the heap are
// scanned by the garbage collector. Grow it and every queue operation slows down.
type event struct {
	t    Time
	kind Kind
	arg  uint32
}

// source is whose event it is, which orders events of one time: one of the simulation's own clock comes first, then one that a clock has
// scheduled for itself, then messages by the machine that sent them. Events of one source come in the order in which they were
// scheduled. None of that depends on when a message was handed over, so several queues have one order.
func (e *event) source() Kind { return e.kind >> (clockBits + kindBits) }

// before is the order of events of which o was scheduled later.
func (e *event) before(o *event) bool { return e.t < o.t || e.t == o.t && e.source() <= o.source() }

// numbered is an event with its schedule sequence. A heap needs it; a bucket of the wheel keeps the order by itself.
type numbered struct {
	event
	seq uint64
}

// less orders by time, source and schedule sequence.
func less(a, b *numbered) bool {
	switch {
	case a.t != b.t:
		return a.t < b.t
	case a.source() != b.source():
		return a.source() < b.source()
	}
	return a.seq < b.seq
}

// heap is a binary min-heap. Binary, because a 4-ary one is not faster here:
// the comparisons dominate, not the depth.
type heap []numbered

func (h *heap) push(e numbered) {
	q := append(*h, e)
	i := len(q) - 1
	for i > 0 {
		up := (i - 1) / 2
		if less(&q[up], &e) {
			break
		}
		q[i] = q[up]
		i = up
	}
	q[i] = e
	*h = q
}

func (h *heap) pop() numbered {
	q := *h
	top := q[0]
	n := len(q) - 1
	last := q[n]
	q = q[:n]
	i := 0
	for {
		c := 2*i + 1
		if c >= n {
			break
		}
		if c+1 < n && less(&q[c+1], &q[c]) {
			c++
		}
		if less(&last, &q[c]) {
			break
		}
		q[i] = q[c]
		i = c
	}
	if n > 0 {
		q[i] = last
	}
	*h = q
	return top
}

// insertionMax is the bucket size up to which insertion sort wins. Buckets are
// filled in schedule order and therefore nearly sorted; a start-up storm is not.
const insertionMax = 48

// sortEvents sorts by time and source, and leaves events of one source in their order, which is that of scheduling.
func sortEvents(q []event) {
	if len(q) > insertionMax {
		slices.SortStableFunc(q, func(a, b event) int { return cmp.Or(cmp.Compare(a.t, b.t), cmp.Compare(a.source(), b.source())) })
		return
	}
	for i := 1; i < len(q); i++ {
		if q[i-1].before(&q[i]) {
			continue
		}
		e := q[i]
		j := i
		for j > 0 && !q[j-1].before(&e) {
			q[j] = q[j-1]
			j--
		}
		q[j] = e
	}
}
