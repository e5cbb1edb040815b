package cluster

import (
	"fmt"
	"strings"

	"drtmx/cluster/words"
	"drtmx/dashboard/charts"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Comparison puts two results side by side: what differs in the specs, and by
// how much in the numbers.
type Comparison struct {
	A, B *Result
	Raw  *result.Comparison
}

// Compare compares two results.
func Compare(a, b *Result) *Comparison {
	return &Comparison{a, b, result.Compare(a.Raw, b.Raw)}
}

// headline are the numbers that a comparison shows first.
var headline = []string{"throughput", "latency_us.mean", "latency_us.p50", "latency_us.p99", "abort_rate", "round_trips_per_txn"}

// main picks the headline and the phases that a changed knob is about.
func (c *Comparison) main() []result.Diff {
	wanted := append([]string(nil), headline...)
	for _, d := range c.Raw.Spec {
		for _, prefix := range []string{"phase.", "opt."} {
			name, ok := strings.CutPrefix(d.Knob, prefix)
			if !ok {
				continue
			}
			name, _, _ = strings.Cut(name, ".")
			wanted = append(wanted, "phases."+name+".mean_us")
		}
	}
	var out []result.Diff
	seen := map[string]bool{}
	for _, w := range wanted {
		for _, d := range c.Raw.Metrics {
			if d.Metric == w && !seen[w] {
				seen[w] = true
				out = append(out, d)
			}
		}
	}
	return out
}

// Metric is one number of both by its path in the JSON, as "latency_us.p50".
func (c *Comparison) Metric(path string) result.Diff {
	for _, d := range c.Raw.Metrics {
		if d.Metric == path {
			return d
		}
	}
	must(&experiment.SpecError{Field: path, Rule: "no such number in both results", Next: "All() lists them"})
	return result.Diff{}
}

// String is the headline.
func (c *Comparison) String() string {
	return c.knobs() + c.lines(c.main()) + "\n" + c.Raw.Unknown() + c.limits()
}

// All is every number that both results know.
func (c *Comparison) All() string { return c.knobs() + c.lines(c.Raw.Metrics) }

func (c *Comparison) knobs() string {
	if len(c.Raw.Spec) == 0 {
		return "same knobs"
	}
	var b strings.Builder
	for i, d := range c.Raw.Spec {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %v -> %v", d.Knob, d.A, d.B)
	}
	return b.String()
}

func (c *Comparison) lines(ds []result.Diff) string {
	var b strings.Builder
	for _, d := range ds {
		fmt.Fprintf(&b, "\n%-24s %12s -> %12s  %s", d.Metric, quantity(d.Metric, d.A), quantity(d.Metric, d.B), c.diffText(d))
	}
	return b.String()
}

// limits says what limits both, by the rule of engine.Verdict.
func (c *Comparison) limits() string {
	a, b := limitText(c.A.Raw), limitText(c.B.Raw)
	if a == b {
		return "both " + a
	}
	return "A is " + a + "\nB is " + b
}

// limitText is the verdict on a result.
func limitText(r *result.Result) string {
	if r.Limit == nil {
		return "without a verdict: nothing ended"
	}
	return r.Limit.Text
}

// quantity writes a number with its unit.
func quantity(metric string, x float64) string {
	switch {
	case metric == "throughput":
		return words.Rate(x)
	case strings.HasPrefix(metric, "latency_us"), strings.HasSuffix(metric, "_us"):
		return charts.Digits(x, 3) + " µs" // what is not known is not compared, so 0 is none
	case strings.HasSuffix(metric, "_rate"), strings.HasSuffix(metric, ".share"), strings.HasPrefix(metric, "utilization."):
		return words.Percent(x)
	}
	return words.Number(x)
}

// diffText is a relative change with its interval, where there is one: the engine gives
// none that rests on too few spans of time.
func (c *Comparison) diffText(d result.Diff) string {
	if d.Change == nil {
		return ""
	}
	s := words.Change(*d.Change)
	if d.Half95 > 0 {
		s += fmt.Sprintf(" ± %.1f", 100*d.Half95)
	} else if d.Why != "" {
		s += " (no interval: " + d.Why + ")"
	}
	return s
}
