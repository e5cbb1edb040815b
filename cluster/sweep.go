package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"drtmx/cluster/runs"
	"drtmx/dashboard/charts"
	"drtmx/engine/batch"
	"drtmx/engine/code"
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
	Lab     *Lab   // who computes them; nil: this process
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

func (l *Lab) over(_ *[]Axis, o *SweepOptions) { o.Lab = l }

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
		eo.Cache = RunCache()
	}
	runner, end := o.Lab.Use()
	defer end()
	eo.Runner = runner
	r, err := batch.Sweep(ctx, spec, as, eo)
	if err != nil {
		return nil, err
	}
	keepSweep(o.Note, spec, r)
	return &SweepResult{r}, nil
}

// keepSweep keeps a sweep in the user's run store. Where that fails the store remembers why; the sweep is whole.
func keepSweep(note string, spec experiment.Spec, r *batch.SweepResult) {
	if s, err := runs.Default(); err == nil {
		_, err = KeepSweep(s, note, spec, r)
		s.Lost(err)
	}
}

// RunCache is the user's run store, or nil where there can be none.
func RunCache() batch.Cache {
	s, err := runs.Default()
	if err != nil {
		return nil // every run is then computed
	}
	return StoreCache(s)
}

// StoreCache keeps results in a run store.
func StoreCache(s *runs.Store) batch.Cache { return storeCache{s} }

type storeCache struct{ s *runs.Store }

func (c storeCache) Get(key string) (*result.Result, bool) {
	b, ok := c.s.Get(storeKey(key))
	if !ok {
		return nil, false
	}
	return readResult(b)
}

// readResult is a result from its JSON.
func readResult(b []byte) (*result.Result, bool) {
	r := &result.Result{}
	if json.Unmarshal(b, r) != nil {
		return nil, false
	}
	r.Spec, r.PresetDiff = wholeNumbers(r.Spec), wholeNumbers(r.PresetDiff)
	return r, true
}

func (c storeCache) Put(key string, r *result.Result) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	// A full or read-only disk costs time later, not this result.
	c.s.Lost(c.s.Put(storeKey(key), b))
	return nil
}

// Computing is what a run store may do besides: it keeps what is computed without a run.
type Computing interface {
	// Compute gives what is kept under the options of a computation of a package, or computes and keeps it. Code of the
	// package and of all runs is a part of its address.
	Compute(pkg, name string, options any, compute func() ([]byte, error)) ([]byte, error)
}

func (c storeCache) Compute(pkg, name string, options any, compute func() ([]byte, error)) ([]byte, error) {
	key, err := runs.Key(code.OfPackage(pkg), "computed", pkg, name, options)
	if err != nil {
		return nil, err
	}
	body, _, err := c.s.Do(key, compute)
	return body, err
}

// storeKey makes a key of the store from one of the engine, whatever its form. It is that of the run's point as well.
func storeKey(k string) string {
	key, err := runs.Key("result", k)
	if err != nil {
		return "" // a string is always JSON; the store refuses "" in any case
	}
	return key
}

// wholeNumbers undoes what JSON does to the ints of a spec.
func wholeNumbers(k experiment.Knobs) experiment.Knobs {
	for n, v := range k {
		if f, ok := v.(float64); ok && f == float64(int(f)) {
			k[n] = int(f)
		}
	}
	return k
}

func (s *SweepResult) String() string {
	return s.table("throughput", "latency_us.p50", "latency_us.p99", "abort_rate")
}

// Table writes numbers of every point, by their path in the JSON.
func (s *SweepResult) Table(metrics ...string) string {
	must(s.have(metrics))
	return s.table(metrics...)
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
			b.WriteString(oneLine(p.Error))
			continue
		}
		for _, m := range metrics {
			if x, ok := pointMean(p, m); ok {
				fmt.Fprintf(&b, "%16s", trim(x))
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
	return s.chart(metrics...)
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

// chart leaves out what points do not have.
func (s *SweepResult) chart(metrics ...string) *charts.Chart {
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
		t := charts.Track{Y: charts.Axis{Label: m, Unit: unitOf(m)}}
		for first := range s.Raw.Points {
			if first/stride%len(over.Values) == 0 {
				t.Series = append(t.Series, s.line(first, m, numeric))
			}
		}
		tracks = append(tracks, t)
	}
	return charts.Timeline(strings.Join(metrics, " and ")+" over "+over.Knob, x, tracks, nil)
}

func isNumeric(a experiment.Axis) bool {
	return !slices.ContainsFunc(a.Values, func(v any) bool { _, ok := asFloat(v); return !ok })
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
		place = func(i int) float64 { x, _ := asFloat(over.Values[i]); return x }
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

// unitOf reads the unit from the name of a number.
func unitOf(metric string) string {
	switch {
	case strings.HasPrefix(metric, "throughput"):
		return "1/s"
	case strings.Contains(metric, "_us"):
		return "µs"
	case strings.Contains(metric, "_ns"):
		return "ns"
	}
	return ""
}

// CSV is Rows as text.
func (s *SweepResult) CSV() string { return string(s.Rows().CSV()) }

// Err is the first failure among the points: of a run, or of its checks. Where there is none it
// is the first spec that was refused, which is the caller's mistake.
func (s *SweepResult) Err() error {
	var refused error
	for _, p := range s.Raw.Points {
		switch {
		case p.Refused && refused == nil:
			refused = &experiment.SpecError{Field: knobText(p.Set), Rule: oneLine(p.Error)}
		case p.Error != "" && !p.Refused:
			return fmt.Errorf("%s: %s", knobText(p.Set), oneLine(p.Error))
		}
		for _, r := range p.Runs {
			if r.Checks.Failed() {
				return fmt.Errorf("%s: checks: %s is violated", knobText(p.Set), r.Checks.Broken())
			}
		}
		if text := undrained(p); text != "" {
			return fmt.Errorf("%s: %s", knobText(p.Set), text)
		}
	}
	return refused
}
