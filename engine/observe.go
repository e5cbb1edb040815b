package engine

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"drtmx/engine/experiment"
	"drtmx/engine/history"
	"drtmx/engine/measure"
	"drtmx/engine/metrics"
	"drtmx/engine/result"
	"drtmx/engine/sim"
	"drtmx/engine/store"
	"drtmx/engine/testbed"
	"drtmx/engine/workload"
)

// cutWindow ends the open window now.
func (s *System) cutWindow() {
	c := s.cut()
	rec := measure.Record{Version: s.version, T0: s.start.PS, T1: c.PS, Counts: c.Counts.Minus(s.start.Counts), Lost: c.Lost - s.start.Lost}
	w := s.meter.Open()
	rec.Latency = w.Latency.Latency()
	rec.Merged = s.merging.Add(s.version, &w.Latency)
	rec.Flight = float32(metrics.Average(s.start.Area, c.Area))
	rec.Phases = metrics.ForPhases[measure.PackedPhase]()
	for _, p := range metrics.Phases() {
		if x, ok := w.Attr.Phase(p); ok {
			rec.Phases[p] = measure.PackedPhase{Mean: float32(x.MeanUS), P50: float32(x.P50US), Share: float32(x.Share), Trips: float32(x.RoundTrips)}
		}
	}
	s.res.Pack(&rec, metrics.Utilize(s.start.Usage, c.Usage, c.PS-s.start.PS))
	rec.NVM, rec.DIMMs = measure.NVMStatOf(s.start.NVM, c.NVM), measure.Since(s.start.DIMMs, c.DIMMs)
	rec.Bus = measure.PackBus(&s.start.Bus, &c.Bus)
	rec.Gauges = metrics.Between(s.start.Gauges, c.Gauges, c.PS-s.start.PS)
	rec.Met = measure.PackContention(s.conflicts.Open(), float64(rec.Flight), c.PS-s.start.PS)
	s.conflicts.Cut()
	s.load.look()
	bound, bounded := s.load.stalenessBound()
	rec.Stale = s.staleness.Cut(s.version, bound, bounded)
	s.packChecks(&rec)
	s.folded.add(&rec, c.Events)
	s.windows.Add(rec)
	s.keepLoad(c.Load)
	s.latencies.Keep(s.version, &w.Latency)
	w.Reset()
	s.start = c
}

// packChecks shares the verdict with the window before while it stays the same.
func (s *System) packChecks(rec *measure.Record) {
	r := s.soFar(s.rec.Report())
	rec.Checked, rec.Seen, rec.StaleSnapshots = r.Transactions, r.Seen, r.Stale
	if s.windows.Next > 0 {
		before := s.windows.Latest().Checks
		if before.OK == r.OK && before.Count-before.Stale == r.Count-r.Stale && before.Overflowed == r.Overflowed && before.Claimed == r.Claimed && maps.Equal(before.Invariants, r.Invariants) && maps.Equal(before.Violated, r.Violated) {
			rec.Checks = before
			return
		}
	}
	rec.Checks = &r
}

// Windows returns the windows from index from on that are still kept: the last 20,000.
func (s *System) Windows(from int) []result.Window {
	var out []result.Window
	s.windows.From(from, func(rec *measure.Record) { out = append(out, s.res.Window(rec)) })
	return out
}

// Mark begins a measured interval now; Result covers it. It changes nothing in the system.
func (s *System) Mark() {
	s.marked = s.cut()
	s.meter.Mark(s.marked.PS, measure.SpanFor(s.values))
	s.conflicts.Mark()
	s.staleness.Mark()
}

// measured is what was counted since the mark.
func (s *System) measured() measure.Counts { return s.meter.Total().Minus(s.marked.Counts) }

