package engine

import (
	"fmt"
	"math"
	"reflect"
	"strings"
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
// number holds the quotient.
type Diff struct {
	Metric string   `json:"metric"`
	A      float64  `json:"a"`
	B      float64  `json:"b"`
	Change *float64 `json:"change,omitempty"`
	Half95 float64  `json:"half95,omitempty"` // half-width of Change's 95 % interval, where both results carry one
}

// Compare lists what differs in the specs and in the numbers.
func Compare(a, b *Result) *Comparison {
	c := &Comparison{A: a, B: b, Spec: []SpecDiff{}, Metrics: []Diff{}}
	for _, name := range sortedNames(union(a.Spec, b.Spec)) {
		if x, y := known(name, a.Spec.Value(name)), known(name, b.Spec.Value(name)); !reflect.DeepEqual(x, y) { // a file may hold lists
			c.Spec = append(c.Spec, SpecDiff{name, x, y})
		}
	}
	for _, d := range []SpecDiff{{"code", a.Code, b.Code}, {"profile version", plainID(a.Profile), plainID(b.Profile)}} {
		if d.A != d.B {
			c.Spec = append(c.Spec, d)
		}
	}
	paths, values := sideBySide(a, b)
	for _, p := range paths {
		d := Diff{Metric: p, A: values[p][0], B: values[p][1]}
		if change := (d.B - d.A) / d.A; finite(change) {
			d.Change = &change
			// The quotient moves with both, A's interval included: its share is that of A and B together.
			half := math.Abs(d.B/d.A) * math.Hypot(a.ThroughputCI95, b.ThroughputCI95)
			if p == "throughput" && a.ThroughputCI95 > 0 && b.ThroughputCI95 > 0 && finite(half) {
				d.Half95 = half
			}
		}
		c.Metrics = append(c.Metrics, d)
	}
	return c
}

// plainID is a profile's name and version, without the numbers that are changed: these are in the spec.
func plainID(profile string) string {
	id, _, _ := strings.Cut(profile, "+")
	return id
}

// finite says that x is a number, for which JSON has a form.
func finite(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) }

func union(a, b Knobs) Knobs {
	u := a.clone()
	for k, v := range b { // order-free: fills a map
		u[k] = v
	}
	return u
}

// headline are the metrics that String shows.
var headline = []string{"throughput", "latency_us.p50", "latency_us.p99", "abort_rate", "round_trips_per_txn"}

// String is a table for a terminal.
func (c *Comparison) String() string {
	var b strings.Builder
	for _, d := range c.Spec {
		fmt.Fprintf(&b, "%-24s %14v -> %v\n", d.Knob, d.A, d.B)
	}
	for _, d := range c.Metrics {
		for _, h := range headline {
			if d.Metric == h {
				fmt.Fprintf(&b, "%-24s %14s -> %-14s %s\n", d.Metric, number(d.A), number(d.B), d.percent())
			}
		}
	}
	return b.String()
}

func (d Diff) percent() string {
	switch {
	case d.Change == nil:
		return ""
	case d.Half95 > 0:
		return fmt.Sprintf("%+.1f %% (± %.1f)", 100**d.Change, 100*d.Half95)
	}
	return fmt.Sprintf("%+.1f %%", 100**d.Change)
}

// number writes with three significant digits and a metric prefix.
func number(x float64) string {
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
