package figures

import (
	"fmt"
	"slices"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Figure 5-15: what DST costs (§5.5.4), on two workloads of ten small records. In (a) one transaction reads all that another
// writes again and again: the worst case for a snapshot, which waits for locks unless it is of the past. In (b) read-write
// transactions only read some of their records, whose timestamps DST has to raise. The thesis names no cluster; medians of
// milliseconds are those of TCP. Nor does it name the concurrency control: its line, and the claims, are of optimistic concurrency
// control (DrTM+H), under which a writer of what it has read holds locks for two of its three round trips. Under two-phase locking,
// the other lines of (a), it holds them from its begin. Either way it is between two transactions when about half of the reads come, since
// those that it blocks are longer and fewer: the median hides what the mean shows.

const (
	median515   = "DST, median"
	mean515     = "DST, mean"
	median2PL15 = "DST on 2PL, median"
	mean2PL15   = "DST on 2PL, mean"

	noDST515 = "without DST"
)

var figures515 = []*definition{
	{id: "5-15a", title: "Staleness and blocked reads", chapter: 5, section: "5.5.4", scope: "cluster", costs: tcpCosts,
		x: Axis{Label: "Staleness", Unit: "ms"}, y: Axis{Label: "Latency of reads", Unit: "ms"}, plan: plan515a, claims: claims515a},
	{id: "5-15b", title: "Records that are only read", chapter: 5, section: "5.5.4", scope: "cluster", costs: tcpCosts,
		x: Axis{Label: "Only read", Unit: "%"}, y: Axis{Label: "Throughput", Unit: "Mtxn/s"}, plan: plan515b, claims: claims515b},
}

// staleness5 are the places of panel a, in us.
func staleness5(scale string) []int {
	if scale == Paper {
		return []int{0, 20, 50, 100, 200, 300, 500, 1000, 2000}
	}
	return []int{0, 50, 100, 200, 500, 1000}
}

func plan515a(scale string) plan {
	base := vale5.base(scale, "ts-block", experiment.Knobs{"nodes": 4, "threads": 2, "coroutines": 1, "oracle.threads": 1, "ts.scheme": "dst", "workload.scale": 1.0, "warmup_ns": 2_000_000, "duration_ns": 20_000_000})
	p := plan{base: base, note: "four machines with one reader and one writer each; " + vale5.name}
	for _, l := range []struct {
		name, cc string
		read     func(r *result.Result) (y, ci95 float64)
	}{{median515, "occ", readMedian515}, {mean515, "occ", readMean515}, {median2PL15, "2pl", readMedian515}, {mean2PL15, "2pl", readMean515}} {
		s := plannedSeries{name: l.name}
		for _, us := range staleness5(scale) {
			s.points = append(s.points, plannedPoint{x: float64(us) / 1e3, set: experiment.Knobs{"cc": l.cc, "ts.staleness_ns": 1000 * us}, read: l.read})
		}
		p.series = append(p.series, s)
	}
	return p
}

func readMedian515(r *result.Result) (v, ci95 float64) {
	v = r.ByType["read"].LatencyUS.P50 / 1e3
	return v, v * shareOfCI(r, "latency_us.p50")
}

func readMean515(r *result.Result) (v, ci95 float64) {
	return r.ByType["read"].LatencyUS.Mean / 1e3, 0
}

// blocked515 is the share of snapshot reads that waited, where the run counts them.
func (f *Figure) blocked515(p Point) []Claim {
	share, ok := f.Runs[p.Run].Parts["snapshots"]["blocked"]
	if !ok {
		return []Claim{}
	}
	return []Claim{withheld("f5-15a-blocked", "staleness 0: reads that are blocked", "%", share, "gauge snapshots.blocked")}
}

func claims515a(f *Figure) []Claim {
	points := f.series(median515).Points
	if len(points) < 2 {
		return nil
	}
	now, free := points[0], points[0] // the latter: not blocked. Where nobody is, older snapshots only take longer, to pass the versions they do not see
	for _, p := range points {
		if p.Y < free.Y {
			free = p
		}
	}
	knee := points[slices.IndexFunc(points, func(p Point) bool { return p.Y <= 1.05*free.Y })]
	why := fmt.Sprintf("%.3g %s at staleness 0, the least is %.3g at %.3g ms", now.Y, f.Y.Unit, free.Y, free.X)
	return append(f.blocked515(now), []Claim{
		withheld("f5-15a-overhead", "what blocking adds to the median latency", "%", 100*(now.Y/free.Y-1), why),
		withheld("f5-15a-lat0", "median latency at staleness 0", f.Y.Unit, now.Y, why),
		withheld("f5-15a-latbase", "median latency without blocking", f.Y.Unit, free.Y, why),
		withheld("f5-15a-knee", "staleness from which on blocking adds less than 5 %", "ms", knee.X, why),
		counted("f5-15-tuples", "a transaction has ten records", 10, numberOf(f.Runs[now.Run], "workload.tuples"), "knob workload.tuples"),
	}...)
}

func plan515b(scale string) plan {
	base := vale5.base(scale, "ts-update", experiment.Knobs{"coroutines": 4, "workload.scale": 1.0, "warmup_ns": 4_000_000, "duration_ns": 16_000_000})
	p := plan{base: base, note: vale5.note(scale)}
	shares := []int{0, 50, 90}
	if scale == Paper {
		shares = []int{0, 20, 40, 60, 80, 90}
	}
	for _, l := range []line4{{dst5, experiment.Knobs{"ts.scheme": "dst"}}, {noDST515, nil}} {
		s := plannedSeries{name: l.name}
		for _, n := range shares {
			s.points = append(s.points, plannedPoint{x: float64(n), set: with(l.set, experiment.Knobs{"workload.read_share": n}), read: mtxn})
		}
		p.series = append(p.series, s)
	}
	return p
}

func claims515b(f *Figure) []Claim {
	out := f.slower("f5-15b-overhead", "what raising timestamps of records that are only read costs, up to", dst5, noDST515, everywhere)
	rs := f.ratios(pair{dst5, noDST515}, at5(0))
	if len(rs) == 0 {
		return out
	}
	v := 100 * (1 - rs[0].value)
	return append(out, Claim{ID: "f5-15b-zero", Claim: "where all records are written DST costs nothing", Reference: "0", Measured: &v, Unit: "%", Status: near(rs[0].value, rs[0].half, 1), Why: f.because(rs[0])})
}
