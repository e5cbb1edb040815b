package figures

import (
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Figures 5-hybrid are ours: how many records a snapshot reads with one READ in place of DEP_READ's RPC, and what that brings, by how
// old it is. Under DST a READ does where the tuple timestamp is no less than the snapshot's point already: some writer, or some
// other snapshot, has been there since. The older the snapshot, the more have, but the version that it sees may have left the
// row. A READ that does not do costs its round trip on top of the RPC. Snapshots of GTS claim nothing, so there it does wherever the
// row has the version. Its staleness is that of stable timestamps, whatever the knob says.

var figuresHybrid = []*definition{
	{id: "5-hybrid-a", title: "Snapshot reads that one READ serves", chapter: 5, section: "5.3.2", scope: "cluster",
		x: Axis{Label: "Staleness", Unit: "ms"}, y: Axis{Label: "Served by a READ", Unit: "%"}, plan: planHybridShare, claims: noClaims},
	{id: "5-hybrid-b", title: "Hybrid and two-sided snapshots", chapter: 5, section: "5.3.2", scope: "cluster",
		x: Axis{Label: "Staleness", Unit: "ms"}, y: Axis{Label: "Median latency of snapshots", Unit: "us"}, plan: planHybridLatency, claims: noClaims},
}

// hybridLine is a line with its knobs at all places.
func hybridLine(scale string, l line4, read func(*result.Result) (v, ci95 float64)) plannedSeries {
	places := []int{0, 100, 1000}
	if scale == Paper {
		places = []int{0, 20, 50, 100, 200, 500, 1000}
	}
	s := plannedSeries{name: l.name}
	for _, us := range places {
		s.points = append(s.points, plannedPoint{x: float64(us) / 1e3, set: with(l.set, experiment.Knobs{"ts.staleness_ns": 1000 * us}), read: read})
	}
	return s
}

func hybridBase(scale string) plan {
	c := val5
	c.fewer = with(c.fewer, experiment.Knobs{"nodes": 4, "threads": 2, "oracle.threads": 1})
	return plan{note: c.note(scale), base: c.base(scale, "smallbank", experiment.Knobs{"ts.scheme": "dst", "ts.freshness": "stale", "coroutines": 4, "workload.theta": 0.99, "warmup_ns": 1_200_000, "duration_ns": 1_000_000})}
}

// hybridOf READs under a scheme, with so many old versions in a row.
func hybridOf(scheme string, inline int) experiment.Knobs {
	return experiment.Knobs{"ts.scheme": scheme, "phase.ro_read": "hybrid", "ts.inline": inline}
}

func twoSidedOf(scheme string) experiment.Knobs {
	return experiment.Knobs{"ts.scheme": scheme, "phase.ro_read": "two-sided"}
}

func planHybridShare(scale string) plan {
	p := hybridBase(scale)
	for _, l := range []line4{
		{"DST, no old version in the row", hybridOf("dst", 0)}, {"DST, one", hybridOf("dst", 1)}, {"DST, three", hybridOf("dst", 3)},
		{"GTS, none", hybridOf("gts", 0)},
	} {
		p.series = append(p.series, hybridLine(scale, l, oneSided5))
	}
	return p
}

func oneSided5(r *result.Result) (v, ci95 float64) { return r.Parts["snapshots"]["one_sided"], 0 }

func planHybridLatency(scale string) plan {
	p := hybridBase(scale)
	for _, l := range []line4{
		{"DST, two-sided", twoSidedOf("dst")}, {"DST, hybrid", hybridOf("dst", 3)},
		{"GTS, two-sided", twoSidedOf("gts")}, {"GTS, hybrid", hybridOf("gts", 0)},
	} {
		p.series = append(p.series, hybridLine(scale, l, balance5))
	}
	return p
}

// balance5 is the latency of SmallBank's read-only transactions.
func balance5(r *result.Result) (v, ci95 float64) {
	v = r.ByType["balance"].LatencyUS.P50
	return v, v * shareOfCI(r, "latency_us.p50")
}
