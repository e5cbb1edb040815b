package measure

import (
	"drtmx/engine/fabric/host"
	"drtmx/engine/metrics"
	"drtmx/engine/result"
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

func (s *span) add(r *Request) {
	if !r.Committed {
		return
	}
	s.Latency.Record(r.LatencyPS)
	if r.Breakdown != nil {
		s.Attr.RecordPhases(r.Phases, r.Breakdown, r.Trips)
	}
}

func (s *span) merge(o *span) {
	s.Latency.Merge(&o.Latency)
	s.Attr.Merge(&o.Attr)
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
type Meter struct {
	Total  Counts // since time 0
	fresh  span   // not yet in window and marked: see foldFresh
	window span
	marked span
	Types  []typeMeter
	Spans  spans // of the measured interval
	Flight metrics.InFlight
	Ends   metrics.Endings // the longest of them: of those in flight in the measured interval, be it that they ended after it
	closed bool            // the measured interval has ended
}

func NewMeter(types int) *Meter { return &Meter{Types: make([]typeMeter, types)} }

func (m *Meter) Add(r *Request) {
	if !m.closed {
		m.admit(r.Typ)
	}
	m.Total.add(r)
	m.fresh.add(r)
	if m.closed {
		return
	}
	if r.Committed {
		m.Spans.open.Record(r.LatencyPS)
	}
	t := &m.Types[r.Typ]
	t.Counts.add(r)
	if r.Committed && len(m.Types) > 1 { // the only type's is that of all
		t.Latency.Record(r.LatencyPS)
	}
}

// Aborted takes in an attempt that a conflict ended.
func (m *Meter) Aborted(typ int) {
	m.Total.Aborts++
	if m.closed {
		return
	}
	m.admit(typ)
	m.Types[typ].Counts.Aborts++
}

// admit makes room for a type, before anything of it counts.
func (m *Meter) admit(typ int) {
	for typ >= len(m.Types) {
		if len(m.Types) == 1 { // until now all requests were of this type
			m.Types[0].Latency.Merge(&m.Measured().Latency)
		}
		m.Types = append(m.Types, typeMeter{})
	}
}

// foldFresh takes what is fresh into the open window and the measured interval:
// a request is then recorded once, though it counts in both.
func (m *Meter) foldFresh() {
	if m.fresh.Latency.Count() == 0 {
		return
	}
	m.window.merge(&m.fresh)
	if !m.closed {
		m.marked.merge(&m.fresh)
	}
	m.fresh.Reset()
}

// Open is the open window.
func (m *Meter) Open() *span {
	m.foldFresh()
	return &m.window
}

// Measured is the measured interval so far.
func (m *Meter) Measured() *span {
	m.foldFresh()
	return &m.marked
}

// Close ends the measured interval.
func (m *Meter) Close() {
	m.foldFresh()
	m.closed = true
}

// LatencyOf is the distribution of a type since the mark.
func (m *Meter) LatencyOf(typ int) *metrics.Hist {
	if len(m.Types) == 1 {
		return &m.Measured().Latency
	}
	return &m.Types[typ].Latency
}

// Mark starts a measured interval.
func (m *Meter) Mark(now int64) {
	m.foldFresh()
	m.closed = false
	m.Ends.Mark(now)
	m.marked.Reset()
	for i := range m.Types {
		m.Types[i].Counts = Counts{}
		m.Types[i].Latency.Reset()
	}
}

// Ended takes a request out of what is in flight at a core's time t.
func (m *Meter) Ended(now, t, latency int64) {
	m.Flight.Add(now, t, -1)
	m.Ends.Add(now, t, latency)
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
