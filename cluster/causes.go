package cluster

import (
	"fmt"
	"slices"
	"strings"

	"drtmx/cluster/words"
	"drtmx/dashboard/charts"
	"drtmx/dashboard/charts/palette"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Causes is what limits a system, measured: see engine.MeasureCauses. As last value of a cell it
// draws the elasticities as bars with their intervals, the largest first.
type Causes struct{ Raw *batch.Causes }

// Causes measures what limits the system of a result: it runs the same spec again and again with the
// same random streams, each time with one part of what takes time a tenth faster. A group may be
// named, as "nic", to measure its members. It takes tens of runs; an interrupt ends it.
func (r *Result) Causes(group ...string) *Causes {
	c, err := r.CausesWith(group...)
	must(err)
	return c
}

// CausesWith is Causes with errors returned.
func (r *Result) CausesWith(group ...string) (*Causes, error) {
	if len(group) > 1 {
		return nil, &experiment.SpecError{Field: "group", Value: strings.Join(group, ", "), Rule: "more than one", Next: "name one, or none for all groups"}
	}
	spec, err := r.repeatable()
	if err != nil {
		return nil, err
	}
	c, err := batch.MeasureCauses(charts.Context(), spec, batch.CausesOptions{Group: strings.Join(group, ""), Progress: charts.Progress("causes")})
	if err != nil {
		return nil, err
	}
	return &Causes{c}, nil
}

// repeatable is the spec that a new system repeats the result with, if there is one: what knobs
// changed on the way, and code of the user's, are not in it.
func (r *Result) repeatable() (Spec, error) {
	x := r.Raw
	if len(x.UserTransactions) > 0 {
		return Spec{}, &experiment.SpecError{Field: "causes", Value: strings.Join(x.UserTransactions, ", "), Rule: "the result has transactions of your own, whose code no other system has", Next: "measure a cluster without them"}
	}
	for _, c := range x.Changes {
		if c.VirtualNS > x.FromNS && c.VirtualNS < x.FromNS+x.VirtualNS {
			return Spec{}, &experiment.SpecError{Field: "causes", Value: words.Knobs(c.Set), Rule: fmt.Sprintf("was changed within the result, at %s", words.NS(c.VirtualNS)), Next: "Run once more and take that result"}
		}
	}
	return experiment.SpecOf(x.Name, x.Spec.Clone())
}

func (c *Causes) String() string { return c.Raw.String() }

// HTML is the verdict, the bars and the hottest records.
func (c *Causes) HTML() string {
	x := c.Raw
	out := "<p>" + esc(upper(x.Text)) + ".</p>" + elasticityBars(x)
	if x.Total != "" {
		out += "<p>" + esc(x.Total) + "</p>"
	}
	if slices.ContainsFunc(x.Causes, func(e batch.Elasticity) bool { return e.P99 == nil }) {
		out += "<p>–: too few commits or seeds, or its interval does not tell it from 0.</p>"
	}
	return out + hotTable(x.Hot)
}

func plusMinus(x float64, half *float64) string {
	if half == nil {
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.2f ± %.2f", x, *half)
}

// barWidth and barSpan are the pixels of a bar's place and the elasticity that they stand for.
const barWidth = 220

// elasticityBars is a table with a bar and its interval in each row.
func elasticityBars(x *batch.Causes) string {
	span := 0.2
	for _, e := range x.Causes {
		half := 0.0
		if e.CI95 != nil {
			half = *e.CI95
		}
		span = max(span, e.Throughput+half)
	}
	var b strings.Builder
	b.WriteString(`<table class="drtmx"><tr><th style="text-align:left">1 % less of …</th><th>group</th><th style="text-align:left">gives so many % more throughput</th><th>p50 falls by %</th><th>p99</th></tr>`)
	for i := range x.Causes {
		e := &x.Causes[i]
		fmt.Fprintf(&b, `<tr><th style="text-align:left">%s</th><td>%s</td><td style="text-align:left">%s %s</td><td style="text-align:right">%s</td><td style="text-align:right">%s</td></tr>`,
			esc(e.What), esc(e.Group), bar(e, span), esc(plusMinus(e.Throughput, e.CI95)), esc(optionalPlusMinus(e.P50, e.P50CI95)), esc(optionalPlusMinus(e.P99, e.P99CI95)))
	}
	return b.String() + "</table>"
}

func optionalPlusMinus(x, half *float64) string {
	if x == nil {
		return "–"
	}
	return plusMinus(*x, half)
}

// bar draws one elasticity with its interval, from 0 at the left; what is below 0 is cut off.
func bar(e *batch.Elasticity, span float64) string {
	at := func(v float64) float64 { return max(0, min(barWidth, v/span*barWidth)) }
	svg := fmt.Sprintf(`<svg width="%d" height="14" role="img" aria-label="%.2f"><rect x="0" y="3" width="%.1f" height="8" fill="%s"/>`, barWidth+2, e.Throughput, at(e.Throughput), charts.Colour(0))
	if e.CI95 != nil {
		svg += fmt.Sprintf(`<line x1="%.1f" x2="%.1f" y1="7" y2="7" stroke="%s" stroke-width="1.5"/>`, at(e.Throughput-*e.CI95), at(e.Throughput+*e.CI95), palette.Interval)
	}
	return svg + "</svg>"
}

// hotTable is the hottest records of a result, "" without any.
func hotTable(hot []result.HotRecord) string {
	if len(hot) == 0 {
		return ""
	}
	rows := [][]string{{"hottest record", "conflicts", "aborts", "lock wait", "by type"}}
	for i := range hot {
		h := &hot[i]
		rows = append(rows, []string{fmt.Sprintf("%s/%d", h.Table, h.Key), fmt.Sprint(h.Conflicts), fmt.Sprint(h.Aborts), words.Micros(h.LockWaitUS), h.Types()})
	}
	return htmlTable(rows)
}
