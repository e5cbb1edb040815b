package cluster

import (
	"fmt"
	"html"
	"math"
	"reflect"
	"sort"
	"strings"

	"drtmx/cluster/words"
	"drtmx/dashboard/charts"
	"drtmx/dashboard/charts/palette"
	"drtmx/engine/result"
)

// namedWindows is one line of a timeline.
type namedWindows struct {
	name string
	ws   []result.Window
}

// timeline draws throughput and latency over virtual time.
func timeline(title string, runs []namedWindows, marks []charts.Mark) *charts.Chart {
	var rate, p50, p99 []charts.Series
	for _, r := range runs {
		var x, y, m, h []float64
		for i := range r.ws {
			w := &r.ws[i]
			x = append(x, float64(w.T1NS)/1e6)
			y = append(y, w.Throughput)
			m = append(m, absent(w.LatencyUS.P50))
			h = append(h, absent(w.LatencyUS.P99))
		}
		rate = append(rate, charts.Series{Name: r.name, X: x, Y: y})
		p50 = append(p50, charts.Series{Name: label(r.name, "p50"), X: x, Y: m, Of: r.name})
		p99 = append(p99, charts.Series{Name: label(r.name, "p99"), X: x, Y: h, Of: r.name, Dashed: true})
	}
	return charts.Timeline(title, charts.Axis{Label: "virtual time", Unit: "ms"}, []charts.Track{
		{Y: charts.Axis{Label: "committed", Unit: "1/s"}, Series: rate},
		{Y: charts.Axis{Label: "latency", Unit: "µs"}, Series: append(p50, p99...)},
	}, marks)
}

func label(run, what string) string {
	if run == "" {
		return what
	}
	return run + ", " + what
}

