package chapter5

import (
	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
)

// Figures 5-hybrid are ours: how many records a snapshot reads with one READ in place of DEP_READ's RPC, and what that brings, by how
// old it is. Under DST a READ does where the tuple timestamp is no less than the snapshot's point already: some writer, or some
// other snapshot, has been there since. The older the snapshot, the more have, but the version that it sees may have left the
// row. A READ that does not do costs its round trip on top of the RPC. Snapshots of GTS claim nothing, so there it does wherever the
// row has the version. Its staleness is that of stable timestamps, whatever the knob says.

var figuresHybrid = []*figure.Definition{
	{ID: "5-hybrid-a", Title: "Snapshot reads that one READ serves", Chapter: 5, Section: "5.3.2", Scope: "cluster",
		X: figure.Axis{Label: "Staleness", Unit: "ms"}, Y: figure.Axis{Label: "Served by a READ", Unit: "%"}, Plan: planHybridShare, Claims: figure.NoClaims},
	{ID: "5-hybrid-b", Title: "Hybrid and two-sided snapshots", Chapter: 5, Section: "5.3.2", Scope: "cluster",
		X: figure.Axis{Label: "Staleness", Unit: "ms"}, Y: figure.Axis{Label: "Median latency of snapshots", Unit: "µs"}, Plan: planHybridLatency, Claims: figure.NoClaims},
}

// hybridLine is a line with its knobs at all places.
func hybridLine(scale string, l figure.Setting, read func(*result.Result) (v, ci95 float64)) figure.PlannedSeries {
	places := []int{0, 100, 1000}
	if scale == figure.Paper {
		places = []int{0, 20, 50, 100, 200, 500, 1000}
	}
	s := figure.PlannedSeries{Name: l.Name}
	for _, us := range places {
		s.Points = append(s.Points, figure.PlannedPoint{X: float64(us) / 1e3, Set: figure.With(l.Set, experiment.Knobs{"ts.staleness_ns": 1000 * us}), Read: read})
	}
	return s
}

func hybridBase(scale string) figure.Plan {
	c := val
	c.fewer = figure.With(c.fewer, experiment.Knobs{"nodes": 4, "threads": 2, "oracle.threads": 1})
	return figure.Plan{Note: c.note(scale), Base: c.base(scale, "smallbank", experiment.Knobs{"ts.scheme": "dst", "ts.freshness": "stale", "coroutines": 4, "workload.theta": 0.99, "warmup_ns": 1_200_000, "duration_ns": 1_000_000})}
}

// hybridOf READs under a scheme, with so many old versions in a row.
func hybridOf(scheme string, inline int) experiment.Knobs {
	return experiment.Knobs{"ts.scheme": scheme, "phase.ro_read": "hybrid", "ts.inline": inline}
}

func twoSidedOf(scheme string) experiment.Knobs {
	return experiment.Knobs{"ts.scheme": scheme, "phase.ro_read": "two-sided"}
}

func planHybridShare(scale string) figure.Plan {
	p := hybridBase(scale)
	for _, l := range []figure.Setting{
		{Name: "DST, no old version in the row", Set: hybridOf("dst", 0)}, {Name: "DST, one", Set: hybridOf("dst", 1)}, {Name: "DST, three", Set: hybridOf("dst", 3)},
		{Name: "GTS, none", Set: hybridOf("gts", 0)},
	} {
		p.Series = append(p.Series, hybridLine(scale, l, oneSidedShare))
	}
	return p
}

func oneSidedShare(r *result.Result) (v, ci95 float64) { return r.Parts["snapshots"]["one_sided"], 0 }

func planHybridLatency(scale string) figure.Plan {
	p := hybridBase(scale)
	for _, l := range []figure.Setting{
		{Name: "DST, two-sided", Set: twoSidedOf("dst")}, {Name: "DST, hybrid", Set: hybridOf("dst", 3)},
		{Name: "GTS, two-sided", Set: twoSidedOf("gts")}, {Name: "GTS, hybrid", Set: hybridOf("gts", 0)},
	} {
		p.Series = append(p.Series, hybridLine(scale, l, balanceLatency))
	}
	return p
}

// balanceLatency is the latency of SmallBank's read-only transactions.
func balanceLatency(r *result.Result) (v, ci95 float64) {
	v = r.ByType["balance"].LatencyUS.P50
	return v, v * figure.ShareOfCI(r, "latency_us.p50")
}
