package page

import (
	"fmt"

	"drtmx/cluster/job"
	"drtmx/dashboard/charts"
	"drtmx/notebooks/figures/figure"
)

// mostNumbers is how many points a page has as a table; the others are in the file beside it.
const mostNumbers = 400

// toldNumbers is the points of a figure as a table.
type toldNumbers struct {
	Head []string
	Rows []toldNumber
	Runs bool // there are some behind the points
	More int
}

// toldNumber is a point; it leads to its run if there is one.
type toldNumber struct {
	Series string
	Cells  []string
	Run    int // -1: none
}

// Numbers are the points of a figure as a table, which the dashboard has in another form.
func Numbers(f *figure.Figure) job.FigurePart {
	t := toldNumbers{Head: []string{f.X.Label, f.Y.Label}, Runs: len(f.Runs) > 0}
	if f.X.Unit != "" {
		t.Head[0] = f.X.Title()
	}
	if f.Y.Unit != "" {
		t.Head[1] = f.Y.Title()
	}
	if f.Form == figure.FormCurves {
		t.Head = append(t.Head, "coroutines")
	}
	for _, s := range f.Series {
		for _, p := range s.Points {
			if len(t.Rows) == mostNumbers {
				t.More++
				continue
			}
			t.Rows = append(t.Rows, toldPoint(f, s.Name, p))
		}
	}
	return part("numbers", "Numbers", t)
}

func toldPoint(f *figure.Figure, series string, p figure.Point) toldNumber {
	out := toldNumber{Series: series, Run: -1}
	if f.Result(p.Run) != nil {
		out.Run = p.Run
	}
	x, y := charts.Digits(p.X, 4), charts.Digits(p.Y, 4)
	if p.XCI95 > 0 {
		x += " ± " + charts.Digits(p.XCI95, 2)
	}
	if p.CI95 > 0 {
		y += " ± " + charts.Digits(p.CI95, 2)
	}
	if p.Name != "" {
		x = p.Name
	}
	if p.Text != "" {
		y = p.Text
	}
	out.Cells = []string{x, y}
	if f.Form == figure.FormCurves {
		out.Cells = append(out.Cells, fmt.Sprint(p.Load))
	}
	return out
}
