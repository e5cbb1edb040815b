package engine

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"drtmx/engine/history"
	"drtmx/engine/metrics"
	"drtmx/engine/sim"
	"drtmx/engine/testbed"
	"drtmx/engine/workload"
)

// cutWindow ends the open window now.
func (s *System) cutWindow() {
	c := s.cut()
	rec := record{version: s.version, t0: s.start.ps, t1: c.ps, counts: c.counts.minus(s.start.counts), lost: c.lost - s.start.lost}
	w := s.meter.open()
	rec.latency = w.latency.Latency()
	rec.flight = float32(metrics.Average(s.start.area, c.area))
	for p := range metrics.NumPhases {
		if x, ok := w.attr.Phase(p); ok {
			rec.phases[p] = packedPhase{float32(x.MeanUS), float32(x.P50US), float32(x.Share), float32(x.RoundTrips)}
		}
	}
	s.res.pack(&rec, metrics.Utilize(s.start.usage, c.usage, c.ps-s.start.ps))
	rec.nvm, rec.dimms = nvmStat(s.start.nvm, c.nvm), since(s.start.dimms, c.dimms)
	rec.bus = packBus(&s.start.bus, &c.bus)
	rec.met = packContention(&s.conflicts.window, float64(rec.flight), c.ps-s.start.ps)
	s.conflicts.window.Reset()
	s.load.look()
	s.packChecks(&rec)
	s.folded.add(&rec, c.events)
	s.windows.add(rec)
	s.keepLoad(c.load)
	s.latencies.keep(s.version, &w.latency)
	w.reset()
	s.start = c
}

// packChecks shares the verdict with the window before while it stays the same.
func (s *System) packChecks(rec *record) {
	r := s.soFar(s.rec.Report())
	rec.checked, rec.seen = r.Transactions, r.Seen
	if s.windows.next > 0 {
		before := s.windows.latest().checks
		if before.OK == r.OK && before.Count == r.Count && before.Overflowed == r.Overflowed && before.Claimed == r.Claimed && maps.Equal(before.Invariants, r.Invariants) && maps.Equal(before.Violated, r.Violated) {
			rec.checks = before
			return
		}
	}
	rec.checks = &r
}

// Windows returns the windows from index from on that are still kept: the last 20,000.
func (s *System) Windows(from int) []Window {
	var out []Window
	s.windows.from(from, func(rec *record) { out = append(out, s.res.window(rec)) })
	return out
}

// Mark begins a measured interval now; Result covers it. It changes nothing in the system.
func (s *System) Mark() {
	s.marked = s.cut()
	s.meter.mark(s.marked.ps)
	s.conflicts.mark()
	s.meter.spans.restart(s.marked.ps, s.marked.counts, spanFor(s.values))
}

// measured is what was counted since the mark.
func (s *System) measured() counts { return s.meter.total.minus(s.marked.counts) }

// Result is what was measured since Mark (or since 0), up to now or to the drain.
func (s *System) Result() *Result {
	c := s.end
	if c == nil {
		now := s.cut()
		c = &now
	}
	n, ps := c.counts.minus(s.marked.counts), c.ps-s.marked.ps
	q := s.quality()
	r := &Result{
		Spec: s.values.Clone(), PresetDiff: presetDiff(s.values), Name: s.name, Code: CodeVersion(),
		Profile: testbed.WithNumbers(s.fab.Profile().ID(), s.values), Scope: "cluster", FromNS: s.marked.ps / sim.Nanosecond, VirtualNS: ps / sim.Nanosecond,
		WallMS: s.wall.ms(), Events: c.events - s.marked.events, Steady: q.steady, Unsteady: q.unsteady,
		Scale:      Scale{s.values.Float("workload.scale")},
		Throughput: perSecond(n.commits, ps), ThroughputCI95: q.ci95,
		Commits: n.commits, Aborts: n.aborts, AbortRate: n.abortRate(), Rollbacks: n.rollbacks, Failed: n.failed, Lost: c.lost - s.marked.lost,
		ByType: s.byType(), LatencyUS: s.meter.measured().latency.Latency(), Histogram: s.meter.measured().latency.Histogram(), Verbs: map[string]uint64{},
		RoundTripsPerTxn: n.tripsPerTxn(), Changes: s.Changes(), Digest: s.Digest(), Digests: s.Digests(),
	}
	s.addIntervals(r)
	if a := &s.meter.measured().attr; a.Count() > 0 {
		r.Phases, r.Milestones = phasesOf(a), milestonesOf(a)
	}
	for i, name := range verbNames {
		r.Verbs[name] = c.verbs[i] - s.marked.verbs[i]
	}
	s.addUtilization(r, metrics.Utilize(s.marked.usage, c.usage, ps))
	r.Inside = s.inside(&s.marked.load, &c.load)
	r.Little = little(&s.marked, c)
	r.UserTransactions = slices.Clone(s.userTypes)
	r.Contention = s.contentionOf(r.Little.InFlight, ps)
	r.Limit = r.limits().verdict()
	if r.Steady && !r.Little.Settled() {
		r.Steady, r.Unsteady = false, fmt.Sprintf("Little's law is off by %+.0f %%: requests that take long were still under way when the interval ended; measure longer", 100*r.Little.Error)
	}
	if text := r.Uncommitted(); text != "" {
		r.Steady, r.Unsteady = false, text
	}
	r.Auto, r.AutoChanges = autoChoices(s.active, s.seen(s.active)), s.AutoChanges()
	r.NVM = nvmStat(s.marked.nvm, c.nvm)
	r.Drain, r.Checks = s.drained, s.verdict()
	r.History = s.historyStat()
	return r
}

