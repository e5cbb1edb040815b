package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"drtmx/cluster/keep"
	"drtmx/cluster/table"
	"drtmx/cluster/tidy"
	"drtmx/cluster/words"
	"drtmx/dashboard/charts"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Axis is a knob and the values that a sweep gives it: a slice such as []int{1,
// 2, 4} or []string{"one-sided", "two-sided"}.
type Axis struct {
	Knob   string
	Values any
}

// SweepOptions say how to run a sweep; the zero value is one seed per point.
type SweepOptions struct {
	Seeds   int
	NoCache bool   // compute points again that the run store has
	Note    string // of the sweep in the run store
	Lab     *Lab   // the queue that computes them; nil: this process
}

// SweepResult is a sweep's outcome. As last value of a cell it draws its
// throughput and median latency; Chart draws any number.
type SweepResult struct {
	Raw *batch.SweepResult
}

// Over is what Sweep takes besides a spec: an Axis, or the Lab that computes its points.
type Over interface {
	over(axes *[]Axis, o *SweepOptions)
}

func (a Axis) over(axes *[]Axis, _ *SweepOptions) { *axes = append(*axes, a) }

// Sweep runs every combination of the axes' values, in parallel and from 0.
// Points that were run before come from the run store.
func Sweep(spec Spec, over ...Over) *SweepResult {
	var axes []Axis
	var o SweepOptions
	for _, x := range over {
		x.over(&axes, &o)
	}
	s, err := SweepWith(charts.Context(), spec, o, charts.Progress("sweep"), axes...)
	must(err)
	return s
}

// SweepWith is Sweep for programs.
func SweepWith(ctx context.Context, spec Spec, o SweepOptions, progress func(done, total int), axes ...Axis) (*SweepResult, error) {
	var as []experiment.Axis
	for _, a := range axes {
		e, err := experiment.NewAxis(a.Knob, a.Values)
		if err != nil {
			return nil, err
		}
		as = append(as, e)
	}
	if len(as) == 0 {
		return nil, &experiment.SpecError{Field: "axes", Rule: "none given", Next: `as cluster.Axis{"coroutines", []int{1, 2, 4}}`}
	}
	eo := batch.SweepOptions{Seeds: o.Seeds, Progress: progress}
	if !o.NoCache {
		eo.Cache = keep.Cache()
	}
	runner, end := o.Lab.Use()
	defer end()
	eo.Runner = runner
	r, err := batch.Sweep(ctx, spec, as, eo)
	if err != nil {
		return nil, err
	}
	keep.OwnSweep(o.Note, spec, r)
	return &SweepResult{r}, nil
}

func (s *SweepResult) String() string {
	return s.table(shownMetrics...)
}

func (s *SweepResult) table(metrics ...string) string {
	var b strings.Builder
	width := func(a experiment.Axis) int { return max(16, len(a.Knob)+2) } // a long name and its neighbour stay two words
	for _, a := range s.Raw.Axes {
		fmt.Fprintf(&b, "%-*s", width(a), a.Knob)
	}
	for _, m := range metrics {
		fmt.Fprintf(&b, "%16s", m)
	}
	b.WriteString("       ±")
	for _, p := range s.Raw.Points {
		b.WriteByte('\n')
		for _, a := range s.Raw.Axes {
			fmt.Fprintf(&b, "%-*s", width(a), experiment.Format(a.Knob, p.Set[a.Knob]))
		}
		if p.Error != "" {
			b.WriteString(words.OneLine(p.Error))
			continue
		}
		for _, m := range metrics {
			if x, ok := pointMean(p, m); ok {
				fmt.Fprintf(&b, "%16s", words.Number(x))
			} else {
				fmt.Fprintf(&b, "%16s", "–")
			}
		}
		fmt.Fprintf(&b, "%8s%s", interval(p), doubts(p))
	}
	b.WriteString("\n±: half of the 95 % interval of the throughput")
	if text := s.Raw.Unknown(); text != "" {
		b.WriteString("\n–: " + strings.TrimSpace(text))
	}
	return b.String()
}

// interval is that of a point's throughput, as a share in words: over its runs where there are
// several, else over the spans of the one.
func interval(p batch.SweepPoint) string {
	if share := share95(p); share > 0 {
		return fmt.Sprintf("%.1f %%", 100*share)
	}
	return "–"
}

func share95(p batch.SweepPoint) float64 {
	if m := p.Means["throughput"]; m.N > 1 && m.Mean > 0 {
		return m.Half95 / m.Mean
	}
	return p.Runs[0].ThroughputCI95
}

// doubts says why a point is not to be trusted.
func doubts(p batch.SweepPoint) string {
	switch steady, correct := sound(p); {
	case !correct:
		return "  checks FAILED"
	case undrained(p) != "":
		return "  not drained"
	case !steady:
		return "  not steady"
	}
	return ""
}

// sound is what can be said of all runs of a point.
func sound(p batch.SweepPoint) (steady, correct bool) {
	steady, correct = true, true
	for _, r := range p.Runs {
		steady, correct = steady && r.Steady, correct && !r.Checks.Failed()
	}
	return steady, correct
}

// undrained says of the first run of a point whose drain was given up what was still under way.
func undrained(p batch.SweepPoint) string {
	for _, r := range p.Runs {
		if text := r.Undrained(); text != "" {
			return text
		}
	}
	return ""
}

// pointMean is the mean of a number over the seeds of a point; where not all of them know it, over
// those that do.
func pointMean(p batch.SweepPoint, metric string) (float64, bool) {
	if m, ok := p.Means[metric]; ok {
		return m.Mean, true
	}
	sum, n := 0.0, 0
	for _, r := range p.Runs {
		if x, ok := r.Metric(metric); ok {
			sum += x
			n++
		}
	}
	if n == 0 {
		return 0, false
	}
	return sum / float64(n), true
}

// Chart draws numbers of the points, by their path in the JSON, against the
// last axis of numbers, or the last where none has numbers; every value of the other
// axes is a line. A number that no point has is refused.
func (s *SweepResult) Chart(metrics ...string) *charts.Chart {
	if len(metrics) == 0 {
		metrics = []string{"throughput"}
	}
	must(s.have(metrics))
	return s.chart(charts.Size{}, s.title(metrics), metrics...)
}

// ChartSized is Chart in the room that there is, without a title, of those of the numbers that a point has.
func (s *SweepResult) ChartSized(size charts.Size, metrics ...string) (*charts.Chart, error) {
	metrics = slices.DeleteFunc(slices.Clone(metrics), func(m string) bool { return s.have([]string{m}) != nil })
	if len(metrics) == 0 {
		return nil, s.have([]string{"throughput"})
	}
	return s.chart(size, "", metrics...), nil
}

// IsGrid says whether a sweep is over two knobs with several values each, as a heat map shows it.
func (s *SweepResult) IsGrid() bool {
	return len(s.Raw.Axes) == 2 && len(s.Raw.Axes[0].Values) > 1 && len(s.Raw.Axes[1].Values) > 1
}

// have refuses what no point has. Where no run came to an end, it is the reason of that.
func (s *SweepResult) have(metrics []string) error {
	i := slices.IndexFunc(s.Raw.Points, func(p batch.SweepPoint) bool { return len(p.Runs) > 0 })
	if i < 0 {
		return s.Err()
	}
	for _, m := range metrics {
		if !slices.ContainsFunc(s.Raw.Points, func(p batch.SweepPoint) bool { _, ok := pointMean(p, m); return ok }) {
			return &experiment.SpecError{Field: "metric", Value: fmt.Sprintf("%.60q", m), Rule: "no point of the sweep has such a number", Next: "there are " + numbersOf(s.Raw.Points[i].Runs[0])}
		}
	}
	return nil
}

// numbersOf lists the numbers of a result: of the knobs, and of what has parts of its own, the
// beginning of the names.
func numbersOf(r *result.Result) string {
	var out []string
	for _, m := range r.Metrics() {
		top, rest, _ := strings.Cut(m, ".")
		if top == "spec" || strings.Contains(rest, ".") {
			m = top + ".*"
		}
		if !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return strings.Join(out, ", ")
}

// title names a chart.
func (s *SweepResult) title(metrics []string) string {
	at, _ := s.along()
	return strings.Join(metrics, " and ") + " over " + s.Raw.Axes[at].Knob
}

// chart leaves out what points do not have.
func (s *SweepResult) chart(size charts.Size, title string, metrics ...string) *charts.Chart {
	at, stride := s.along()
	over := s.Raw.Axes[at]
	x := charts.Axis{Label: over.Knob, Whole: !slices.ContainsFunc(over.Values, func(v any) bool { _, ok := v.(int); return !ok })}
	numeric := isNumeric(over)
	if numeric {
		x.Unit = experiment.Unit(over.Knob)
	} else {
		for _, v := range over.Values {
			x.Names = append(x.Names, fmt.Sprint(v))
		}
	}
	var tracks []charts.Track
	for _, m := range metrics {
		t := charts.Track{Y: charts.Axis{Label: m, Unit: table.UnitOf(m)}}
		for first := range s.Raw.Points {
			if first/stride%len(over.Values) == 0 {
				t.Series = append(t.Series, s.line(first, m, numeric))
			}
		}
		tracks = append(tracks, t)
	}
	return charts.TimelineSized(size, title, x, tracks, nil)
}

// numberOf is a value of an axis as a number, if it is one.
func numberOf(v any) (float64, bool) {
	switch x := v.(type) {
	case int:
		return float64(x), true
	case float64:
		return x, true
	}
	return 0, false
}

func isNumeric(a experiment.Axis) bool {
	return !slices.ContainsFunc(a.Values, func(v any) bool { _, ok := numberOf(v); return !ok })
}

// along is the axis that charts draw against, and how many points further its next value is: points
// are in order, the last axis fastest.
func (s *SweepResult) along() (at, stride int) {
	axes := s.Raw.Axes
	at, stride = len(axes)-1, 1
	for i := at; i >= 0; i-- {
		if isNumeric(axes[i]) {
			at = i
			break
		}
	}
	for _, a := range axes[at+1:] {
		stride *= len(a.Values)
	}
	return at, stride
}

// line is one series of a sweep, that of the point with this index and those along the chart.
func (s *SweepResult) line(first int, metric string, numeric bool) charts.Series {
	along, stride := s.along()
	over := s.Raw.Axes[along]
	var out charts.Series
	var others []string
	for i, a := range s.Raw.Axes {
		if i != along {
			others = append(others, strings.TrimSpace(fmt.Sprintf("%s = %v %s", a.Knob, s.Raw.Points[first].Set[a.Knob], experiment.Unit(a.Knob))))
		}
	}
	if out.Name = strings.Join(others, ", "); out.Name == "" {
		out.Name = metric
	}
	order := make([]int, len(over.Values)) // of the places along the line
	for i := range order {
		order[i] = i
	}
	place := func(i int) float64 { return float64(i) }
	if numeric {
		place = func(i int) float64 { x, _ := numberOf(over.Values[i]); return x }
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(place(i), place(j)) })
	}
	for _, i := range order {
		p := s.Raw.Points[first+i*stride]
		y, ok := pointMean(p, metric)
		if !ok {
			continue
		}
		out.X, out.Y, out.CI = append(out.X, place(i)), append(out.Y, y), append(out.CI, half95(p, metric))
		out.Notes = append(out.Notes, fmt.Sprint(over.Values[i]))
	}
	return out
}

