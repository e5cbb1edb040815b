package sim

// event holds no pointer, so neither the wheel's buckets nor the heap are
// scanned by the garbage collector. Grow it and every queue operation slows down.
type event struct {
	t    Time
	seq  uint64
	kind Kind
	arg  uint32
}

// less orders by time, then by schedule sequence: equal times run in the order
// in which they were scheduled, whatever the queue.
func less(a, b *event) bool {
	return a.t < b.t || a.t == b.t && a.seq < b.seq
}

// heap is a binary min-heap. Binary, because a 4-ary one is not faster here:
// the comparisons dominate, not the depth.
type heap []event

func (h *heap) push(e event) {
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

func (h *heap) pop() event {
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

func sortEvents(q []event) {
	if len(q) > insertionMax {
		heapSort(q)
		return
	}
	for i := 1; i < len(q); i++ {
		if !less(&q[i], &q[i-1]) {
			continue
		}
		e := q[i]
		j := i
		for j > 0 && less(&e, &q[j-1]) {
			q[j] = q[j-1]
			j--
		}
		q[j] = e
	}
}

func heapSort(q []event) {
	for i := len(q)/2 - 1; i >= 0; i-- {
		siftMax(q, i)
	}
	for n := len(q) - 1; n > 0; n-- {
		q[0], q[n] = q[n], q[0]
		siftMax(q[:n], 0)
	}
}

func siftMax(q []event, i int) {
	e := q[i]
	for {
		c := 2*i + 1
		if c >= len(q) {
			break
		}
		if c+1 < len(q) && less(&q[c], &q[c+1]) {
			c++
		}
		if less(&q[c], &e) {
			break
		}
		q[i] = q[c]
		i = c
	}
	q[i] = e
}
