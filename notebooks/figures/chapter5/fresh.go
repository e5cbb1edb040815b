package chapter5

import (
	"fmt"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
)

// Figure 5-fresh is ours. It compares the schemes by how old what a snapshot returns is, as clocks drift.

const (
	labelStrictDST = "DST, strict"
	labelTrueTime  = "TrueTime"
)

var figureFresh = figure.Definition{
	ID: "5-fresh", Title: "How old what snapshots return is", Chapter: 5, Section: "5.2.4", Scope: "cluster",
	X: figure.Axis{Label: "Clock drift", Unit: "µs", Log: true}, Y: figure.Axis{Label: "Staleness, 99th percentile", Unit: "µs"},
	Plan: planFresh, Claims: claimsFresh,
}

func planFresh(scale string) figure.Plan {
	p := figure.Plan{Base: val.base(scale, "smallbank", experiment.Knobs{"coroutines": 4, "workload.theta": 0.99, "warmup_ns": 500_000, "duration_ns": 2_000_000}), Note: val.note(scale)}
	drifts := []int{1, 20, 200}
	if scale == figure.Paper {
		drifts = []int{1, 5, 20, 100, 200, 1000}
	}
	for _, l := range []figure.Setting{
		{Name: labelDST, Set: experiment.Knobs{"ts.scheme": "dst"}}, {Name: labelStrictDST, Set: experiment.Knobs{"ts.scheme": "dst", "ts.freshness": "strict"}},
		{Name: labelTrueTime, Set: experiment.Knobs{"ts.scheme": "truetime"}}, {Name: labelGTS, Set: experiment.Knobs{"ts.scheme": "gts"}}, {Name: labelVTS, Set: experiment.Knobs{"ts.scheme": "vts", "ts.compression": true}},
	} {
		s := figure.PlannedSeries{Name: l.Name}
		for _, us := range drifts {
			s.Points = append(s.Points, figure.PlannedPoint{X: float64(us), Set: figure.With(l.Set, experiment.Knobs{"ts.clock_drift_ns": 1000 * us}), Read: stalest})
		}
		p.Series = append(p.Series, s)
	}
	return p
}

func stalest(r *result.Result) (v, ci95 float64) {
	if s := r.StalenessNS; s != nil && s.P99 != nil {
		v = float64(*s.P99) / 1e3
	}
	return v, 0
}

// claimsFresh: what DST and TrueTime promise is kept in every run, and the clocks decide how old their snapshots are.
func claimsFresh(f *figure.Figure) []figure.Claim {
	c := figure.Claim{ID: "5-fresh-bound", Claim: "no snapshot of DST or TrueTime is older than its bound", Status: figure.Holds, EachMoment: true}
	for _, name := range []string{labelDST, labelStrictDST, labelTrueTime} {
		for _, p := range f.Line(name).Points {
			s := f.Runs[p.Run].StalenessNS
			if s == nil || s.Bound == nil {
				return []figure.Claim{figure.NoRuns(c)}
			}
			if s.Max > *s.Bound {
				c.Status = figure.Contradicted
			}
			c.Why += fmt.Sprintf("%s, drift %g µs: at most %.4g of %.4g µs; ", name, p.X, float64(s.Max)/1e3, float64(*s.Bound)/1e3)
		}
	}
	if c.Why == "" {
		return []figure.Claim{figure.NoRuns(c)}
	}
	return []figure.Claim{c}
}