// half95 is half of the 95 % interval of a number of a point, 0 where none is known.
func half95(p batch.SweepPoint, metric string) float64 {
	if m, ok := p.Means[metric]; ok {
		return m.Half95
	}
	y, _ := pointMean(p, metric)
	share, _, _ := p.Runs[0].Interval(metric)
	return y * share
}

// Err is the first failure among the points: of a run, or of its checks. Where there is none it
// is the first spec that was refused, which is the caller's mistake.
func (s *SweepResult) Err() error {
	var refused error
	for _, p := range s.Raw.Points {
		switch {
		case p.Refused && refused == nil:
			refused = &experiment.SpecError{Field: words.Knobs(p.Set), Rule: words.OneLine(p.Error)}
		case p.Error != "" && !p.Refused:
			return fmt.Errorf("%s: %s", words.Knobs(p.Set), words.OneLine(p.Error))
		}
		for _, r := range p.Runs {
			if r.Checks.Failed() {
				what, how := r.Checks.Fault()
				return fmt.Errorf("%s: checks: %s is violated: %s", words.Knobs(p.Set), what, words.OneLine(how))
			}
		}
		if text := undrained(p); text != "" {
			return fmt.Errorf("%s: %s", words.Knobs(p.Set), text)
		}
	}
	return refused
}

// tidy is Rows as it is written to files.
func (s *SweepResult) tidy() *tidy.Table {
	t := &tidy.Table{}
	begin := func(p batch.SweepPoint, failure any) {
		t.Row()
		for _, a := range s.Raw.Axes {
			t.Set(a.Knob, p.Set[a.Knob])
		}
		t.Set("error", failure)
	}
	for _, p := range s.Raw.Points {
		if p.Error != "" {
			begin(p, words.OneLine(p.Error))
		}
		for _, r := range p.Runs {
			begin(p, nil)
			keep.AddResult(t, r)
		}
	}
	return t
}
