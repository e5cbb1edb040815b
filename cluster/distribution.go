package cluster

import (
	"context"
	"fmt"

	"drtmx/dashboard/charts"
	"drtmx/engine"
)

// Latency is the distribution of latency in the latest windows of a system under its present knobs, nil while
// nothing was committed.
func (a *Agent) Latency(ctx context.Context, sys string) (*engine.Histogram, error) {
	return fetch(ctx, a, sys, func(m *member) (*engine.Histogram, error) { return m.sys.RecentLatency(), nil })
}

// CDF draws the distribution of a result's latency: which share of its requests took at most how long.
func (r *Result) CDF() *charts.Chart { return CDF(r) }

// CDF draws the latencies of several results over each other, named by what differs in their specs.
func CDF(rs ...*Result) *charts.Chart {
	if len(rs) == 0 {
		must(&engine.SpecError{Field: "results", Rule: "none given", Next: "as cluster.CDF(base, c.Run(2*time.Millisecond))"})
	}
	var raw []*engine.Result
	var of []*engine.Histogram
	for _, r := range rs {
		if r.Raw.Histogram.Count() == 0 {
			must(&engine.SpecError{Field: "result", Value: r.Raw.Name, Rule: "has no latencies: nothing was committed", Next: "measure longer"})
		}
		raw, of = append(raw, r.Raw), append(of, r.Raw.Histogram)
	}
	return CDFChart(charts.Size{}, names(raw), of)
}

// CDFChart draws distributions over each other.
func CDFChart(size charts.Size, names []string, of []*engine.Histogram) *charts.Chart {
	var lines []charts.Series
	for i, h := range of {
		s := charts.Series{Name: names[i]}
		s.X, s.Y = h.CDF()
		lines = append(lines, s)
	}
	return charts.LinesSized(size, "distribution of latency", charts.Axis{Label: "latency", Unit: "µs", Log: true}, charts.Axis{Label: "share of requests"}, lines, nil)
}

// names tells results apart: by the knobs in which the others differ from the first, or by number.
func names(rs []*engine.Result) []string {
	out := []string{"latency"}
	if len(rs) > 1 {
		out[0] = "first"
	}
	for i, r := range rs[1:] {
		name := fmt.Sprintf("result %d", i+2)
		if text := knobText(differing(rs[0].Spec, r.Spec)); text != "" {
			name = text
		}
		out = append(out, name)
	}
	return out
}

// differing are the knobs of b that are not as in a, groups of knobs and times of measuring left out.
func differing(a, b engine.Knobs) engine.Knobs {
	set := engine.Knobs{}
	for name, v := range b { // order-free: fills a map
		if !sameValue(v, a[name]) && !engine.IsGroup(name) && name != "warmup_ns" && name != "duration_ns" {
			set[name] = v
		}
	}
	return set
}
