package chapter5

import (
	"fmt"
	"math"
	"slices"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
)

// Figure 5-15: what DST costs (§5.5.4), on two workloads of ten small records. In (a) one transaction reads all that another
// writes again and again: the worst case for a snapshot, which waits for locks unless it is of the past. In (b) read-write
// transactions only read some of their records, whose timestamps DST has to raise. The thesis names no cluster; medians of
// milliseconds are those of TCP. Nor does it name the concurrency control: its line, and the claims, are of optimistic concurrency
// control (DrTM+H), under which a writer of what it has read holds locks for two of its three round trips. Under two-phase locking,
// the other lines of (a), it holds them from its begin. Either way it is between two transactions when about half of the reads come, since
// those that it blocks are longer and fewer: the median hides what the mean shows.

const (
	labelMedian    = "DST, median"
	labelMean      = "DST, mean"
	labelMedian2PL = "DST on 2PL, median"
	labelMean2PL   = "DST on 2PL, mean"

	labelWithoutDST = "without DST"
)

var stalenessFigures = []*figure.Definition{
	{ID: "5-15a", Title: "Staleness and blocked reads", Chapter: 5, Section: "5.5.4", Scope: "cluster", Costs: tcpCosts,
		X: figure.Axis{Label: "Staleness", Unit: "ms"}, Y: figure.Axis{Label: "Latency of reads", Unit: "ms", Log: true}, Plan: planStaleness, Claims: stalenessClaims},
	{ID: "5-15b", Title: "Records that are only read", Chapter: 5, Section: "5.5.4", Scope: "cluster", Costs: tcpCosts,
		X: figure.Axis{Label: "Only read", Unit: "%"}, Y: figure.Axis{Label: "Throughput", Unit: "Mtxn/s"}, Plan: planReadOnlyRecords, Claims: readOnlyRecordClaims},
}

// stalenessPlaces are the places of panel a, in us.
func stalenessPlaces(scale string) []int {
	if scale == figure.Paper {
		return []int{0, 20, 50, 100, 200, 300, 500, 1000, 2000}
	}
	return []int{0, 50, 100, 200, 500, 1000}
}

func planStaleness(scale string) figure.Plan {
	base := vale.base(scale, "ts-block", experiment.Knobs{"nodes": 4, "threads": 2, "coroutines": 1, "oracle.threads": 1, "ts.scheme": "dst", "workload.scale": 1.0, "warmup_ns": 2_000_000, "duration_ns": 20_000_000})
	p := figure.Plan{Base: base, Note: "four machines with one reader and one writer each; " + vale.name}
	for _, l := range []struct {
		name, cc string
		read     func(r *result.Result) (y, ci95 float64)
	}{{labelMedian, "occ", readMedian}, {labelMean, "occ", readMean}, {labelMedian2PL, "2pl", readMedian}, {labelMean2PL, "2pl", readMean}} {
		s := figure.PlannedSeries{Name: l.name}
		for _, us := range stalenessPlaces(scale) {
			s.Points = append(s.Points, figure.PlannedPoint{X: float64(us) / 1e3, Set: experiment.Knobs{"cc": l.cc, "ts.staleness_ns": 1000 * us}, Read: l.read})
		}
		p.Series = append(p.Series, s)
	}
	return p
}

func readMedian(r *result.Result) (v, ci95 float64) {
	v = r.ByType["read"].LatencyUS.P50 / 1e3
	return v, v * figure.ShareOfCI(r, "latency_us.p50")
}

func readMean(r *result.Result) (v, ci95 float64) {
	return r.ByType["read"].LatencyUS.Mean / 1e3, 0
}

// blockedShare is the share of snapshot reads that waited, where the run counts them.
func blockedShare(f *figure.Figure, p figure.Point) []figure.Claim {
	share, ok := f.Runs[p.Run].Parts["snapshots"]["blocked"]
	if !ok {
		return []figure.Claim{}
	}
	return []figure.Claim{figure.Measured("f5-15a-blocked", "staleness 0: reads that are blocked", "%", share, 0, "gauge snapshots.blocked")}
}

func stalenessClaims(f *figure.Figure) []figure.Claim {
	points := f.Line(labelMedian).Points
	if len(points) < 2 {
		return nil
	}
	now, free := points[0], points[0] // the latter: not blocked. Where none is, older snapshots only take longer, to pass the versions they do not see
	for _, p := range points {
		if p.Y < free.Y {
			free = p
		}
	}
	knee := points[slices.IndexFunc(points, func(p figure.Point) bool { return p.Y <= 1.05*free.Y })]
	why := fmt.Sprintf("%.3g %s at staleness 0, the least is %.3g at %.3g ms", now.Y, f.Y.Unit, free.Y, free.X)
	return append(blockedShare(f, now), []figure.Claim{
		figure.Measured("f5-15a-overhead", "what blocking adds to the median latency", "%", 100*(now.Y/free.Y-1), 0, why),
		figure.Measured("f5-15a-lat0", "median latency at staleness 0", f.Y.Unit, now.Y, now.CI95, why).At(labelMedian, now.X),
		figure.Measured("f5-15a-latbase", "median latency without blocking", f.Y.Unit, free.Y, free.CI95, why).At(labelMedian, math.NaN()),
		figure.Measured("f5-15a-knee", "staleness from which on blocking adds less than 5 %", "ms", knee.X, 0, why),
		figure.Counted("f5-15-tuples", "a transaction has ten records", 10, numberOf(f.Runs[now.Run], "workload.tuples"), "knob workload.tuples"),
	}...)
}

func planReadOnlyRecords(scale string) figure.Plan {
	base := vale.base(scale, "ts-update", experiment.Knobs{"coroutines": 4, "workload.scale": 1.0, "warmup_ns": 4_000_000, "duration_ns": 16_000_000})
	p := figure.Plan{Base: base, Note: vale.note(scale)}
	shares := []int{0, 50, 90}
	if scale == figure.Paper {
		shares = []int{0, 20, 40, 60, 80, 90}
	}
	for _, l := range []figure.Setting{{Name: labelDST, Set: experiment.Knobs{"ts.scheme": "dst"}}, {Name: labelWithoutDST, Set: nil}} {
		s := figure.PlannedSeries{Name: l.Name}
		for _, n := range shares {
			s.Points = append(s.Points, figure.PlannedPoint{X: float64(n), Set: figure.With(l.Set, experiment.Knobs{"workload.read_share": n}), Read: figure.Mtxn})
		}
		p.Series = append(p.Series, s)
	}
	return p
}

func readOnlyRecordClaims(f *figure.Figure) []figure.Claim {
	out := compared(f, "f5-15b-overhead", "what raising timestamps of records that are only read costs, up to", figure.LessBy, labelWithoutDST, labelDST, figure.Everywhere)
	rs := f.Ratios(figure.Pair{Above: labelDST, Below: labelWithoutDST}, onlyAt(0))
	if len(rs) == 0 {
		return out
	}
	v := 100 * (1 - rs[0].Value)
	return append(out, figure.Claim{ID: "f5-15b-zero", Claim: "where all records are written DST costs nothing", Reference: "0", Measured: &v, Unit: "%", Status: figure.Near(rs[0].Value, rs[0].Half, 1), Why: f.Because(rs[0])})
}
