package runtable

import (
	"encoding/json"
	"fmt"
	"slices"

	"drtmx/cluster/keep"
	"drtmx/dashboard/charts"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Table is a kept row of several runs as a table: of a sweep its points, of a figure its lines, of seeds and of systems side by side
// the runs.
type Table struct {
	Head []string `json:"head"`
	Rows []Line   `json:"rows"`
	Note string   `json:"note,omitempty"`
}

// Line is a line of it.
type Line struct {
	Ref   string   `json:"ref,omitempty"` // the run behind it, as r12.3
	Cells []string `json:"cells"`
	Why   string   `json:"why,omitempty"` // why it has no numbers
}

// numbersHead are the numbers of every run in a table, and runNumbers what they are.
var numbersHead = []string{"throughput", "±", "p50 µs", "p99 µs", "aborts", "checks"}

func runNumbers(r *result.Result) []string {
	ci := "–"
	if share, _, ok := r.Interval("throughput"); ok && share > 0 {
		ci = charts.Digits(100*share, 2) + " %"
	}
	us := func(x float64) string {
		if x == 0 {
			return "–"
		}
		return charts.Digits(x, 4)
	}
	checks := "–"
	if r.Checks.Judged() {
		checks = map[bool]string{true: "FAILED", false: "ok"}[r.Checks.Failed()]
	}
	return []string{charts.SI(r.Throughput) + "/s", ci, us(r.LatencyUS.P50), us(r.LatencyUS.P99), charts.Digits(100*r.AbortRate, 3) + " %", checks}
}

// Of is the table of a kept row of several runs; nil where there is none.
func Of(k *keep.Kept) (*Table, error) {
	v, err := k.Value()
	if err != nil {
		return nil, err
	}
	switch x := v.(type) {
	case *batch.SweepResult:
		return sweepTable(k, x), nil
	case *batch.SeedsResult:
		t := runsOf(k, "seed", func(r *result.Result) string { return fmt.Sprint(r.Spec["seed"]) })
		t.Rows = append(t.Rows, meansLine(x))
		return t, nil
	case *result.Systems:
		return runsOf(k, "system", func(r *result.Result) string { return r.Name }), nil
	case json.RawMessage:
		return figureTable(k, x)
	}
	return nil, nil
}

// runsOf is a line for each run.
func runsOf(k *keep.Kept, of string, name func(r *result.Result) string) *Table {
	t := &Table{Head: append([]string{of}, numbersHead...)}
	for i, r := range k.Results {
		if r != nil {
			t.Rows = append(t.Rows, Line{Ref: fmt.Sprintf("%v.%d", k.ID, i+1), Cells: append([]string{name(r)}, runNumbers(r)...)})
		}
	}
	return t
}

// meansLine are the means over seeds with their intervals.
func meansLine(s *batch.SeedsResult) Line {
	cells := []string{"mean"}
	for _, q := range []struct {
		metric, unit string
		times        float64
	}{{"throughput", "/s", 1}, {"", "", 0}, {"latency_us.p50", "", 1}, {"latency_us.p99", "", 1}, {"abort_rate", " %", 100}, {"", "", 0}} {
		m, ok := s.Means[q.metric]
		switch {
		case q.metric == "":
			cells = append(cells, "")
		case !ok:
			cells = append(cells, "–")
		case q.metric == "throughput":
			cells = append(cells, fmt.Sprintf("%s/s ± %s", charts.SI(m.Mean), charts.SI(m.Half95)))
		default:
			cells = append(cells, fmt.Sprintf("%s ± %s%s", charts.Digits(q.times*m.Mean, 4), charts.Digits(q.times*m.Half95, 2), q.unit))
		}
	}
	return Line{Cells: cells}
}

// sweepTable is a line for each point, that of its first run.
func sweepTable(k *keep.Kept, s *batch.SweepResult) *Table {
	t := &Table{}
	for _, a := range s.Axes {
		t.Head = append(t.Head, a.Knob)
	}
	t.Head = append(t.Head, numbersHead...)
	for i := range s.Points {
		pt := &s.Points[i]
		line := Line{Why: pt.Error}
		for _, a := range s.Axes {
			line.Cells = append(line.Cells, experiment.Format(a.Knob, pt.Set[a.Knob]))
		}
		if r := pt.Result(); r != nil {
			line.Cells = append(line.Cells, runNumbers(r)...)
			if at := slices.Index(k.Results, pt.Runs[0]); at >= 0 {
				line.Ref = fmt.Sprintf("%v.%d", k.ID, at+1)
			}
		}
		t.Rows = append(t.Rows, line)
	}
	if len(k.Results) > len(s.Points) {
		t.Note = "A point of several seeds shows its first run; the chart has the means."
	}
	return t
}

// figureTable is a line for each point of each line of a figure.
func figureTable(k *keep.Kept, text json.RawMessage) (*Table, error) {
	var d struct {
		X, Y   struct{ Label, Unit string }
		Series []struct {
			Name   string
			Points []struct {
				X, Y, CI95 float64
				Run        int
				Name       string
			}
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("run %v: its figure cannot be read: %w", k.ID, err)
	}
	t := &Table{Head: []string{"line", charts.Axis{Label: d.X.Label, Unit: d.X.Unit}.Title(), charts.Axis{Label: d.Y.Label, Unit: d.Y.Unit}.Title(), "±"}}
	for _, s := range d.Series {
		for _, pt := range s.Points {
			x, ci := pt.Name, "–"
			if x == "" {
				x = charts.Digits(pt.X, 4)
			}
			if pt.CI95 > 0 {
				ci = charts.SI(pt.CI95)
			}
			line := Line{Cells: []string{s.Name, x, charts.SI(pt.Y), ci}}
			if pt.Run >= 0 && pt.Run < len(k.Results) && k.Results[pt.Run] != nil {
				line.Ref = fmt.Sprintf("%v.%d", k.ID, pt.Run+1)
			}
			t.Rows = append(t.Rows, line)
		}
	}
	return t, nil
}
