package sim

import (
	"math/bits"
	"slices"
)

const (
	// bucketShift makes a bucket 1024 ps wide: about one event per bucket in a
	// loaded cluster, which is where a wheel is fastest.
	bucketShift = 10
	// machineShift is that of a wheel for the events of one machine, which are fewer.
	machineShift = 14
	// buckets is the window of the wheel, 8.4 us: verbs and their replies stay in
	// it, back-off and timeouts go to the far heap.
	buckets    = 8192
	bucketMask = buckets - 1
)

// wheel is a one-level timing wheel. cur is the absolute index (time >>
// shift) of the open bucket, whose events are in open, sorted, done up to
// pos. Buckets cur+1 .. cur+buckets-1 are unsorted lists and have a bit in full;
// any later event waits in far, and comes to its bucket as soon as the window has it: before any event
// that is scheduled into that bucket directly, which has a later place in the order.
//
// A bucket is a list, not a slice: memory is then that of the pending events
// rather than 8192 times the largest bucket ever, and a freed place is used again
// while it is still in the cache. The links are apart from the events: they are few
// enough to stay in the cache, and lead to events that have left it.
type wheel struct {
	cur     int64
	shift   uint
	pos     int
	open    []event
	far     heap
	seq     uint64                    // events that far was ever given
	events  []event                   // place 0 is no place
	after   []uint32                  // by place: the next in its bucket, or among the unused
	free    uint32                    // list of unused places
	summary [buckets / 64 / 64]uint64 // words of full that are not zero
	full    [buckets / 64]uint64      // buckets that are not empty
	head    [buckets]uint32           // last event scheduled
}

func newWheel(shift uint) *wheel {
	return &wheel{shift: shift, events: make([]event, 1, 1024), after: make([]uint32, 1, 1024), open: make([]event, 0, 64)}
}

func (w *wheel) push(e event) {
	i := e.t >> (w.shift & 63)
	if d := i - w.cur; d <= 0 {
		w.insertOpen(e)
		return
	} else if d >= buckets {
		w.seq++
		w.far.push(numbered{e, w.seq})
		return
	}
	n := w.free
	if n == 0 {
		n = uint32(len(w.events))
		w.events = append(w.events, event{})
		w.after = append(w.after, 0)
	}
	slot := uint(i) & bucketMask
	last := w.head[slot]
	w.free = w.after[n]
	w.events[n] = e
	w.after[n] = last
	w.head[slot] = n
	if last == 0 {
		w.full[slot>>6] |= 1 << (slot & 63)
		w.summary[slot>>12] |= 1 << (slot >> 6 & 63)
	}
}

// insertOpen keeps the open bucket sorted. The new event is the last that was
// scheduled, so it goes behind all events of its time and source.
func (w *wheel) insertOpen(e event) {
	if len(w.open) == cap(w.open) && w.pos > 0 {
		n := copy(w.open, w.open[w.pos:])
		w.open, w.pos = w.open[:n], 0
	}
	q := append(w.open, e)
	i := len(q) - 1
	for i > w.pos && !q[i-1].before(&e) {
		q[i] = q[i-1]
		i--
	}
	q[i] = e
	w.open = q
}

// next opens the first bucket that has events, unless it begins at until or
// later: opening beyond until would let an event that is scheduled between two
// runs come out late.
func (w *wheel) next(until Time) bool {
	i, ok := w.firstFull()
	if !ok {
		if len(w.far) == 0 {
			return false
		}
		i = w.far[0].t >> w.shift
	}
	if i > (until-1)>>w.shift {
		return false
	}
	w.openAt(i)
	return true
}

// skipTo moves the window forward after a run that ended at t with the open
// bucket used up, so that what is scheduled next finds its bucket in it.
func (w *wheel) skipTo(t Time) {
	if i := t >> w.shift; i > w.cur {
		w.openAt(i)
	}
}

// openAt makes bucket i the open one. All events before it must have run.
func (w *wheel) openAt(i int64) {
	w.cur = i
	slot := uint(i) & bucketMask
	w.openBucket(slot)
	if w.full[slot>>6] &^= 1 << (slot & 63); w.full[slot>>6] == 0 {
		w.summary[slot>>12] &^= 1 << (slot >> 6 & 63)
	}
	// The far events that the window now reaches must be in their buckets before
	// this bucket runs: it may schedule events of the same time, which come later.
	for len(w.far) > 0 && w.far[0].t>>w.shift-i < buckets {
		if e := w.far.pop().event; e.t>>w.shift == i {
			w.open = append(w.open, e)
		} else {
			w.push(e)
		}
	}
	if len(w.open) > 1 {
		sortEvents(w.open)
	}
}

// openBucket moves the events of a bucket to open, in the order of their scheduling,
// and frees their places.
func (w *wheel) openBucket(slot uint) {
	w.open, w.pos = w.open[:0], 0
	n := w.head[slot]
	w.head[slot] = 0
	for n != 0 {
		w.open = append(w.open, w.events[n])
		n, w.after[n], w.free = w.after[n], w.free, n
	}
	if len(w.open) > 1 {
		slices.Reverse(w.open)
	}
}

// firstFull is the absolute index of the first bucket behind the open one that
// has events. The open bucket's own bit is never set.
func (w *wheel) firstFull() (int64, bool) {
	from := uint(w.cur) & bucketMask
	word := from >> 6
	if m := w.full[word] >> (from & 63); m != 0 {
		return w.cur + int64(bits.TrailingZeros64(m)), true
	}
	// Words behind this one, then around, this one's low bits last.
	for k, at := 0, word+1; k <= len(w.summary); k++ {
		at &= uint(len(w.full)) - 1
		if m := w.summary[at>>6] >> (at & 63); m != 0 {
			at += uint(bits.TrailingZeros64(m))
			slot := at<<6 + uint(bits.TrailingZeros64(w.full[at]))
			return w.cur + int64((slot-from)&bucketMask), true
		}
		at = (at>>6 + 1) << 6
	}
	return 0, false
}

// peek is the earliest time without opening anything.
func (w *wheel) peek() (Time, bool) {
	if w.pos < len(w.open) {
		return w.open[w.pos].t, true
	}
	if i, ok := w.firstFull(); ok {
		n := w.head[uint(i)&bucketMask]
		t := w.events[n].t
		for ; n != 0; n = w.after[n] {
			t = min(t, w.events[n].t)
		}
		return t, true
	}
	if len(w.far) > 0 {
		return w.far[0].t, true
	}
	return 0, false
}
