// Package figuretest is what tests of figures share.
package figuretest

import (
	"encoding/xml"
	"io"
	"slices"
	"strings"
	"testing"

	"drtmx/cluster/job"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
)

// Wide is a line whose points have intervals of their own.
func Wide(name string, xs []float64, ys, halves []float64) figure.Series {
	s := figure.Series{Name: name}
	for i, x := range xs {
		s.Points = append(s.Points, figure.Point{X: x, Y: ys[i], CI95: halves[i]})
	}
	return s
}

// VerdictOn is the status of a claim.
func VerdictOn(t *testing.T, claims []figure.Claim, id string) string {
	t.Helper()
	i := slices.IndexFunc(claims, func(c figure.Claim) bool { return c.ID == id })
	if i < 0 {
		t.Fatalf("no claim %s", id)
	}
	return claims[i].Status
}

// PlannedRuns is how many runs a figure takes at quick scale.
func PlannedRuns(r *figure.Recipe) (n int) {
	for _, s := range r.Plan(figure.Quick).Series {
		n += len(s.Points)
	}
	return n
}

// WellFormed fails a test if a text is no XML.
func WellFormed(t *testing.T, svg string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%v in %.200s", err, svg)
		}
	}
}

// RecipeOf is that of a figure among some.
func RecipeOf(t *testing.T, among []*figure.Definition, id string) *figure.Recipe {
	t.Helper()
	for _, d := range among {
		if d.ID == id {
			return figure.New(d)
		}
	}
	t.Fatalf("no figure %s", id)
	return nil
}

// PartNames are those of the parts.
func PartNames(parts []job.FigurePart) (out []string) {
	for _, p := range parts {
		out = append(out, p.Name)
	}
	return out
}

// PartOf is the text of a part.
func PartOf(t *testing.T, parts []job.FigurePart, name string) string {
	t.Helper()
	for _, p := range parts {
		if p.Name == name {
			return p.HTML
		}
	}
	t.Fatalf("no part %s in %v", name, PartNames(parts))
	return ""
}

// Planted is a figure of curves with points at 1 and 16 coroutines, half of the interval
// As per cent.
func Planted(percent float64, lines map[string][4]float64) *figure.Figure {
	f := &figure.Figure{ID: "t", Form: figure.FormCurves, X: figure.Axis{Label: "Throughput", Unit: "Mtxn/s"}, Y: figure.Axis{Label: "Median latency", Unit: "µs"}}
	for _, name := range sortedLines(lines) {
		v := lines[name]
		s := figure.Series{Name: name}
		for i, load := range []int{1, 16} {
			s.Points = append(s.Points, figure.Point{X: v[2*i], XCI95: v[2*i] * percent / 100, Y: v[2*i+1], CI95: v[2*i+1] * percent / 100, Load: load, Run: len(f.Runs)})
			f.Runs = append(f.Runs, &result.Result{Spec: experiment.Knobs{"nodes": 16, "threads": 24}, Throughput: v[2*i] * 1e6, RoundTripsPerTxn: 3,
				Utilization: map[string]result.Util{"cpu": {Mean: 0.5}}, Bottleneck: &result.Bottleneck{Resource: "nic_tx", Utilization: 0.9},
				Phases: map[string]result.PhaseStat{"execution": {MeanUS: v[2*i+1], RoundTrips: v[2*i+1]}}})
		}
		f.Series = append(f.Series, s)
	}
	return f
}

func sortedLines(m map[string][4]float64) []string {
	var out []string
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
