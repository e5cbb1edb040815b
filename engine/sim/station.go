package sim

import "slices"

// FIFO is a resource with one server that serves in order of arrival. Its whole
// state is the time at which it is free again, which is exact as long as Serve
// is called in order of arrival time.
type FIFO struct {
	Free   Time   // when the work accepted so far is done
	Busy   Time   // total service time accepted
	N      uint64 // services
	OOO    uint64 // calls that arrived before an earlier call: must stay 0
	OOOMax Time   // how far out of order the worst of them was
	last   Time
	begun  Time // of the work without a gap that ends at Free
}

// Serve accepts work that arrives at at and takes svc. It returns the time of
// its completion.
func (f *FIFO) Serve(at, svc Time) (end Time) {
	if at < f.last {
		f.OOO++
		f.OOOMax = max(f.OOOMax, f.last-at)
	} else {
		f.last = at
	}
	if f.Free >= at {
		at = f.Free
	} else {
		f.begun = at
	}
	end = at + svc
	f.Free = end
	f.Busy += svc
	f.N++
	return end
}

// BusyUntil is the service time that is over by now, which no call of Serve was behind:
// a station that is booked ahead of its time is a Booked.
func (f *FIFO) BusyUntil(now Time) Time {
	return f.Busy - max(0, f.Free-max(now, f.begun))
}

// Booked is a FIFO that accepts work before it arrives. Such work may have gaps ahead
// of now, so it keeps the stretches between them to tell what of it is over.
type Booked struct {
	FIFO
	ahead []stretch // before the last gap; those that are over are dropped when it is full
}

// stretch is work without a gap.
type stretch struct{ begun, end Time }

// Serve is FIFO.Serve of work that is known of at now and arrives at at. Calls come
// in order of both.
func (b *Booked) Serve(now, at, svc Time) (end Time) {
	if at > b.Free && b.Free > now {
		if len(b.ahead) == cap(b.ahead) {
			b.drop(now)
		}
		b.ahead = append(b.ahead, stretch{b.begun, b.Free})
	}
	return b.FIFO.Serve(at, svc)
}

// drop makes room, half of all at least, so that it is rare.
func (b *Booked) drop(now Time) {
	over := 0
	for over < len(b.ahead) && b.ahead[over].end <= now {
		over++
	}
	b.ahead = slices.Delete(b.ahead, 0, over)
	if len(b.ahead) >= cap(b.ahead)/2 {
		b.ahead = slices.Grow(b.ahead, max(32, cap(b.ahead)))
	}
}

// BusyUntil is the service time that is over by now, which is not before the now of
// any call of Serve.
func (b *Booked) BusyUntil(now Time) Time {
	busy := b.FIFO.BusyUntil(now)
	for _, x := range b.ahead {
		busy -= max(0, x.end-max(now, x.begun))
	}
	return busy
}

// Multi is a FIFO queue before several equal servers: work goes to the one that
// is free first.
type Multi struct {
	Busy   Time   // total service time accepted, over all servers
	N      uint64 // services
	OOO    uint64 // calls that arrived before an earlier call: must stay 0
	OOOMax Time   // how far out of order the worst of them was
	last   Time
	free   []Time
}

// NewMulti returns a station with the given number of servers, at least one.
func NewMulti(servers int) *Multi {
	return &Multi{free: make([]Time, max(servers, 1))}
}

// Servers is the number of servers.
func (m *Multi) Servers() int { return len(m.free) }

// Serve accepts work that arrives at at and takes svc. It returns the time of
// its completion.
func (m *Multi) Serve(at, svc Time) (end Time) {
	if at < m.last {
		m.OOO++
		m.OOOMax = max(m.OOOMax, m.last-at)
	} else {
		m.last = at
	}
	first := 0
	for i, t := range m.free {
		if t < m.free[first] {
			first = i
		}
	}
	end = max(at, m.free[first]) + svc
	m.free[first] = end
	m.Busy += svc
	m.N++
	return end
}
