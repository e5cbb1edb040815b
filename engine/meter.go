package engine

import (
	"drtmx/engine/fabric"
	"drtmx/engine/metrics"
	"drtmx/rdpma/nvm"
)

// request is one finished request as the meter takes it. What neither committed nor was rolled back
// failed with an error, as when a machine has crashed. The attempts that a conflict ended before were
// counted one by one.
type request struct {
	typ        int
	committed  bool
	rolledBack bool
	latencyPS  int64
	phases     metrics.PhaseSet           // that it was in
	breakdown  *metrics.Breakdown         // nil: not attributed
	trips      *[metrics.NumPhases]uint32 // round trips by phase
}

// counts are the numbers of a span of time, all integers.
type counts struct {
	commits, aborts, rollbacks, failed, trips uint64
	latencyPS                                 uint64 // summed over commits
}

func (c *counts) add(r *request) {
	switch {
	case r.committed:
		c.commits++
		c.latencyPS += uint64(r.latencyPS)
	case r.rolledBack:
		c.rollbacks++
	default:
		c.failed++
	}
	if r.trips != nil && r.committed {
		for _, n := range r.trips {
			c.trips += uint64(n)
		}
	}
}

func (c counts) minus(o counts) counts {
	return counts{
		c.commits - o.commits, c.aborts - o.aborts, c.rollbacks - o.rollbacks, c.failed - o.failed, c.trips - o.trips, c.latencyPS - o.latencyPS,
	}
}

func (c counts) plus(o counts) counts {
	return counts{
		c.commits + o.commits, c.aborts + o.aborts, c.rollbacks + o.rollbacks, c.failed + o.failed, c.trips + o.trips, c.latencyPS + o.latencyPS,
	}
}

// ended is how many requests have ended.
func (c counts) ended() uint64 { return c.commits + c.rollbacks + c.failed }

// abortRate is aborted attempts over attempts that ended; a rollback is an attempt that was not aborted.
func (c counts) abortRate() float64 {
	attempts := c.commits + c.aborts + c.rollbacks
	if attempts == 0 {
		return 0
	}
	return float64(c.aborts) / float64(attempts)
}

func (c counts) tripsPerTxn() float64 {
	if c.commits == 0 {
		return 0
	}
	return float64(c.trips) / float64(c.commits)
}

// span collects distributions between two cuts.
type span struct {
	latency metrics.Hist
	attr    metrics.Attribution
}

func (s *span) add(r *request) {
	if !r.committed {
		return
	}
	s.latency.Record(r.latencyPS)
	if r.breakdown != nil {
		s.attr.RecordPhases(r.phases, r.breakdown, r.trips)
	}
}

func (s *span) merge(o *span) {
	s.latency.Merge(&o.latency)
	s.attr.Merge(&o.attr)
}

func (s *span) reset() {
	s.latency.Reset()
	s.attr.Reset()
}

// typeMeter is one transaction type since the mark.
type typeMeter struct {
	counts  counts
	latency metrics.Hist
}

// meter takes in every attempt that was aborted and every finished request: into the open window, and into the measured interval that
// began at the mark.
type meter struct {
	total  counts // since time 0
	fresh  span   // not yet in window and marked: see settle
	window span
	marked span
	types  []typeMeter
	spans  spans // of the measured interval
	flight metrics.InFlight
	ends   metrics.Endings // the longest of them: of those in flight in the measured interval, be it that they ended after it
	closed bool            // the measured interval has ended
}

func newMeter(types int) *meter { return &meter{types: make([]typeMeter, types)} }

func (m *meter) add(r *request) {
	if !m.closed {
		m.admit(r.typ)
	}
	m.total.add(r)
	m.fresh.add(r)
	if m.closed {
		return
	}
	if r.committed {
		m.spans.open.Record(r.latencyPS)
	}
	t := &m.types[r.typ]
	t.counts.add(r)
	if r.committed && len(m.types) > 1 { // the only type's is that of all
		t.latency.Record(r.latencyPS)
	}
}

// aborted takes in an attempt that a conflict ended.
func (m *meter) aborted(typ int) {
	m.total.aborts++
	if m.closed {
		return
	}
	m.admit(typ)
	m.types[typ].counts.aborts++
}

// admit makes room for a type, before anything of it counts.
func (m *meter) admit(typ int) {
	for typ >= len(m.types) {
		if len(m.types) == 1 { // until now all requests were of this type
			m.types[0].latency.Merge(&m.measured().latency)
		}
		m.types = append(m.types, typeMeter{})
	}
}

// settle takes what is fresh into the open window and the measured interval:
// a request is then recorded once, though it counts in both.
func (m *meter) settle() {
	if m.fresh.latency.Count() == 0 {
		return
	}
	m.window.merge(&m.fresh)
	if !m.closed {
		m.marked.merge(&m.fresh)
	}
	m.fresh.reset()
}

// open is the open window.
func (m *meter) open() *span {
	m.settle()
	return &m.window
}

// measured is the measured interval so far.
func (m *meter) measured() *span {
	m.settle()
	return &m.marked
}

// close ends the measured interval.
func (m *meter) close() {
	m.settle()
	m.closed = true
}

// latencyOf is the distribution of a type since the mark.
func (m *meter) latencyOf(typ int) *metrics.Hist {
	if len(m.types) == 1 {
		return &m.measured().latency
	}
	return &m.types[typ].latency
}

// mark starts a measured interval.
func (m *meter) mark(now int64) {
	m.settle()
	m.closed = false
	m.ends.Mark(now)
	m.marked.reset()
	for i := range m.types {
		m.types[i].counts = counts{}
		m.types[i].latency.Reset()
	}
}

// ended takes a request out of what is in flight at a core's time t.
func (m *meter) ended(now, t, latency int64) {
	m.flight.Add(now, t, -1)
	m.ends.Add(now, t, latency)
}

// little compares the time average of requests in flight with the rate at which they ended times
// their latency. Everything in flight counts, so requests that were rolled back do too.
func little(from, to *cut) *Little {
	l := metrics.CheckLittle(metrics.Average(from.area, to.area), to.endedPS-from.endedPS, to.ps-from.ps)
	return &l
}

// cut is everything cumulative at one moment.
type cut struct {
	ps     int64
	counts counts
	lost   uint64 // passive requests, see r2.Cluster.Lost
	area   metrics.Area
	// endedPS is the latencies of all requests that ended, whatever way
	endedPS uint64
	usage   []metrics.Usage
	events  uint64
	verbs   [5]uint64  // in the order of verbNames
	nvm     *nvm.Stats // nil without NVM
	dimms   []dimm
	bus     fabric.Traffic
	load    load
}

// phasesOf lists the phases that occurred.
func phasesOf(a *metrics.Attribution) map[string]PhaseStat {
	out := map[string]PhaseStat{}
	for p := range metrics.NumPhases {
		if s, ok := a.Phase(p); ok {
			out[p.String()] = s
		}
	}
	return out
}

func milestonesOf(a *metrics.Attribution) map[string]MilestoneStat {
	out := map[string]MilestoneStat{}
	for m := range metrics.NumMilestones {
		if s := a.Share(m); s > 0 {
			out[m.String()] = MilestoneStat{s}
		}
	}
	return out
}

// perSecond is a rate over a span of virtual time.
func perSecond(n uint64, ps int64) float64 {
	if ps <= 0 {
		return 0
	}
	return float64(n) / (float64(ps) / 1e12)
}
