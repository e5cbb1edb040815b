package figure

import (
	"slices"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Definition is a figure of the thesis before it is computed.
type Definition struct {
	ID      string
	Title   string
	Chapter int
	Section string
	Scope   string
	Form    string // how it is drawn
	X, Y    Axis
	Plan    func(scale string) Plan
	PlanFor func(scale string, set experiment.Knobs) Plan // in place of plan: With decides what is run
	Arrange func(f *Figure)                               // makes of the points what is drawn; nil: that is what they are
	Claims  func(f *Figure) []Claim
	Costs   []Cost                              // of its band; nil: the coordinator's
	Compute func(c *Computing, f *Figure) error // in place of plan: the series and Computed of a figure without runs
	Text    func() string                       // of a figure of dots, in place of its points
}

// Plan is the runs of a figure at one scale.
type Plan struct {
	Base   experiment.Spec // what all points share; With may change it
	Series []PlannedSeries
	Gap    GapPoint
	Note   string // what a reader of the numbers has to know; "": what the machines say
}

// only is the plan with those of its points that another one has too.
func (p Plan) only(other Plan) Plan {
	out := p
	out.Series = nil
	for _, s := range p.Series {
		in := PlannedSeries{Name: s.Name}
		for _, pt := range s.Points {
			for _, o := range other.Series {
				if o.Name == s.Name && slices.ContainsFunc(o.Points, func(x PlannedPoint) bool { return x.X == pt.X }) {
					in.Points = append(in.Points, pt)
				}
			}
		}
		out.Series = append(out.Series, in)
	}
	return out
}

// note is what a reader of the numbers has to know.
func (d *Definition) note(p Plan) string {
	if p.Note != "" {
		return p.Note
	}
	if p.Base.Set["nics"] != 1 || p.Base.Set["threads"] != 12 {
		return ""
	}
	note := "half machines: 12 threads, one RNIC"
	if ofCluster := "Mtxn/s"; d.X.Unit == ofCluster || d.Y.Unit == ofCluster {
		note += ": half the throughput"
	}
	return note
}

// PlannedSeries is a line with its runs.
type PlannedSeries struct {
	Name   string
	Points []PlannedPoint
}

// PlannedPoint is a run and how its point is read from it. Its knobs make the
// point what it is, so With cannot change them.
type PlannedPoint struct {
	X       float64
	Set     experiment.Knobs
	Read    func(r *result.Result) (y, ci95 float64)
	Along   func(r *result.Result) (x, ci95 float64) // where X is measured too; x is then the load
	Name    string                                   // where X is no quantity
	Moments bool                                     // the run is a point for each window of its timeline, in place of one
}

// GapPoint names the point that is compared with paper scale. Without a series there
// is none.
type GapPoint struct {
	Series string
	X      float64
}

// With are knobs on top of each other: the last that sets one counts.
func With(sets ...experiment.Knobs) experiment.Knobs {
	out := experiment.Knobs{}
	for _, s := range sets {
		for name, v := range s { // order-free: fills a map
			out[name] = v
		}
	}
	return out
}

// NoPlan takes no runs.
func NoPlan(string) Plan { return Plan{} }

// moments are the points of a run's timeline, over its time in ms.
func moments(r *result.Result, run int) (out []Point) {
	for _, m := range r.Timeline {
		out = append(out, Point{X: float64(m.T1NS) / 1e6, Y: m.Throughput / 1e6, Load: load(r), Run: run})
	}
	return out
}

// Setting is a line of a figure: its name and the knobs that make it.
type Setting struct {
	Name string
	Set  experiment.Knobs
}
