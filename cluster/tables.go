package cluster

import (
	"fmt"
	"slices"
	"strings"

	"drtmx/cluster/keep"
	"drtmx/cluster/runs"
	"drtmx/cluster/table"
	"drtmx/cluster/words"
	"drtmx/dashboard/charts"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Table, Row and Plot are those of package table, so that a notebook needs one import.
type (
	Table   = table.Table
	Row     = table.Row
	Plot    = table.Plot
	Written = table.Written
	Failure = table.Failure
)

func must(err error) { table.Must(err) }

// Rows is a row for every run of every point: the axes, why a point has no run, and what Results says of a run, without the
// knobs that are the same everywhere.
func (s *SweepResult) Rows() *Table { return table.Of(s.tidy()) }

// CSV is Rows as text.
func (s *SweepResult) CSV() string { return string(s.tidy().CSV()) }

// Table has a row for every point: the axes and numbers by their path in the JSON, each a mean over the seeds, with half of its 95 %
// interval in NAME.half95. Without a name it has the numbers that the sweep shows.
func (s *SweepResult) Table(metrics ...string) *Table {
	if len(metrics) == 0 {
		metrics = s.known(shownMetrics)
	}
	must(s.have(metrics))
	return s.points(metrics).Saying(s.table(metrics...))
}

// shownMetrics are the numbers of a sweep's own text.
var shownMetrics = []string{"throughput", "latency_us.p50", "latency_us.p99", "abort_rate"}

// known are those of some numbers that a point has.
func (s *SweepResult) known(metrics []string) (out []string) {
	for _, m := range metrics {
		if s.have([]string{m}) == nil {
			out = append(out, m)
		}
	}
	return out
}

// points is a row for every point of a sweep.
func (s *SweepResult) points(metrics []string) *Table {
	t := table.From(nil)
	column := func(name string, of func(p batch.SweepPoint) any) {
		values, some := make([]any, len(s.Raw.Points)), false
		for i, p := range s.Raw.Points {
			values[i] = of(p)
			some = some || values[i] != nil
		}
		if some {
			t = t.Col(name, values)
		}
	}
	for _, a := range s.Raw.Axes {
		column(a.Knob, func(p batch.SweepPoint) any { return p.Set[a.Knob] })
	}
	for _, m := range metrics {
		column(m, func(p batch.SweepPoint) any {
			if x, ok := pointMean(p, m); ok {
				return x
			}
			return nil
		})
		column(m+".half95", func(p batch.SweepPoint) any {
			if len(p.Runs) > 0 {
				if x := half95(p, m); x > 0 {
					return x
				}
			}
			return nil
		})
	}
	column("doubt", func(p batch.SweepPoint) any {
		switch {
		case p.Error != "":
			return p.Error
		case len(p.Runs) > 0 && doubts(p) != "":
			return strings.TrimSpace(doubts(p))
		}
		return nil
	})
	return t
}

// Table has a row for every window of the result: the virtual milliseconds from the result's begin to the window's end, and its
// numbers by their path in the JSON.
func (r *Result) Table() *Table {
	ms := make([]float64, len(r.Windows))
	for i := range r.Windows {
		ms[i] = float64(r.Windows[i].T1NS-r.Windows[0].T0NS) / 1e6
	}
	t := table.From(r.Windows).Col("ms", ms)
	order := []string{"ms", "throughput", "latency_us.p50", "latency_us.p99", "abort_rate"}
	return t.Select(append(order, slices.DeleteFunc(t.Columns(), func(name string) bool { return slices.Contains(order, name) })...)...)
}

// Results is a row for each result: its headline numbers, verdicts and code, all other numbers by their path in the JSON, and every
// knob as spec.NAME.
func Results(rs ...*Result) *Table {
	var raw []*result.Result
	for _, r := range rs {
		raw = append(raw, r.Raw)
	}
	t := table.Of(keep.ResultTable(raw...))
	if len(raw) < 2 {
		return t
	}
	var of []any
	for _, r := range rs {
		of = append(of, r)
	}
	return t.Col("name", layers(of)).Select(append([]string{"name"}, t.Columns()...)...)
}

// Runs are the kept runs, the newest first. Query asks for more of them.
func Runs() *Table {
	return Query("SELECT 'r' || id AS id, datetime(at / 1000, 'unixepoch') AS kept, kind, about, note, throughput, p50_us, p99_us, abort_rate, steady, checks, workload, preset, profile, seed, points, code, digest FROM runs ORDER BY runs.id DESC")
}

// Query is what a statement of SQL (SQLite) that only reads gives of the run store; `drtmx runs query --help` lists its tables.
func Query(sql string) *Table {
	s, err := runs.Default()
	must(err)
	a, err := s.Query(charts.Context(), sql)
	must(err)
	return table.Answer(a)
}

// TableOf is a table of a user's own values: a slice or map of structs, such as r.Windows or r.Raw.ByType. TableOf(nil) is an empty one,
// to which Col adds columns.
func TableOf(values any) *Table { return table.From(values) }

// ReadTable is the table in a file, .csv or .jsonl: measurements of another, or the history of a cluster.
func ReadTable(file string) *Table { return table.Read(file) }

// Overlay draws one column over another of several results, sweeps and tables in one picture: cluster.Overlay("coroutines",
// "throughput", s, other), or cluster.Overlay("ms", "throughput", base, fasst).
func Overlay(x, y string, of ...any) *Plot {
	var plot *Plot
	for i, name := range layers(of) {
		t, err := tableOf(of[i], y)
		must(err)
		if plot == nil {
			plot = t.Line(x, y).Named(name)
		} else {
			plot.Over(name, t)
		}
	}
	if plot == nil {
		must(&experiment.SpecError{Field: "Overlay", Rule: "nothing to draw is given", Next: `as cluster.Overlay("ms", "throughput", base, c.Run(2*time.Millisecond))`})
	}
	return plot
}

// tableOf is what Overlay draws of a value.
func tableOf(v any, y string) (*Table, error) {
	switch x := v.(type) {
	case *Table:
		return x, nil
	case *SweepResult:
		if err := x.have([]string{y}); err != nil {
			return nil, err
		}
		return x.points([]string{y}), nil
	case *Result:
		return x.Table(), nil
	}
	return nil, &experiment.SpecError{Field: "Overlay", Rule: fmt.Sprintf("%T is neither a result nor a sweep nor a table", v)}
}

// layers name what is drawn over each other: by the knobs in which it differs from another, else by number.
func layers(of []any) []string {
	specs := make([]experiment.Knobs, len(of))
	for i, v := range of {
		switch x := v.(type) {
		case *Result:
			specs[i] = x.Raw.Spec
		case *SweepResult:
			specs[i] = x.common()
		}
	}
	out := make([]string, len(of))
	for i := range of {
		other := 0
		if i == 0 {
			other = len(of) - 1
		}
		if out[i] = distinction(specs[other], specs[i]); out[i] == "" || specs[other] == nil {
			out[i] = fmt.Sprint(i + 1)
		}
	}
	return out
}

// distinction is what tells a spec from another in a few words: the preset, which sets many knobs, or the knobs.
func distinction(from, spec experiment.Knobs) string {
	if preset := spec["preset"]; preset != nil && preset != from["preset"] {
		return fmt.Sprint(preset)
	}
	return words.Clip(words.Knobs(differing(from, spec)))
}

// common are the knobs of a sweep that are no axis, as its first run has them.
func (s *SweepResult) common() experiment.Knobs {
	for _, p := range s.Raw.Points {
		if len(p.Runs) > 0 {
			spec := p.Runs[0].Spec.Clone()
			for _, a := range s.Raw.Axes {
				delete(spec, a.Knob)
			}
			return spec
		}
	}
	return nil
}
