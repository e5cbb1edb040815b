package measure

import (
	"drtmx/engine/fabric/host"
	"drtmx/engine/metrics"
	"drtmx/engine/owned"
	"drtmx/engine/result"
	"drtmx/engine/sim"
	"drtmx/rdpma/nvm"
	"math"
)

// Request is one finished request as the meter takes it. What neither committed nor was rolled back
// Failed with an error, as when a machine has crashed. The attempts that a conflict ended before were
// counted one by one.
type Request struct {
	Typ        int
	Committed  bool
	RolledBack bool
	Empty      bool // it committed, and found nothing to do
	Uncounted  bool // such a one does not belong to the throughput
	LatencyPS  int64
	Phases     metrics.PhaseSet  // that it was in
	Breakdown  metrics.Breakdown // nil: not attributed
	Trips      []uint32          // round trips by phase; nil: not counted
}

// Counts are the numbers of a span of time, all integers.
type Counts struct {
	Commits, Aborts, Rollbacks, Failed, Trips uint64
	LatencyPS                                 uint64 // summed over commits
	Empty                                     uint64 // of the commits, those that found nothing to do
	Uncounted                                 uint64 // of those, the ones that do not belong to the throughput
}

func (c *Counts) add(r *Request) {
	switch {
	case r.Committed:
		c.Commits++
		c.LatencyPS += uint64(r.LatencyPS)
		if r.Empty {
			c.Empty++
			if r.Uncounted {
				c.Uncounted++
			}
		}
	case r.RolledBack:
		c.Rollbacks++
	default:
		c.Failed++
	}
	if r.Trips != nil && r.Committed {
		for _, n := range r.Trips {
			c.Trips += uint64(n)
		}
	}
}

func (c Counts) Minus(o Counts) Counts {
	return Counts{
		c.Commits - o.Commits, c.Aborts - o.Aborts, c.Rollbacks - o.Rollbacks, c.Failed - o.Failed, c.Trips - o.Trips, c.LatencyPS - o.LatencyPS, c.Empty - o.Empty, c.Uncounted - o.Uncounted,
	}
}

func (c Counts) plus(o Counts) Counts {
	return Counts{
		c.Commits + o.Commits, c.Aborts + o.Aborts, c.Rollbacks + o.Rollbacks, c.Failed + o.Failed, c.Trips + o.Trips, c.LatencyPS + o.LatencyPS, c.Empty + o.Empty, c.Uncounted + o.Uncounted,
	}
}

// Counted are the commits that belong to the throughput.
func (c Counts) Counted() uint64 { return c.Commits - c.Uncounted }

// Ended is how many requests have ended.
func (c Counts) Ended() uint64 { return c.Commits + c.Rollbacks + c.Failed }

// MeanNS is the mean latency.
func (c Counts) MeanNS() float64 {
	if c.Commits == 0 {
		return 0
	}
	return float64(c.LatencyPS) / float64(c.Commits) / 1e3
}

// AbortRate is aborted attempts over attempts that ended; a rollback is an attempt that was not aborted.
func (c Counts) AbortRate() float64 {
	attempts := c.Commits + c.Aborts + c.Rollbacks
	if attempts == 0 {
		return 0
	}
	return float64(c.Aborts) / float64(attempts)
}

func (c Counts) TripsPerTxn() float64 {
	if c.Commits == 0 {
		return 0
	}
	return float64(c.Trips) / float64(c.Commits)
}

// span collects distributions between two cuts.
type span struct {
	Latency metrics.Hist
	Attr    metrics.Attribution
}

func (s *span) Reset() {
	s.Latency.Reset()
	s.Attr.Reset()
}

// typeMeter is one transaction type since the mark.
type typeMeter struct {
	Counts  Counts
	Latency metrics.Hist
}

// Meter takes in every attempt that was aborted and every finished request: into the open window, and into the measured interval that
// began at the mark.
//
// Each machine writes into its own part. What is fresh in the parts is folded into the window, the interval and its spans where these end
// or are read, machine by machine: all of it is integers, so it comes to the same whichever machine was first.
type Meter struct {
	parts  owned.Each[ofMachine]
	fresh  metrics.Hist // scratch: that of a type on all machines
	window span
	marked span
	types  []typeMeter
	Spans  spans // of the measured interval
	closed bool  // the measured interval has ended
}

// ofMachine is what a machine writes.
type ofMachine struct {
	total  Counts // since time 0
	ended  bool   // something is fresh in what follows
	types  []typeMeter
	attr   metrics.Attribution
	sketch metrics.Sketch // of the open span
	flight metrics.InFlight
	ends   metrics.Endings // the longest of them: of those in flight in the measured interval, be it that they ended after it
}

