package cluster

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"drtmx/cluster/agent"
	"drtmx/cluster/words"
	"drtmx/dashboard/charts"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// CDF draws the distribution of a result's latency: which share of its requests took at most how long. Of
// transaction types that are named it draws each, as r.CDF("balance", "send-payment").
func (r *Result) CDF(types ...string) *charts.Chart {
	if len(types) == 0 {
		return CDF(r)
	}
	var of []*result.Histogram
	for _, name := range types {
		if _, known := r.Raw.ByType[name]; !known {
			must(&experiment.SpecError{Field: "type", Value: name, Rule: "no such transaction type", Next: "use one of " + strings.Join(slices.Sorted(maps.Keys(r.Raw.ByType)), ", ")})
		}
		h := r.Raw.HistogramOf(name)
		if h.Count() == 0 {
			must(&experiment.SpecError{Field: "type", Value: name, Rule: "has no latencies: none was committed", Next: "measure longer"})
		}
		of = append(of, h)
	}
	return cdf(types, of)
}

// CDF draws the latencies of several results over each other, named by what differs in their specs.
func CDF(rs ...*Result) *charts.Chart {
	if len(rs) == 0 {
		must(&experiment.SpecError{Field: "results", Rule: "none given", Next: "as cluster.CDF(base, c.Run(2*time.Millisecond))"})
	}
	var raw []*result.Result
	var of []*result.Histogram
	for _, r := range rs {
		if r.Raw.Histogram.Count() == 0 {
			must(&experiment.SpecError{Field: "result", Value: r.Raw.Name, Rule: "has no latencies: nothing was committed", Next: "measure longer"})
		}
		raw, of = append(raw, r.Raw), append(of, r.Raw.Histogram)
	}
	return cdf(names(raw), of)
}

// cdf draws distributions with a name each.
func cdf(names []string, of []*result.Histogram) *charts.Chart {
	var lines []charts.Series
	for _, name := range names {
		lines = append(lines, charts.Series{Name: name})
	}
	return CDFChart(charts.Size{}, "distribution of latency", lines, of)
}

// CDFChart draws distributions over each other. The lines say how each looks; their points are set here.
func CDFChart(size charts.Size, title string, lines []charts.Series, of []*result.Histogram) *charts.Chart {
	for i, h := range of {
		lines[i].X, lines[i].Y = h.CDF()
	}
	return charts.LinesSized(size, title, charts.Axis{Label: "latency", Unit: "µs", Log: true}, charts.Axis{Label: "share of requests", To: 1}, lines, nil)
}

// StalenessChart draws over each other which share of the reads of snapshots was at least how old, with the bounds as marks;
// each of them has reads. Nearly all reads are fresh where the bound is small; the old ones are what one looks for, so the share is logarithmic.
func StalenessChart(size charts.Size, lines []charts.Series, of []agent.Staleness) *charts.Chart {
	var marks []charts.Mark
	y := charts.Axis{Label: "reads at least as old", Unit: "%", Log: true, From: 1, To: 100}
	for i, s := range of {
		lines[i].X, lines[i].Y = atLeast(s.Reads)
		for y.From > lines[i].Y[len(lines[i].Y)-1] {
			y.From /= 10
		}
		if s.Bounded {
			text := "bound of " + lines[i].Name
			marks = append(marks, charts.Mark{X: float64(s.BoundNS) / 1e3, Text: text, Label: text})
		}
	}
	for i, l := range lines { // down to the axis behind the oldest
		lines[i].X, lines[i].Y = append(l.X, l.X[len(l.X)-1]), append(l.Y, y.From)
	}
	return charts.TimelineSized(size, "", charts.Axis{Label: "staleness", Unit: "µs"}, []charts.Track{{Y: y, Series: lines}}, marks)
}

// atLeast is a distribution as a line: y[i] percent of all are x[i] us or more. Steps by which a logarithmic axis of a few hundred
// points hardly moves are left out.
func atLeast(h *result.Histogram) (x, y []float64) {
	const step = 0.99
	n := h.Count()
	left, last := n, math.Inf(1)
	for i, c := range h.Counts {
		share := 100 * float64(left) / float64(n)
		if c > 0 && (share <= last*step || c == left) {
			x, y, last = append(x, h.UpperUS[i]), append(y, share), share
		}
		left -= c
	}
	return x, y
}

// names tells results apart: by the knobs in which the others differ from the first, or by number.
func names(rs []*result.Result) []string {
	out := []string{"latency"}
	if len(rs) > 1 {
		out[0] = "first"
	}
	for i, r := range rs[1:] {
		name := fmt.Sprintf("result %d", i+2)
		if text := words.Knobs(differing(rs[0].Spec, r.Spec)); text != "" {
			name = text
		}
		out = append(out, name)
	}
	return out
}

// differing are the knobs of b that are not as in a, groups of knobs and times of measuring left out.
func differing(a, b experiment.Knobs) experiment.Knobs {
	set := experiment.Knobs{}
	for name, v := range b { // order-free: fills a map
		if !reflect.DeepEqual(v, a[name]) && !experiment.IsGroup(name) && name != "warmup_ns" && name != "duration_ns" {
			set[name] = v
		}
	}
	return set
}