// Result is what was measured since Mark (or since 0), up to now or to the drain.
func (s *System) Result() *result.Result {
	s.refit()
	c := s.end
	if c == nil {
		now := s.cut()
		c = &now
	}
	n, ps := c.Counts.Minus(s.marked.Counts), c.PS-s.marked.PS
	q := s.quality()
	r := &result.Result{
		Spec: s.values.Clone(), PresetDiff: experiment.PresetDiff(s.values), Name: s.name, Code: s.code,
		Profile: testbed.WithNumbers(s.fab.Profile().ID(), s.values), Scope: "cluster", FromNS: s.marked.PS / sim.Nanosecond, VirtualNS: ps / sim.Nanosecond,
		WallMS: s.wall.ms(), Events: c.Events - s.marked.Events, Steady: q.steady, Unsteady: q.unsteady,
		Scale:      result.Scale{Populations: s.values.Float("workload.scale")},
		Throughput: measure.PerSecond(n.Counted(), ps), ThroughputCI95: q.ci95,
		Commits: n.Commits, Aborts: n.Aborts, AbortRate: n.AbortRate(), Rollbacks: n.Rollbacks, Empty: n.Empty, Uncounted: n.Uncounted, Failed: n.Failed, Lost: c.Lost - s.marked.Lost,
		ByType: s.byType(), LatencyUS: s.meter.Measured().Latency.Latency(), Histogram: s.meter.Measured().Latency.Histogram(), Verbs: map[string]uint64{},
		RoundTripsPerTxn: n.TripsPerTxn(), Changes: s.Changes(), Digest: s.Digest(), Digests: s.Digests(),
	}
	if q.times > 0 {
		r.Unsteady += "; " + r.MeasureLonger(q.times)
	}
	s.addIntervals(r)
	if a := &s.meter.Measured().Attr; a.Count() > 0 {
		r.Phases, r.Milestones = measure.PhasesOf(a), measure.MilestonesOf(a)
	}
	for i, name := range verbNames {
		r.Verbs[name] = c.Verbs[i] - s.marked.Verbs[i]
	}
	s.addUtilization(r, metrics.Utilize(s.marked.Usage, c.Usage, ps))
	r.Inside = s.inside(&s.marked.Load, &c.Load)
	r.Little = measure.LittleOf(&s.marked, c)
	r.UserTransactions = slices.Clone(s.userTypes)
	r.Contention = s.contentionOf(r.Little.InFlight, ps)
	r.Limit = r.Limits().Verdict()
	if r.Steady && !r.Little.Settled() {
		r.Steady, r.Unsteady = false, fmt.Sprintf("Little's law is off by %+.0f %%: requests that take long were still under way when the interval ended; measure longer", 100*r.Little.Error)
	}
	if r.Open = measure.OpenOf(&s.marked, c); r.Open != nil && r.Open.Overloaded {
		r.Steady, r.Unsteady = false, r.Open.Unsteady()
	}
	if text := r.Uncommitted(); text != "" {
		r.Steady, r.Unsteady = false, text
	}
	r.Auto, r.AutoChanges = experiment.AutoChoices(s.active, s.seen(s.active)), s.AutoChanges()
	r.NVM = measure.NVMStatOf(s.marked.NVM, c.NVM)
	r.StalenessNS = s.staleness.Measured(s.load.stalenessBound())
	r.Parts = result.PartsOf(metrics.Shown(metrics.Between(s.marked.Gauges, c.Gauges, ps)))
	r.Sections = result.SectionsOf(r.Parts, r.VirtualNS)
	if kv, ok := s.load.bench.(workload.OnKV); ok {
		r.Auto = s.chosen()
		if x, ok := kv.KV().(store.Explainer); ok {
			for part, section := range r.Sections { // order-free: each by itself
				x.Explain(part, section)
			}
		}
	}
	if s.values.Bool("timeline") {
		r.Timeline = s.timeline(c.PS)
	}
	r.Drain, r.Checks = s.drained, s.verdict()
	r.History = s.historyStat()
	return r
}

// chosen is what the ordered store has chosen, by knob; nil: nothing was left to it.
func (s *System) chosen() map[string]experiment.AutoChoice {
	if kv, ok := s.load.bench.(workload.OnKV); ok {
		if x, ok := kv.KV().(store.Chooser); ok {
			return x.Chosen()
		}
	}
	return nil
}

// timeline is the windows that ended by then.
func (s *System) timeline(ps int64) (out []result.Moment) {
	s.windows.From(0, func(rec *measure.Record) {
		if rec.T1 <= ps {
			out = append(out, result.Moment{T0NS: rec.T0 / sim.Nanosecond, T1NS: rec.T1 / sim.Nanosecond,
				Throughput: measure.PerSecond(rec.Counts.Counted(), rec.T1-rec.T0), Gauges: metrics.Shown(rec.Gauges)})
		}
	})
	return out
}

// verdict is what the checks say of all that has ended by now, and after a failure of what they had
// seen before it. Nothing is claimed where no transactions are judged.
func (s *System) verdict() *result.Checks {
	var report result.Checks
	switch s.state {
	case StateDrained:
		report = *s.final
	case StateFailed:
		report = s.rec.Report()
		s.load.addChecks(&report)
	default:
		report = s.soFar(s.rec.Judge())
	}
	report.CanShow = s.canShow()
	s.unclaim(&report)
	return &report
}

