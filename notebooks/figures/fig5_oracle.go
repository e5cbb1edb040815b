package figures

import (
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Figures 5-rtt and 5-oracle are ours: what a message to a timestamp oracle and its answer take on each of the chapter's clusters, and
// how many transactions an oracle serves without any of its optimisations. §5.5.1 tells both, the first of VALE and the second of
// VAL, whose oracle "the CPU may become the bottleneck" of; Figure 5-6a is the second of VALE alone.

var clusters5 = []cluster5{aws5, vale5, val5}

var (
	figureRTT = definition{id: "5-rtt", title: "Round trips to a timestamp oracle", chapter: 5, section: "5.5.1", scope: "cluster", form: formBars,
		x: Axis{Label: "Cluster"}, y: Axis{Label: "Median round trip", Unit: "us"}, plan: planRTT, claims: claimsRTT}
	figureOracle = definition{id: "5-oracle", title: "What a timestamp oracle serves on each cluster", chapter: 5, section: "5.5.1", scope: "cluster", form: formBars,
		x: Axis{Label: "Cluster"}, y: Axis{Label: "Transactions that it serves", Unit: "Mops/s"}, plan: planOracle, claims: claimsOracle}
)

const roundTrip5 = "the stable timestamp"

// planRTT has one client for each of three machines, so that nothing queues.
func planRTT(scale string) plan {
	p := plan{base: experiment.Spec{Workload: "ts-oracle", Set: experiment.Knobs{"nodes": 3, "threads": 1, "coroutines": 1, "oracle": true, "check": "sampled",
		"workload.oracle": "gts", "workload.oracle_op": "network-point", "warmup_ns": 500_000, "duration_ns": 2_000_000}}, note: "three clients and an oracle that is idle"}
	s := plannedSeries{name: roundTrip5}
	for i, c := range clusters5 {
		s.points = append(s.points, plannedPoint{x: float64(i), name: c.name, set: experiment.Knobs{"profile": c.profile, "preset": c.preset}, read: medianUS})
	}
	p.series = []plannedSeries{s}
	return p
}

func medianUS(r *result.Result) (v, ci95 float64) {
	v = r.LatencyUS.P50
	return v, v * shareOfCI(r, "latency_us.p50")
}

func claimsRTT(f *Figure) []Claim {
	p, ok := f.series(roundTrip5).named(vale5.name)
	if !ok {
		return nil
	}
	return []Claim{withheld("f5-11b-rtt", "a round trip on VALE", f.Y.Unit, p.Y, limit(f.Runs[p.Run]))}
}

// planOracle has all machines and threads at either scale, for little happens in a request.
func planOracle(string) plan {
	p := plan{base: experiment.Spec{Workload: "ts-oracle", Set: experiment.Knobs{"oracle": true, "check": "sampled", "coroutines": 4, "workload.oracle_op": "network",
		"warmup_ns": 1_000_000, "duration_ns": 2_000_000}}, note: "all machines of each cluster ask one oracle"}
	for _, s := range []struct{ name, scheme string }{{gts5, "gts"}, {vts5, "vts"}} {
		out := plannedSeries{name: s.name}
		for i, c := range clusters5 {
			out.points = append(out.points, plannedPoint{x: float64(i), name: c.name, read: mtxn,
				set: experiment.Knobs{"profile": c.profile, "preset": c.preset, "nodes": c.machines, "threads": c.threads, "workload.oracle": s.scheme}})
		}
		p.series = append(p.series, out)
	}
	return p
}

func claimsOracle(f *Figure) []Claim {
	p, ok := f.series(gts5).named(val5.name)
	if !ok {
		return nil
	}
	return []Claim{withheld("f5-12-oracle-gts", "with RDMA an oracle of GTS serves", f.Y.Unit, p.Y, limit(f.Runs[p.Run]))}
}
