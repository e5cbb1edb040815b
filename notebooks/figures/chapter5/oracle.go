package chapter5

import (
	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
)

// Figures 5-rtt and 5-oracle are ours: what a message to a timestamp oracle and its answer take on each of the chapter's clusters, and
// how many transactions an oracle serves without any of its optimisations. §5.5.1 tells both, the first of VALE and the second of
// VAL, whose oracle "the CPU may become the bottleneck" of; Figure 5-6a is the second of VALE alone.

var clusters = []thesisCluster{aws, vale, val}

var (
	figureRTT = figure.Definition{ID: "5-rtt", Title: "Round trips to a timestamp oracle", Chapter: 5, Section: "5.5.1", Scope: "cluster", Form: figure.FormBars,
		X: figure.Axis{Label: "Cluster"}, Y: figure.Axis{Label: "Median round trip", Unit: "µs"}, Plan: planRTT, Claims: claimsRTT}
	figureOracle = figure.Definition{ID: "5-oracle", Title: "What a timestamp oracle serves on each cluster", Chapter: 5, Section: "5.5.1", Scope: "cluster", Form: figure.FormBars,
		X: figure.Axis{Label: "Cluster"}, Y: figure.Axis{Label: "Transactions that it serves", Unit: "Mops/s"}, Plan: planOracle, Claims: claimsOracle}
)

const labelStable = "the stable timestamp"

// planRTT has one client for each of three machines, so that nothing queues.
func planRTT(scale string) figure.Plan {
	p := figure.Plan{Base: experiment.Spec{Workload: "ts-oracle", Set: experiment.Knobs{"nodes": 3, "threads": 1, "coroutines": 1, "oracle": true, "check": "sampled",
		"workload.oracle": "gts", "workload.oracle_op": "network-point", "warmup_ns": 500_000, "duration_ns": 2_000_000}}, Note: "three clients and an oracle that is idle"}
	s := figure.PlannedSeries{Name: labelStable}
	for i, c := range clusters {
		s.Points = append(s.Points, figure.PlannedPoint{X: float64(i), Name: c.name, Set: experiment.Knobs{"profile": c.profile, "preset": c.preset}, Read: medianUS})
	}
	p.Series = []figure.PlannedSeries{s}
	return p
}

func medianUS(r *result.Result) (v, ci95 float64) {
	v = r.LatencyUS.P50
	return v, v * figure.ShareOfCI(r, "latency_us.p50")
}

func claimsRTT(f *figure.Figure) []figure.Claim {
	p, ok := f.Line(labelStable).Named(vale.name)
	if !ok {
		return nil
	}
	return []figure.Claim{figure.Measured("f5-11b-rtt", "a round trip on VALE", f.Y.Unit, p.Y, p.CI95, figure.LimitOf(f.Runs[p.Run])).At(labelStable, p.X)}
}

// planOracle has all machines and threads at either scale, for little happens in a request.
func planOracle(string) figure.Plan {
	p := figure.Plan{Base: experiment.Spec{Workload: "ts-oracle", Set: experiment.Knobs{"oracle": true, "check": "sampled", "coroutines": 4, "workload.oracle_op": "network",
		"warmup_ns": 1_000_000, "duration_ns": 2_000_000}}, Note: "all machines of each cluster ask one oracle"}
	for _, s := range []struct{ name, scheme string }{{labelGTS, "gts"}, {labelVTS, "vts"}} {
		out := figure.PlannedSeries{Name: s.name}
		for i, c := range clusters {
			out.Points = append(out.Points, figure.PlannedPoint{X: float64(i), Name: c.name, Read: figure.Mtxn,
				Set: experiment.Knobs{"profile": c.profile, "preset": c.preset, "nodes": c.machines, "threads": c.threads, "workload.oracle": s.scheme}})
		}
		p.Series = append(p.Series, out)
	}
	return p
}

func claimsOracle(f *figure.Figure) []figure.Claim {
	p, ok := f.Line(labelGTS).Named(val.name)
	if !ok {
		return nil
	}
	return []figure.Claim{figure.Measured("f5-12-oracle-gts", "with RDMA an oracle of GTS serves", f.Y.Unit, p.Y, p.CI95, figure.LimitOf(f.Runs[p.Run])).At(labelGTS, p.X)}
}
