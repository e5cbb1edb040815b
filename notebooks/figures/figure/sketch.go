package figure

import (
	"context"
	"slices"

	"drtmx/cluster/job"
	"drtmx/dashboard/charts"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/published"
)

// Sketch is the figure as a picture without words.
func (f *Figure) Sketch() string {
	switch f.Form {
	case FormDots:
		return f.ratiosSketch()
	case FormTable:
		return f.tableSketch()
	case FormRanking, FormBars, FormStacked:
		_, y, parts, bars := f.Bars(nil)
		if len(bars) > 0 {
			return charts.Sketch{Y: y, Parts: parts, Bars: bars}.SVG()
		}
	}
	_, x, y, series, refs := f.lines()
	return charts.Sketch{X: x, Y: y, Series: series, References: refs}.SVG()
}

func (f *Figure) tableSketch() string {
	var cells [][]bool
	for _, s := range f.Series {
		row := []bool{}
		for _, p := range s.Points {
			row = append(row, p.Y != 0)
		}
		cells = append(cells, row)
	}
	return charts.Sketch{Cells: cells}.SVG()
}

// Sketch is a figure that is not computed: its published numbers alone, on its axes if
// there are some for them, else as ratios.
func (r *Recipe) Sketch() string {
	if r.Definition.Form == FormTable { // its rows and columns are not known before
		return charts.Sketch{Cells: slices.Repeat([][]bool{make([]bool, 6)}, 4)}.SVG()
	}
	if r.Definition.Form == FormDots { // it takes no run
		f, err := r.RunWith(context.Background(), Quick, nil, nil, nil)
		Must(err)
		return f.ratiosSketch()
	}
	f := r.From(Quick, r.Unmeasured())
	own := slices.DeleteFunc(f.References, func(x Reference) bool { return x.Relative != "" })
	if ratios := f.publishedRatios(); len(own) == 0 && len(ratios) > 0 {
		return charts.Sketch{Ratios: ratios}.SVG()
	}
	f.References = own
	return charts.Sketch{X: f.X.chart(), Y: f.Y.chart(), References: f.marks()}.SVG()
}

// Unmeasured are results that a figure's claims can be asked about before there are
// any: only where the published numbers stand is taken from what they say. Chapter 4's
// claims need none.
func (r *Recipe) Unmeasured() []*result.Result {
	n := 0
	for _, s := range r.Plan(Quick).Series {
		n += len(s.Points)
	}
	out := make([]*result.Result, n)
	if r.Definition.Chapter == 4 {
		return out
	}
	for i := range out {
		out[i] = &result.Result{Throughput: 1, Spec: experiment.Knobs{"nodes": 1}, NVM: &result.NVMStat{}, Nodes: make([]result.NodeUtil, 1)}
	}
	return out
}

// publishedRatios are the published numbers of the claims as quotients of two lines.
func (f *Figure) publishedRatios() (out [][2]float64) {
	for _, c := range f.Claims {
		if p, ok := published.FindSystem(c.ID); ok && c.Quantity.back != nil {
			out = append(out, [2]float64{c.Quantity.back(p.From), c.Quantity.back(p.To)})
		}
	}
	return out
}

// Verdicts counts the claims by what became of them.
func (f *Figure) Verdicts() (v job.Verdicts) {
	for _, c := range f.Claims {
		switch c.Status {
		case Holds:
			v.Holds++
		case Contradicted:
			v.Contradicted++
		default:
			v.Undecided++
		}
	}
	return v
}