// NewMeter is that of so many machines, whose requests are of so many types, or one.
func NewMeter(machines, types int) *Meter {
	return &Meter{types: make([]typeMeter, types), parts: owned.New(machines, func(int) ofMachine {
		return ofMachine{types: make([]typeMeter, types, types+1)} // one more keeps another machine's off its lines
	})}
}

// Add takes in a request of a client on a machine.
func (m *Meter) Add(machine int, r *Request) {
	p := m.parts.Of(machine)
	p.total.add(r)
	t := p.of(r.Typ)
	t.Counts.add(r)
	if !r.Committed {
		return
	}
	t.Latency.Record(r.LatencyPS)
	p.sketch.Record(r.LatencyPS)
	if r.Breakdown != nil {
		p.attr.RecordPhases(r.Phases, r.Breakdown, r.Trips)
	}
}

// Aborted takes in an attempt that a conflict ended.
func (m *Meter) Aborted(machine, typ int) {
	p := m.parts.Of(machine)
	p.total.Aborts++
	p.of(typ).Counts.Aborts++
}

// of is what is fresh of a type.
func (p *ofMachine) of(typ int) *typeMeter {
	for typ >= len(p.types) {
		p.types = append(p.types, typeMeter{})
	}
	p.ended = true
	return &p.types[typ]
}

// Total is what was counted since time 0.
func (m *Meter) Total() (sum Counts) {
	for _, p := range m.parts.All() {
		sum = sum.plus(p.total)
	}
	return sum
}

// fold takes what is fresh into the open window and the measured interval: a request is recorded once, though it counts in both.
func (m *Meter) fold() {
	types := 0
	for _, p := range m.parts.All() {
		if p.ended {
			types = max(types, len(p.types))
		}
	}
	for typ := range types {
		m.foldType(typ)
	}
	for _, p := range m.parts.All() {
		if !p.ended {
			continue
		}
		m.window.Attr.Merge(&p.attr)
		if !m.closed {
			m.marked.Attr.Merge(&p.attr)
		}
		p.attr.Reset()
		p.ended = false
	}
}

// foldType takes in what is fresh of a type.
func (m *Meter) foldType(typ int) {
	var counts Counts
	for _, p := range m.parts.All() {
		if p.ended && typ < len(p.types) {
			t := &p.types[typ]
			counts = counts.plus(t.Counts)
			m.fresh.Merge(&t.Latency)
			t.Counts = Counts{}
			t.Latency.Reset()
		}
	}
	if counts == (Counts{}) {
		return
	}
	if !m.closed {
		m.admit(typ)
		t := &m.types[typ]
		t.Counts = t.Counts.plus(counts)
		if len(m.types) > 1 { // the only type's is that of all
			t.Latency.Merge(&m.fresh)
		}
		m.marked.Latency.Merge(&m.fresh)
	}
	m.window.Latency.Merge(&m.fresh)
	m.fresh.Reset()
}

// admit makes room for a type, before anything of it counts.
func (m *Meter) admit(typ int) {
	for typ >= len(m.types) {
		if len(m.types) == 1 { // until now all requests were of this type
			m.types[0].Latency.Merge(&m.marked.Latency)
		}
		m.types = append(m.types, typeMeter{})
	}
}

// Open is the open window.
func (m *Meter) Open() *span {
	m.fold()
	return &m.window
}

// Measured is the measured interval so far.
func (m *Meter) Measured() *span {
	m.fold()
	return &m.marked
}

// Types is what was counted of each type since the mark.
func (m *Meter) Types() []typeMeter {
	m.fold()
	return m.types
}

// Close ends the measured interval.
func (m *Meter) Close() {
	m.fold()
	m.closed = true
}

// LatencyOf is the distribution of a type since the mark.
func (m *Meter) LatencyOf(typ int) *metrics.Hist {
	m.fold()
	if len(m.types) == 1 {
		return &m.marked.Latency
	}
	return &m.types[typ].Latency
}

// Mark starts a measured interval, which the first spans of so long are of.
func (m *Meter) Mark(now int64, length sim.Time) {
	m.fold()
	m.closed = false
	m.marked.Reset()
	for i := range m.types {
		m.types[i].Counts = Counts{}
		m.types[i].Latency.Reset()
	}
	for _, p := range m.parts.All() {
		p.ends.Mark(now)
		p.sketch.Reset()
	}
	m.Spans.restart(now, m.Total(), length)
}