// unclaim claims nothing where no transactions are judged.
func (s *System) unclaim(r *result.Checks) {
	if r.Mode == history.Off || !experiment.Workloads.Of(s.values).Transactions {
		r.Claimed, r.CanShow = "", nil
	}
}

// soFar adds to what the history says what can be said of the workload before the cluster is at
// rest, and that there is more to come.
func (s *System) soFar(report result.Checks) result.Checks {
	report.CanShow = s.canShow()
	s.load.addChecks(&report)
	report.AtDrain = report.Mode != history.Off
	s.unclaim(&report)
	return report
}

// canShow are the anomalies that the workload's transactions can have at all, nil where it is unknown: of what
// users add nothing is known.
func (s *System) canShow() []string {
	w, ok := s.load.bench.(workload.Showing)
	if !ok || len(s.userTypes) > 0 {
		return nil
	}
	return w.CanShow()
}

// recordName is what anomalies call a record: its table by name.
func (s *System) recordName(k history.Key) string {
	if db := s.load.db; db != nil {
		if name := db.TableName(k.Table()); name != "" {
			return fmt.Sprintf("%s/%d", name, k.Row())
		}
	}
	return k.String()
}

// typeName is what anomalies call a transaction's type.
func (s *System) typeName(typ uint8) string {
	if names := s.load.bench.Types(); int(typ) < len(names) {
		return names[typ]
	}
	return fmt.Sprintf("type %d", typ)
}

func (s *System) byType() map[string]result.TypeStat {
	out := map[string]result.TypeStat{}
	types := s.meter.Types()
	for i, name := range s.load.bench.Types() {
		if i >= len(types) {
			break
		}
		t := &types[i]
		stat := result.TypeStat{Commits: t.Counts.Commits, Aborts: t.Counts.Aborts, Rollbacks: t.Counts.Rollbacks, Empty: t.Counts.Empty, Uncounted: t.Counts.Uncounted, LatencyUS: s.meter.LatencyOf(i).Latency()}
		if len(types) > 1 {
			stat.Histogram = t.Latency.Histogram()
		}
		out[name] = stat
	}
	return out
}

func (s *System) addUtilization(r *result.Result, u metrics.Utilization) {
	r.Utilization = map[string]result.Util{}
	for _, x := range u.Resources {
		r.Utilization[x.Resource] = result.Util{Mean: x.Mean, Max: x.Max}
	}
	r.Nodes = append(r.Nodes, s.res.Nodes...)
	for i := range r.Nodes {
		r.Nodes[i].Utilization = map[string]float64{}
	}
	for _, x := range u.Nodes {
		r.Nodes[x.Node].Utilization[x.Resource] = x.Max
	}
	if u.Bottleneck.Resource != "" {
		limit := u.Bottleneck
		r.Bottleneck = &limit
	}
}

// lawful asserts Little's law over the measured interval. A request in flight at one of its ends counts fully
// on one side and in part on the other, which the longest of them bounds, be it one that has arrived and will
// not end; that there are more at one end than on average happens where load grows.
func (s *System) lawful() workload.Invariant {
	l := measure.LittleOf(&s.marked, s.end)
	inv := workload.Invariant{Name: "littles-law", OK: true, Rule: "requests in flight are throughput times latency (Little's law), but for those that cross the interval's ends"}
	if l.InFlight == 0 {
		return inv
	}
	crossing := float64(max(s.marked.Area.Count, s.end.Area.Count)) / l.InFlight
	longest := max(s.meter.Longest(), s.end.PS-s.load.oldest(s.end.PS))
	edge := crossing * float64(longest) / float64(max(s.end.PS-s.marked.PS, 1))
	if inv.OK = math.Abs(l.Error) <= littleError+edge; !inv.OK {
		inv.Text = fmt.Sprintf("%.4g were in flight, throughput times latency is %.4g; %.2g %% apart, where at most %.2g %% may be", l.InFlight, l.ThroughputXLatency, 100*math.Abs(l.Error), 100*(littleError+edge))
	}
	return inv
}

// littleError is what rounding and the clocks of cores that run ahead of events may amount to.
const littleError = 0.01

// contentionOf is that of the measured interval; nil where no transactions conflicted.
func (s *System) contentionOf(inFlight float64, ps int64) *result.ContentionStat {
	m := s.conflicts.Measured()
	if m.Conflicts == 0 && m.LostPS == 0 {
		return nil
	}
	c := &result.ContentionStat{Conflicts: m.Conflicts, LostShare: measure.LostShare(m.LostPS, inFlight, ps)}
	for _, h := range m.Hottest(result.HotShown) {
		k := history.Key(h.Key)
		r := result.HotRecord{Table: s.tableName(k.Table()), Key: k.Row(), Conflicts: h.Conflicts, Over: h.Over, LockWaitUS: float64(h.WaitPS) / 1e6, Aborts: h.Aborts, ByType: map[string]uint64{}}
		for typ, n := range h.ByType {
			if n > 0 {
				r.ByType[s.typeName(uint8(typ))] += uint64(n)
			}
		}
		c.Hot = append(c.Hot, r)
	}
	return c
}

