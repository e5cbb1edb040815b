package windows

import (
	"math"
	"sort"

	"drtmx/dashboard/charts/palette"
	"drtmx/engine/metrics"
	"drtmx/engine/result"
)

// Phases is the order in which a transaction goes through its phases.
var Phases = palette.Phases.Names()

var phaseIndex = func() map[string]int {
	m := map[string]int{}
	for i, p := range Phases {
		m[p] = i
	}
	return m
}()

// Moment is what the page keeps of a window: a tenth of its size, so that the
// history of four systems fits, and without maps, so that walking it is cheap.
type Moment struct {
	Index      int
	T0, T1     int64
	Version    int // of the knobs when it began
	Commits    uint64
	Failed     uint64
	Lost       uint64
	Throughput float64
	P50, P99   float64 // NaN: too few samples in the window
	Over50     int32   // so many windows have the percentile together, this one the last of them; 0: this one alone
	Over99     int32
	Aborts     float64 // in percent of attempts
	Failures   float64 // in percent of requests; NaN: none ended
	Trips      float64
	Phases     []float32 // mean us, in the order of Phases
	limit      limit
	Oldest     float32   // staleness of what snapshots read, in us; NaN: none has read
	Promise    float32   // the bound of it; NaN: none
	Gauges     []float32 // by their places; nil: none shows anything
	HostTraffic
}

func Of(w *result.Window) Moment {
	m := Moment{
		Index: w.Index, T0: w.T0NS, T1: w.T1NS, Version: w.KnobsVersion, Commits: w.Commits, Throughput: w.Throughput,
		P50: absentIfZero(w.LatencyUS.P50), P99: absentIfZero(w.LatencyUS.P99), Aborts: 100 * w.AbortRate, Trips: w.RoundTripsPerTxn, HostTraffic: hostTrafficOf(w),
		Failed: w.Failed, Lost: w.Lost, Failures: 100 * float64(w.Failed) / float64(w.Commits+w.Rollbacks+w.Failed),
	}
	if x := w.Merged; x != nil {
		if x.P50Windows > 0 {
			m.P50, m.Over50 = x.P50US, int32(x.P50Windows)
		}
		if x.P99Windows > 0 {
			m.P99, m.Over99 = x.P99US, int32(x.P99Windows)
		}
	}
	m.Phases = make([]float32, len(Phases))
	for name, s := range w.Phases {
		if i, ok := phaseIndex[name]; ok {
			m.Phases[i] = float32(s.MeanUS)
		}
	}
	if w.Commits == 0 { // nothing to take the mean of
		m.Trips = math.NaN()
		for i := range m.Phases {
			m.Phases[i] = nan
		}
	}
	if w.Commits+w.Rollbacks+w.Aborts == 0 { // no attempt ended
		m.Aborts = math.NaN()
	}
	m.limit, m.Gauges, m.Oldest, m.Promise = limitOfWindow(w), gaugesOf(w), nan, nan
	if s := w.StalenessNS; s != nil {
		m.Oldest = float32(s.Max) / 1e3
		if s.Bound != nil {
			m.Promise = float32(*s.Bound) / 1e3
		}
	}
	return m
}

var nan = float32(math.NaN())

func absentIfZero(v float64) float64 {
	if v == 0 {
		return math.NaN()
	}
	return v
}

// Between is the moments of a span of virtual time.
func Between(ms []Moment, from, to int64) []Moment {
	lo := sort.Search(len(ms), func(i int) bool { return ms[i].T0 >= from })
	hi := sort.Search(len(ms), func(i int) bool { return ms[i].T1 > to })
	return ms[min(lo, hi):hi]
}

// Under is the windows that lie wholly under one version of the knobs. A window
// carries the version that it began with; the one in which the next change fell
// is left out.
func Under(ms []Moment, version int) []Moment {
	lo := sort.Search(len(ms), func(i int) bool { return ms[i].Version >= version })
	hi := sort.Search(len(ms), func(i int) bool { return ms[i].Version > version })
	if hi < len(ms) && hi > lo {
		hi--
	}
	return ms[lo:hi]
}

// gaugesOf is what they show in a window, in the order of metrics.Gauges; nil: nothing.
func gaugesOf(w *result.Window) []float32 {
	if len(w.Gauges) == 0 {
		return nil
	}
	all := metrics.Gauges()
	out := make([]float32, len(all))
	for _, g := range all {
		out[g.Place()] = nan
		if x, ok := w.Gauges[g.Key()]; ok {
			out[g.Place()] = float32(x)
		}
	}
	return out
}

// Gauge is what a gauge, part.name, showed in a window; NaN: nothing.
func (m *Moment) Gauge(key string) float64 {
	g := metrics.Named(key)
	if g == nil || g.Place() >= len(m.Gauges) {
		return math.NaN()
	}
	return float64(m.Gauges[g.Place()])
}
