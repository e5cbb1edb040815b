package dashboard

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"strings"

	"drtmx/cluster"
	"drtmx/cluster/keep"
	"drtmx/cluster/runs"
	"drtmx/dashboard/card"
	"drtmx/dashboard/charts"
	"drtmx/dashboard/lineage"
	"drtmx/dashboard/runtable"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// runs adds the routes of the runs that are kept. The list itself is the agent's /api/runs.
func (p *page) runs(mux *http.ServeMux) {
	mux.HandleFunc("GET /page/run", p.run)
	mux.HandleFunc("GET /page/run/compare", p.runCompare)
	mux.HandleFunc("GET /page/run/chart", p.runChart)
}

// runFact is a line about a run.
type runFact struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// run is one kept run in words, and the ways to run it again.
func (p *page) run(w http.ResponseWriter, r *http.Request) {
	ref := r.URL.Query().Get("id")
	k, err := keptRun(ref)
	if err != nil {
		fail(w, err)
		return
	}
	out := struct {
		runs.Kept
		Ref      string          `json:"ref"`
		One      bool            `json:"one"`   // a single run: it can be opened and run again
		Seeds    bool            `json:"seeds"` // of several seeds: it can be compared, as a single one can
		Knobs    []runFact       `json:"knobs"`
		Changes  []runFact       `json:"changes,omitempty"` // of a session
		Table    *runtable.Table `json:"table,omitempty"`   // of several runs
		Facts    []runFact       `json:"facts"`
		Missing  int             `json:"missing"`
		Figure   string          `json:"figure,omitempty"`
		Command  string          `json:"command,omitempty"`
		Notebook string          `json:"notebook,omitempty"`
	}{Kept: *k.Kept, Ref: ref, Missing: k.Missing(), Seeds: k.IsSeeds(), Knobs: []runFact{}, Facts: []runFact{}}
	if k.Kind == runs.KindFigure {
		out.Figure, _, _ = strings.Cut(k.About, " ")
	}
	if one, err := k.Result(); err == nil {
		out.One = true
		knobs := keep.NonDefault(one.Spec)
		for _, name := range experiment.SortedNames(knobs) {
			out.Knobs = append(out.Knobs, runFact{name, lineage.Shown(name, knobs[name])})
		}
		out.Facts, out.Changes = factsOf(one), changesOf(one)
		if spec, err := keep.SpecOf(one); err == nil {
			out.Notebook = pointCell(spec, one, "the kept run "+ref)
			if out.Command, err = commandOf(spec); err != nil {
				fail(w, err)
				return
			}
		}
	}
	if !out.One {
		if out.Table, err = runtable.Of(k); err != nil {
			fail(w, err)
			return
		}
	}
	answer(w, out)
}

// factsOf are the numbers of a result with their intervals, and the verdicts on it.
func factsOf(r *result.Result) (out []runFact) {
	add := func(name, metric, text string) {
		if share, _, ok := r.Interval(metric); ok && share > 0 {
			text += fmt.Sprintf(" ± %s %%", charts.Digits(100*share, 2))
		}
		out = append(out, runFact{name, text})
	}
	add("throughput", "throughput", charts.SI(r.Throughput)+"/s")
	for _, q := range []struct {
		name, metric string
		us           float64
	}{{"mean latency", "latency_us.mean", r.LatencyUS.Mean}, {"p50", "latency_us.p50", r.LatencyUS.P50}, {"p99", "latency_us.p99", r.LatencyUS.P99}} {
		if q.us > 0 {
			add(q.name, q.metric, charts.Digits(q.us, 4)+" µs")
		}
	}
	add("aborts", "abort_rate", charts.Digits(100*r.AbortRate, 3)+" %")
	checks := "not judged"
	if r.Checks.Judged() {
		checks = map[bool]string{true: "FAILED", false: "passed"}[r.Checks.Failed()]
	}
	out = append(out, runFact{"checks", checks})
	if r.Limit != nil {
		out = append(out, runFact{"limit", r.Limit.Text})
	}
	if r.Unsteady != "" {
		out = append(out, runFact{"not steady", r.Unsteady})
	}
	code := r.Code
	if !r.Current() {
		code += ", not the one that runs here"
	}
	return append(out, runFact{"code", code}, runFact{"digest", r.Digest})
}

// keptRun is a run of the store by its id.
func keptRun(ref string) (*keep.Kept, error) {
	s, err := runs.Default()
	if err != nil {
		return nil, err
	}
	return keep.Load(s, ref)
}