// verdict is what the checks say of all that has ended by now, and after a failure of what they had
// seen before it. Nothing is claimed where no transactions are judged.
func (s *System) verdict() *Checks {
	var report Checks
	switch s.state {
	case StateDrained:
		report = *s.final
	case StateFailed:
		report = s.rec.Report()
		s.load.tell(&report)
	default:
		report = s.soFar(s.rec.Judge())
	}
	report.CanShow = s.canShow()
	s.unclaim(&report)
	return &report
}

// unclaim claims nothing where no transactions are judged.
func (s *System) unclaim(r *Checks) {
	if r.Mode == history.Off || !workloads.Of(s.values).Transactions {
		r.Claimed, r.CanShow = "", nil
	}
}

// soFar adds to what the history says what can be said of the workload before the cluster is at
// rest, and that there is more to come.
func (s *System) soFar(report Checks) Checks {
	report.CanShow = s.canShow()
	s.load.tell(&report)
	report.AtDrain = report.Mode != history.Off
	s.unclaim(&report)
	return report
}

// canShow are the anomalies that the workload's transactions can have at all, nil where nobody knows: of what
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

func (s *System) byType() map[string]TypeStat {
	out := map[string]TypeStat{}
	for i, name := range s.load.bench.Types() {
		if i >= len(s.meter.types) {
			break
		}
		t := &s.meter.types[i]
		stat := TypeStat{Commits: t.counts.commits, Aborts: t.counts.aborts, Rollbacks: t.counts.rollbacks, LatencyUS: s.meter.latencyOf(i).Latency()}
		if len(s.meter.types) > 1 {
			stat.Histogram = t.latency.Histogram()
		}
		out[name] = stat
	}
	return out
}

func (s *System) addUtilization(r *Result, u metrics.Utilization) {
	r.Utilization = map[string]Util{}
	for _, x := range u.Resources {
		r.Utilization[x.Resource] = Util{x.Mean, x.Max}
	}
	r.Nodes = append(r.Nodes, s.res.nodes...)
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
	l := little(&s.marked, s.end)
	inv := workload.Invariant{Name: "littles-law", OK: true, Rule: "requests in flight are throughput times latency (Little's law), but for those that cross the interval's ends"}
	if l.InFlight == 0 {
		return inv
	}
	crossing := float64(max(s.marked.area.Count, s.end.area.Count)) / l.InFlight
	longest := max(s.meter.ends.Longest(), s.end.ps-s.load.oldest(s.end.ps))
	edge := crossing * float64(longest) / float64(max(s.end.ps-s.marked.ps, 1))
	if inv.OK = math.Abs(l.Error) <= littleError+edge; !inv.OK {
		inv.Text = fmt.Sprintf("%.4g were in flight, throughput times latency is %.4g; %.2g %% apart, where at most %.2g %% may be", l.InFlight, l.ThroughputXLatency, 100*math.Abs(l.Error), 100*(littleError+edge))
	}
	return inv
}

// littleError is what rounding and the clocks of cores that run ahead of events may amount to.
const littleError = 0.01
