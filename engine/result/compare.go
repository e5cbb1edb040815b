package result

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"drtmx/engine/experiment"
	"drtmx/engine/knob"
)

// Comparison puts two results side by side.
type Comparison struct {
	A       *Result    `json:"a"`
	B       *Result    `json:"b"`
	Spec    []SpecDiff `json:"spec"` // what differs; code and profile versions included
	Metrics []Diff     `json:"metrics"`
}

// SpecDiff is a knob that differs.
type SpecDiff struct {
	Knob string `json:"knob"`
	A    any    `json:"a"`
	B    any    `json:"b"`
}

// Diff is one metric of both. Change is relative to A and absent where A is 0, or so small that no
// Number holds the quotient.
type Diff struct {
	Metric string   `json:"metric"`
	A      float64  `json:"a"`
	B      float64  `json:"b"`
	Change *float64 `json:"change,omitempty"`
	Half95 float64  `json:"half95,omitempty"`      // half-width of Change's 95 % interval, where both results carry one
	Why    string   `json:"no_interval,omitempty"` // why there is none, of the numbers that mostly have one
}

// Compare lists what differs in the specs and in the numbers.
func Compare(a, b *Result) *Comparison {
	c := &Comparison{A: a, B: b, Spec: []SpecDiff{}, Metrics: []Diff{}}
	for _, name := range experiment.SortedNames(union(a.Spec, b.Spec)) {
		if x, y := knob.Known(name, a.Spec.Value(name)), knob.Known(name, b.Spec.Value(name)); !reflect.DeepEqual(x, y) { // a file may hold lists
			c.Spec = append(c.Spec, SpecDiff{name, x, y})
		}
	}
	for _, d := range []SpecDiff{{"code", a.Code, b.Code}, {"profile version", plainID(a.Profile), plainID(b.Profile)}} {
		if d.A != d.B {
			c.Spec = append(c.Spec, d)
		}
	}
	paths, values := SideBySide(a, b)
	for _, p := range paths {
		d := Diff{Metric: p, A: values[p][0], B: values[p][1]}
		d.Relate(IntervalOf(a, p), IntervalOf(b, p))
		c.Metrics = append(c.Metrics, d)
	}
	return c
}

// Interval is what is known of the 95 % interval of a number.
type Interval struct {
	Share float64 // half of it, as a share of the number
	Why   string  // it is not known; "" where most numbers of the kind have none
	Known bool
}

// IntervalOf is that of a number of a result.
func IntervalOf(r *Result, metric string) (i Interval) {
	i.Share, i.Why, i.Known = r.Interval(metric)
	return i
}

// Relate fills in the change from A to B and its interval. The quotient moves with both numbers, so that the share
// of its interval is that of both together.
func (d *Diff) Relate(a, b Interval) {
	change := (d.B - d.A) / d.A
	if !finite(change) {
		return
	}
	d.Change = &change
	switch half := math.Abs(d.B/d.A) * math.Hypot(a.Share, b.Share); {
	case a.Known && b.Known && d.B == 0: // what did not occur may be rare, and nothing says how rare
		d.Why = "the second has none of it"
	case a.Known && b.Known && finite(half):
		d.Half95 = half
	case a.Why == b.Why:
		d.Why = a.Why
	case a.Why != "":
		d.Why = "of the first, " + a.Why
	default:
		d.Why = "of the second, " + b.Why
	}
}

// plainID is a profile's name and version, without the numbers that are changed: these are in the spec.
func plainID(profile string) string {
	id, _, _ := strings.Cut(profile, "+")
	return id
}

// finite says that x is a number, for which JSON has a form.
func finite(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) }

func union(a, b experiment.Knobs) experiment.Knobs {
	u := a.Clone()
	for k, v := range b { // order-free: fills a map
		u[k] = v
	}
	return u
}

// Headline are the metrics that String shows.
var Headline = []string{"throughput", "latency_us.p50", "latency_us.p99", "abort_rate", "round_trips_per_txn"}

// String is a table for a terminal.
func (c *Comparison) String() string {
	var b strings.Builder
	if len(c.Spec) == 0 {
		b.WriteString("no knob differs: the same run twice\n")
	}
	var names []string
	for _, d := range c.Spec {
		names = append(names, d.Knob)
	}
	width := nameWidth(names)
	for _, d := range c.Spec {
		fmt.Fprintf(&b, "%-*s %14v -> %v\n", width, d.Knob, d.A, d.B)
	}
	for _, d := range c.Metrics {
		for _, h := range Headline {
			if d.Metric == h {
				fmt.Fprintf(&b, "%-*s %14s -> %-14s %s\n", width, d.Metric, Number(d.A), Number(d.B), d.percent())
			}
		}
	}
	b.WriteString(c.Unknown())
	return b.String()
}

// nameWidth has room for the names of knobs and metrics that begin the lines of a table.
func nameWidth(knobs []string) int {
	width := 24
	for _, name := range knobs {
		width = max(width, len(name))
	}
	return width
}

// Unknown says of a percentile that is not compared why, a line for each result without it.
func (c *Comparison) Unknown() string {
	var b strings.Builder
	for i, r := range []*Result{c.A, c.B} {
		if text := r.Unknown(); text != "" {
			fmt.Fprintf(&b, "%-24s %s\n", []string{"of the first", "of the second"}[i], text)
		}
	}
	return b.String()
}

func (d Diff) percent() string {
	switch {
	case d.Change == nil:
		return ""
	case d.Half95 > 0 || ciKeys[d.Metric] != "" && d.Why == "":
		return fmt.Sprintf("%+.1f %% (± %.1f)", 100**d.Change, 100*d.Half95)
	case d.Why != "":
		return fmt.Sprintf("%+.1f %% (no interval: %s)", 100**d.Change, d.Why)
	}
	return fmt.Sprintf("%+.1f %%", 100**d.Change)
}

// Digits writes three significant digits and all whole ones, never an exponent: 1000 for what %.3g writes as 1e+03.
func Digits(x float64) string {
	if math.Abs(x) >= 100 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	if err != nil {
		return fmt.Sprint(x)
	}
	return strconv.FormatFloat(short, 'f', -1, 64)
}

// Number writes with three significant digits and a metric prefix.
func Number(x float64) string {
	for _, u := range []struct {
		at   float64
		name string
	}{{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e4, " k"}} {
		if math.Abs(x) >= u.at*0.9995 { // which three digits round up to it
			if u.at == 1e4 {
				u.at = 1e3
			}
			return fmt.Sprintf("%.3g%s", x/u.at, u.name)
		}
	}
	return fmt.Sprintf("%.4g", x)
}