// htmlTable writes rows of cells; the first row is the head, the first column of
// the others is a heading too.
func htmlTable(rows [][]string) string {
	var b strings.Builder
	b.WriteString(`<table class="drtmx">`)
	for i, row := range rows {
		b.WriteString("<tr>")
		for j, c := range row {
			tag, style := "td", ` style="text-align:right"`
			if i == 0 || j == 0 {
				tag = "th"
			}
			if j == 0 {
				style = ` style="text-align:left"`
			}
			fmt.Fprintf(&b, "<%s%s>%s</%s>", tag, style, esc(c), tag)
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</table>")
	return b.String()
}

// HTML is the card of a cluster: what it is, how it stands, where its page is.
func (c *Cluster) HTML() string {
	st, err := c.c.State()
	must(err)
	rows := [][]string{{"knob", "value"}}
	for _, k := range c.topology() {
		rows = append(rows, []string{k[0], k[1]})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<p><b>%s</b> at %s, %s</p>", esc(c.title()), esc(words.NS(st.VirtualNS)), esc(st.State))
	b.WriteString(htmlTable(rows))
	if l, ok := c.c.d.(*local); !ok || l.served() != "" {
		u, err := c.c.d.Page(c.c.context())
		must(err)
		b.WriteString((&Link{u}).HTML())
	}
	return b.String()
}

func (c *Cluster) String() string {
	st, err := c.c.State()
	if err != nil { // fmt would print the panic of a String
		return "cluster " + c.c.sys + ": " + words.OneLine(err.Error())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s at %s, %s", c.title(), words.NS(st.VirtualNS), st.State)
	for _, k := range c.topology() {
		fmt.Fprintf(&b, "\n%-20s %s", k[0], k[1])
	}
	return b.String()
}

func (c *Cluster) title() string {
	s := c.Spec()
	name := s.Workload
	if s.Preset != "" {
		name = s.Preset + ", " + name
	}
	return strings.Trim("cluster "+c.c.sys+": "+name, ", ")
}

// topology are the knobs that make up a card: what the cluster is built of,
// and what differs from the defaults.
func (c *Cluster) topology() [][2]string {
	always := map[string]bool{"preset": true, "workload": true, "profile": true, "nodes": true, "threads": true, "coroutines": true, "replicas": true, "seed": true}
	var out [][2]string
	for _, k := range c.Knobs() {
		if k.Active && (always[k.Name] || !reflect.DeepEqual(k.Value, k.Default) && !reflect.DeepEqual(k.Value, k.Preset)) {
			v := fmt.Sprint(k.Value)
			if k.Unit != "" {
				v += " " + k.Unit
			}
			out = append(out, [2]string{k.Name, v})
		}
	}
	return out
}

// HTML draws the result: the numbers, the checks, throughput and latency.
func (r *Result) HTML() string {
	x := r.Raw
	l := x.LatencyUS
	ci := ""
	if x.ThroughputCI95 > 0 {
		ci = " ± " + words.Percent(x.ThroughputCI95)
	}
	out := htmlTable([][]string{
		{"committed", "p50", "p90", "p99", "p99.9", "aborts", "round trips"},
		{words.Rate(x.Throughput) + ci, words.Micros(l.P50), words.Micros(l.P90), words.Micros(l.P99), words.Micros(l.P999), words.Percent(x.AbortRate), words.Number(x.RoundTripsPerTxn)},
	})
	if text := x.Unknown(); text != "" {
		out += note(palette.Unknown, text)
	}
	if text := x.Snapshots(); text != "" {
		out += "<p>Snapshots: " + esc(text) + "</p>"
	}
	if text := x.Uncommitted(); text != "" {
		out += note(palette.Bad, text)
	}
	out += r.Checks().HTML()
	if len(r.Windows) > 1 {
		out += timeline("", []namedWindows{{"", r.Windows}}, r.marks()).HTML()
	}
	return out
}

// marks are the knob changes within the result's windows.
func (r *Result) marks() []charts.Mark {
	var out []charts.Mark
	for _, c := range r.Raw.Changes {
		if c.VirtualNS > r.Raw.FromNS {
			out = append(out, charts.Mark{X: float64(c.VirtualNS) / 1e6, Text: words.Knobs(c.Set)})
		}
	}
	return out
}

// note is a line with a coloured edge.
func note(colour, text string) string {
	return fmt.Sprintf(`<p style="border-left:4px solid %s;padding-left:.6em">%s</p>`, colour, esc(text))
}

// HTML is one line, and the cycle of each anomaly.
func (c *Checks) HTML() string {
	colour := palette.Unknown
	switch {
	case c.OK():
		colour = palette.Good
	case c.Raw.Failed():
		colour = palette.Bad
	}
	head, rest, _ := strings.Cut(c.String(), "\n")
	out := note(colour, head)
	if rest == "" {
		return out
	}
	out += "<ul>"
	for _, a := range c.Raw.Anomalies {
		out += "<li>" + esc(a.Kind+": "+words.OneLine(a.Text))
		for i, s := range a.Cycle {
			if i == 0 {
				out += "<br>"
			}
			out += esc(fmt.Sprintf(" T%d —%v %s@%d→", s.Txn, s.Edge, s.Record, s.Version))
		}
		out += "</li>"
	}
	return out + "</ul>"
}

// Why explains a result: where the latency went, and whether it is saturated, latency-bound or
// contended by the rule of engine.Verdict. Causes measures what would change it.
func (r *Result) Why() *Why { return &Why{r} }

// Why is the explanation of a result.
type Why struct{ r *Result }

// shares lists the phases of a result that took time, in the protocol's order,
// with their mean microseconds per transaction.
func shares(x *result.Result) (names []string, us []float64) {
	seen := map[string]bool{}
	add := func(n string) {
		if p, ok := x.Phases[n]; ok && !seen[n] && p.Share > 0 {
			names, us = append(names, n), append(us, p.MeanUS)
		}
		seen[n] = true
	}
	for _, n := range palette.Phases.Names() {
		add(n)
	}
	var more []string
	for n := range x.Phases {
		more = append(more, n)
	}
	sort.Strings(more)
	for _, n := range more {
		add(n)
	}
	return names, us
}

// String is the sentence.
func (w *Why) String() string {
	x := w.r.Raw
	var b strings.Builder
	top, most := "", 0.0
	for _, n := range palette.Phases.Names() {
		if p := x.Phases[n]; p.Share > most {
			top, most = n, p.Share
		}
	}
	if top != "" {
		fmt.Fprintf(&b, "Of the %s of a transaction %s takes the largest share, %s. ", words.Micros(x.LatencyUS.Mean), top, words.Percent(most))
	}
	mile, share := "", 0.0
	for n, m := range x.Milestones {
		if m.Share > share || m.Share == share && n < mile {
			mile, share = n, m.Share
		}
	}
	if mile != "" {
		step := mile
		if l, ok := palette.Milestones.Of(mile); ok {
			step = l.Label
		}
		fmt.Fprintf(&b, "The step with the largest share is “%s”, %s. ", step, words.Percent(share))
	}
	b.WriteString(upper(limitText(x)) + ".")
	return b.String()
}

// upper begins a sentence.
func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// HTML is the stacked latency, the utilisation, the hottest records and the sentence.
func (w *Why) HTML() string {
	x := w.r.Raw
	names, us := shares(x)
	out := "<p>" + esc(w.String()) + "</p>"
	if len(names) > 0 {
		out += charts.StackedSized(charts.Size{}, "", charts.Axis{Label: "latency", Unit: "µs"}, charts.PhaseParts(names), []charts.Bars{{Name: "mean transaction", Values: us}}).HTML()
	}
	rows := [][]string{{"busy", "mean", "busiest"}}
	for _, n := range sortedUtil(x.Utilization) {
		u := x.Utilization[n]
		rows = append(rows, []string{n, words.Percent(u.Mean), words.Percent(u.Max)})
	}
	if len(rows) > 1 {
		out += htmlTable(rows)
	}
	if c := x.Contention; c != nil {
		out += hotTable(c.Hot)
	}
	return out
}

func sortedUtil(m map[string]result.Util) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	sort.Slice(names, func(i, j int) bool {
		if m[names[i]].Max != m[names[j]].Max {
			return m[names[i]].Max > m[names[j]].Max
		}
		return names[i] < names[j]
	})
	return names
}

// HTML is the comparison as a table, the timelines on top of each other, and
// the phases beside each other.
func (c *Comparison) HTML() string {
	var b strings.Builder
	if len(c.Raw.Spec) > 0 {
		rows := [][]string{{"knob", "A", "B"}}
		for _, d := range c.Raw.Spec {
			rows = append(rows, []string{d.Knob, fmt.Sprint(d.A), fmt.Sprint(d.B)})
		}
		b.WriteString(htmlTable(rows))
	}
	b.WriteString(c.diffTable(c.main()))
	b.WriteString("<p>" + strings.ReplaceAll(esc(c.Raw.Unknown()+c.limits()), "\n", "<br>") + "</p>")
	if len(c.A.Windows) > 1 && len(c.B.Windows) > 1 {
		b.WriteString(timeline("", []namedWindows{{"A", fromZero(c.A.Windows)}, {"B", fromZero(c.B.Windows)}}, nil).HTML())
	}
	if len(c.A.Raw.Phases) > 0 || len(c.B.Raw.Phases) > 0 {
		b.WriteString(phaseBars([]string{"A", "B"}, []*result.Result{c.A.Raw, c.B.Raw}).HTML())
	}
	b.WriteString("<details><summary>All numbers</summary>" + c.diffTable(c.Raw.Metrics) + "</details>")
	return b.String()
}

func (c *Comparison) diffTable(ds []result.Diff) string {
	rows := [][]string{{"", "A", "B", "change"}}
	for _, d := range ds {
		rows = append(rows, []string{d.Metric, quantity(d.Metric, d.A), quantity(d.Metric, d.B), c.diffText(d)})
	}
	return htmlTable(rows)
}

// fromZero moves windows to the beginning of the time axis, so that runs one
// after the other can be compared.
func fromZero(ws []result.Window) []result.Window {
	out := append([]result.Window(nil), ws...)
	for i := range out {
		out[i].T0NS -= ws[0].T0NS
		out[i].T1NS -= ws[0].T0NS
	}
	return out
}

// Breakdown draws where the time of a mean transaction goes in several runs, a bar for
// each, in their order. names are those of the bars; a run without one has its number.
func Breakdown(names []string, rs ...*Result) *charts.Chart {
	raw := make([]*result.Result, len(rs))
	for i, r := range rs {
		if raw[i] = r.Raw; i >= len(names) {
			names = append(names[:i:i], fmt.Sprint(i+1))
		}
	}
	return phaseBars(names, raw)
}

// phaseBars puts the stacked latency of several results side by side.
func phaseBars(names []string, rs []*result.Result) *charts.Chart {
	used := map[string]bool{}
	for _, r := range rs {
		ns, _ := shares(r)
		for _, n := range ns {
			used[n] = true
		}
	}
	var parts []string
	for _, n := range palette.Phases.Names() {
		if used[n] {
			parts = append(parts, n)
		}
	}
	var bars []charts.Bars
	for i, r := range rs {
		v := make([]float64, len(parts))
		for j, n := range parts {
			v[j] = r.Phases[n].MeanUS
		}
		bars = append(bars, charts.Bars{Name: names[i], Values: v})
	}
	return charts.StackedSized(charts.Size{}, "", charts.Axis{Label: "mean latency", Unit: "µs"}, charts.PhaseParts(parts), bars)
}

// HTML is the sweep's throughput and median latency, drawn as lines, over two axes also as heat maps,
// and as a table.
func (s *SweepResult) HTML() string {
	metrics := []string{"throughput", "latency_us.p50"}
	return s.chart(charts.Size{}, s.title(metrics), metrics...).HTML() + s.heatMaps() + "<details><summary>As a table</summary><pre>" + esc(s.String()) + "</pre></details>"
}

func esc(s string) string { return html.EscapeString(s) }

// absent turns the 0 of a percentile without samples into a gap of the line.
func absent(x float64) float64 {
	if x == 0 {
		return math.NaN()
	}
	return x
}