// Tick closes the open span if now is its end.
func (m *Meter) Tick(now int64) {
	if now < m.Spans.Next {
		return
	}
	for _, p := range m.parts.All() {
		m.Spans.open.Merge(&p.sketch)
		p.sketch.Reset()
	}
	m.Spans.tick(now, m.Total())
}

// Began takes a request of a machine into what is in flight at a core's time t.
func (m *Meter) Began(machine int, now, t int64) { m.parts.Of(machine).flight.Add(now, t, 1) }

// Ended takes a request out of what is in flight at a core's time t.
func (m *Meter) Ended(machine int, now, t, latency int64) {
	p := m.parts.Of(machine)
	p.flight.Add(now, t, -1)
	p.ends.Add(now, t, latency)
}

// Flight is the integral of what is in flight.
func (m *Meter) Flight(now int64) (sum metrics.Area) {
	for _, p := range m.parts.All() {
		sum = sum.Plus(p.flight.Area(now))
	}
	return sum
}

// EndedPS is the latencies of what has ended by now.
func (m *Meter) EndedPS(now int64) (sum uint64) {
	for _, p := range m.parts.All() {
		sum += p.ends.Sum(now)
	}
	return sum
}

// Longest is the latency of the longest request that ended after the mark, in ps.
func (m *Meter) Longest() (longest int64) {
	for _, p := range m.parts.All() {
		longest = max(longest, p.ends.Longest())
	}
	return longest
}

// LittleOf compares the time average of requests in flight with the rate at which they ended times
// their latency. Everything in flight counts, so requests that were rolled back do too.
func LittleOf(from, to *Cut) *result.Little {
	l := metrics.CheckLittle(metrics.Average(from.Area, to.Area), to.EndedPS-from.EndedPS, to.PS-from.PS)
	return &l
}

// Arrived counts the requests of open clients. All are 0 with closed ones.
type Arrived struct {
	Requests uint64 // ever
	InFlight uint64 // of them, now: they wait or are served
}

// OpenOf is how arrivals and what is served compare between two cuts; nil where none arrived.
func OpenOf(from, to *Cut) *result.Open {
	n, ps := to.Open.Requests-from.Open.Requests, to.PS-from.PS
	if n == 0 || ps <= 0 {
		return nil
	}
	grown := int64(to.Open.InFlight) - int64(from.Open.InFlight)
	o := &result.Open{Offered: PerSecond(n, ps), Served: float64(int64(n)-grown) / (float64(ps) / 1e12), InFlight: to.Open.InFlight}
	o.Overloaded = grown > int64(n/leastGrowth) && float64(grown) > growthNoise*math.Sqrt(float64(n))
	return o
}

const (
	// leastGrowth is the part of the requests that arrived by which those in flight grow at least where a system is overloaded.
	leastGrowth = 100
	// growthNoise is in standard deviations of the number of arrivals what growth is no chance. A stable system near its capacity has
	// waves, too: they are a few of these.
	growthNoise = 6
)

// Cut is everything cumulative at one moment.
type Cut struct {
	PS     int64
	Counts Counts
	Lost   uint64 // passive requests, see r2.Cluster.Lost
	Open   Arrived
	Area   metrics.Area
	// EndedPS is the latencies of all requests that ended, whatever way
	EndedPS uint64
	Usage   []metrics.Usage
	Events  uint64
	Verbs   [5]uint64  // in the order of verbNames
	NVM     *nvm.Stats // nil without NVM
	DIMMs   []DIMM
	Bus     host.Traffic
	Load    Load
	Gauges  *metrics.Readings
}

// PhasesOf lists the phases that occurred.
func PhasesOf(a *metrics.Attribution) map[string]result.PhaseStat {
	out := map[string]result.PhaseStat{}
	for _, p := range metrics.Phases() {
		if s, ok := a.Phase(p); ok {
			out[p.String()] = s
		}
	}
	return out
}

func MilestonesOf(a *metrics.Attribution) map[string]result.MilestoneStat {
	out := map[string]result.MilestoneStat{}
	for m := range metrics.NumMilestones {
		if s := a.Share(m); s > 0 {
			out[m.String()] = result.MilestoneStat{Share: s}
		}
	}
	return out
}

// PerSecond is a rate over a span of virtual time.
func PerSecond(n uint64, ps int64) float64 {
	if ps <= 0 {
		return 0
	}
	return float64(n) / (float64(ps) / 1e12)
}