// tableName is what people call a table.
func (s *System) tableName(id uint8) string {
	if db := s.load.db; db != nil {
		if name := db.TableName(id); name != "" {
			return name
		}
	}
	return fmt.Sprintf("table %d", id)
}

// RecentLatency is the distribution of latency in the latest windows, ten at most, and only those under the
// knobs of the last of them; nil while nothing was committed in any.
func (s *System) RecentLatency() *result.Histogram { return s.latencies.Recent() }

// RecentStaleness is that of how old what snapshots read was.
func (s *System) RecentStaleness() *result.Histogram { return s.staleness.Recent() }

// StalenessBound is how old that is at most with the present knobs, where the scheme promises it.
func (s *System) StalenessBound() (ns int64, ok bool) { return s.load.stalenessBound() }

// quality says how far the throughput of the measured interval can be trusted.
type quality struct {
	ci95     float64 // half-width of the 95 % interval as a share; 0: unknown
	drift    bool    // the throughput moves by more than noise
	steady   bool
	unsteady string
	times    float64 // so many times as long would do; 0: unknown
}

// steadyCI is how wide an interval a steady run may have, as a share.
const steadyCI = 0.05

// judge looks at the commits in equal spans of time that belong to the throughput.
func judge(commits []float64) quality {
	e := metrics.EstimateMean(commits)
	switch {
	case e.Why == metrics.TooShort:
		return quality{unsteady: "the measured interval is " + e.Reason("throughput"), times: e.Times()}
	case e.Mean == 0:
		return quality{unsteady: "nothing was committed that belongs to the throughput"}
	case e.Why != metrics.None:
		return quality{drift: e.Why == metrics.Drifting, unsteady: e.Reason("throughput"), times: e.Times()}
	}
	q := quality{ci95: e.Half95 / e.Mean, steady: true}
	if q.ci95 > steadyCI {
		q.steady, q.unsteady = false, fmt.Sprintf("the 95 %% interval of the throughput is ± %.1f %%, wider than %g %%", 100*q.ci95, 100*steadyCI)
		q.times = math.Pow(q.ci95/steadyCI, 2) // it narrows with the root of the length
	}
	return q
}

// quality judges the throughput since the mark.
func (s *System) quality() quality {
	if s.auto.changedSince(s.marked.PS) {
		return quality{drift: true, unsteady: s.auto.unsteady()}
	}
	return judge(s.meter.Spans.Series(measure.CountedOf))
}

// ciQuantiles are those of the latency.
var ciQuantiles = []struct {
	key string
	q   float64
}{{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}}

// addIntervals gives every quantity its interval, or the reason why there is none.
func (s *System) addIntervals(r *result.Result) {
	r.CI95, r.NoCI95 = map[string]float64{}, map[string]string{}
	moved := "" // what holds of one holds of all
	if q := s.quality(); q.drift {
		moved = q.unsteady
	}
	add := func(key, what string, share float64, e metrics.Estimate) {
		why := moved
		if why == "" {
			if why = e.Reason(what); e.Times() > 0 {
				why += "; " + r.MeasureLonger(e.Times())
			}
		}
		if why != "" {
			r.NoCI95[key] = why
			return
		}
		r.CI95[key] = share
	}
	ratio := func(key, what string, of, over []float64) {
		e := metrics.EstimateRatio(of, over)
		share := 0.0
		if e.Mean > 0 {
			share = e.Half95 / e.Mean
		}
		add(key, what, share, e)
	}
	x := &s.meter.Spans
	commits := x.Series(measure.CommitsOf)
	ratio(result.CIThroughput, "throughput", x.Series(measure.CountedOf), ones(len(commits)))
	ratio(result.CITrips, "the number of round trips", x.Series(measure.TripsOf), commits)
	ratio(result.CIAborts, "the abort rate", x.Series(measure.AbortsOf), x.Series(measure.AttemptsOf))
	latency, parts := &s.meter.Measured().Latency, x.Latencies()
	for _, q := range ciQuantiles {
		if _, known := latency.QuantileNS(q.q); known {
			share, e := metrics.QuantileCI95(latency, parts, q.q)
			add(q.key, "the share of what takes longer than "+q.key, share, e)
		}
	}
}

func ones(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}
