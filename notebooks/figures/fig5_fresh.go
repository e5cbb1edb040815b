package figures

import (
	"fmt"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Figure 5-fresh is ours. It compares the schemes by how old what a snapshot returns is, as clocks drift.

const (
	strictDST5 = "DST, strict"
	trueTime5  = "TrueTime"
)

var figureFresh = definition{
	id: "5-fresh", title: "How old what snapshots return is", chapter: 5, section: "5.2.4", scope: "cluster",
	x: Axis{Label: "Clock drift", Unit: "us", Log: true}, y: Axis{Label: "Staleness, 99th percentile", Unit: "us"},
	plan: planFresh, claims: claimsFresh,
}

func planFresh(scale string) plan {
	p := plan{base: val5.base(scale, "smallbank", experiment.Knobs{"coroutines": 4, "workload.theta": 0.99, "warmup_ns": 500_000, "duration_ns": 2_000_000}), note: val5.note(scale)}
	drifts := []int{1, 20, 200}
	if scale == Paper {
		drifts = []int{1, 5, 20, 100, 200, 1000}
	}
	for _, l := range []line4{
		{dst5, experiment.Knobs{"ts.scheme": "dst"}}, {strictDST5, experiment.Knobs{"ts.scheme": "dst", "ts.freshness": "strict"}},
		{trueTime5, experiment.Knobs{"ts.scheme": "truetime"}}, {gts5, experiment.Knobs{"ts.scheme": "gts"}}, {vts5, experiment.Knobs{"ts.scheme": "vts", "ts.compression": true}},
	} {
		s := plannedSeries{name: l.name}
		for _, us := range drifts {
			s.points = append(s.points, plannedPoint{x: float64(us), set: with(l.set, experiment.Knobs{"ts.clock_drift_ns": 1000 * us}), read: stale5})
		}
		p.series = append(p.series, s)
	}
	return p
}

func stale5(r *result.Result) (v, ci95 float64) {
	if s := r.StalenessNS; s != nil && s.P99 != nil {
		v = float64(*s.P99) / 1e3
	}
	return v, 0
}

// claimsFresh: what DST and TrueTime promise is kept in every run, and the clocks decide how old their snapshots are.
func claimsFresh(f *Figure) []Claim {
	c := Claim{ID: "5-fresh-bound", Claim: "no snapshot of DST or TrueTime is older than its bound", Status: Holds, moments: true}
	for _, name := range []string{dst5, strictDST5, trueTime5} {
		for _, p := range f.series(name).Points {
			s := f.Runs[p.Run].StalenessNS
			if s == nil || s.Bound == nil {
				return []Claim{noRuns(c)}
			}
			if s.Max > *s.Bound {
				c.Status = Contradicted
			}
			c.Why += fmt.Sprintf("%s, drift %g us: at most %.4g of %.4g us; ", name, p.X, float64(s.Max)/1e3, float64(*s.Bound)/1e3)
		}
	}
	if c.Why == "" {
		return []Claim{noRuns(c)}
	}
	return []Claim{c}
}
