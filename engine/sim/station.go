package sim

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

// BusyUntil is the service time that is over by now. It may be a little more where
// work is booked for later than now: of what lies ahead, only the part behind the last
// gap counts as not done yet.
func (f *FIFO) BusyUntil(now Time) Time {
	return f.Busy - max(0, f.Free-max(now, f.begun))
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