// comparedRuns compares the two that a request names.
func comparedRuns(r *http.Request) (*result.Comparison, error) {
	s, err := runs.Default()
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	return keep.Compare(s, q.Get("a"), q.Get("b"))
}

// runQuantities are the rows of a comparison of runs.
var runQuantities = []struct {
	metric, name, unit string
	times              float64
	moreIs             string
}{
	{"throughput", "throughput", "/s", 1, "better"}, {"latency_us.mean", "mean latency", "µs", 1, "worse"}, {"latency_us.p50", "p50", "µs", 1, "worse"}, {"latency_us.p90", "p90", "µs", 1, "worse"},
	{"latency_us.p99", "p99", "µs", 1, "worse"}, {"abort_rate", "aborts", "%", 100, "worse"}, {"round_trips_per_txn", "round trips", "/txn", 1, "worse"},
}

// runCompare puts two kept runs side by side.
func (p *page) runCompare(w http.ResponseWriter, r *http.Request) {
	c, err := comparedRuns(r)
	if err != nil {
		fail(w, err)
		return
	}
	out := struct {
		Rows  []card.Row `json:"rows"`
		Knobs []knobDiff `json:"knobs"`
		Limit [2]string  `json:"limit"`
		Same  bool       `json:"same"` // the same run twice
	}{Rows: []card.Row{}, Knobs: []knobDiff{}, Same: sameRun(r, c)}
	for _, q := range runQuantities {
		for _, d := range c.Metrics {
			if d.Metric == q.metric {
				out.Rows = append(out.Rows, diffRow(d, q.name, q.unit, q.times, q.moreIs))
			}
		}
	}
	for _, d := range c.Spec {
		if !experiment.IsGroup(d.Knob) {
			out.Knobs = append(out.Knobs, knobDiff{d.Knob, lineage.Shown(d.Knob, d.A), lineage.Shown(d.Knob, d.B)})
		}
	}
	for i, x := range []*result.Result{c.A, c.B} {
		if x.Limit != nil {
			out.Limit[i] = x.Limit.Text
		}
	}
	answer(w, out)
}

// sameRun is true for two single runs with equal digests, and for a row against itself.
func sameRun(r *http.Request, c *result.Comparison) bool {
	a, err := keptRun(r.URL.Query().Get("a"))
	if err != nil {
		return false
	}
	b, err := keptRun(r.URL.Query().Get("b"))
	if err != nil {
		return false
	}
	if a.IsSeeds() || b.IsSeeds() {
		return a.Digest == b.Digest
	}
	return c.A.Digest == c.B.Digest
}

// diffRow is a number of both, and whether the interval of the difference has zero in it.
func diffRow(d result.Diff, name, unit string, times float64, moreIs string) card.Row {
	row := card.Row{Name: name, Unit: unit, Before: times * d.A, After: times * d.B, Diff: times * (d.B - d.A), Half95: d.Half95 * math.Abs(times*d.A)}
	row.Low, row.High = row.Diff-row.Half95, row.Diff+row.Half95
	if d.Change != nil {
		row.Percent = 100 * *d.Change
	}
	switch {
	case d.A == d.B:
		row.Verdict = "same"
	case d.Change == nil || d.Half95 == 0:
		row.Verdict, row.Why, row.Says = card.Undecided, cmp.Or(d.Why, "no interval is known"), "no interval"
	case math.Abs(*d.Change) <= d.Half95:
		row.Verdict = "same"
	case (d.B > d.A) == (moreIs == "better"):
		row.Verdict = "better"
	default:
		row.Verdict = "worse"
	}
	return row
}

// runChart draws the distributions of latency of one kept run, or of two over each other.
func (p *page) runChart(w http.ResponseWriter, r *http.Request) {
	var lines []charts.Series
	var of []*result.Histogram
	for i, ref := range []string{r.URL.Query().Get("a"), r.URL.Query().Get("b")} {
		if ref == "" {
			continue
		}
		k, err := keptRun(ref)
		if err != nil {
			fail(w, err)
			return
		}
		one, err := k.Result()
		if err != nil && r.URL.Query().Get("b") == "" {
			p.drawMany(w, r, k)
			return
		}
		if err != nil && k.IsSeeds() {
			one, err = k.Results[0], nil // of the first seed
		}
		if err != nil {
			fail(w, err)
			return
		}
		if one.Histogram.Count() > 0 {
			lines, of = append(lines, charts.Series{Name: "AB"[i:i+1] + ": " + ref}), append(of, one.Histogram)
		}
	}
	if len(of) == 0 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	p.draw(w, r, "", func() *charts.Chart { return cluster.CDFChart(sizeOf(r), "", lines, of) })
}
