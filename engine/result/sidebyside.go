package result

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Systems are results of systems side by side, the first one compared with the others.
type Systems struct {
	Systems    []*Result    `json:"systems"`
	Comparison []SystemDiff `json:"comparison"` // of each further system with the first
}

// SystemDiff is a comparison without the two results, which are beside it.
type SystemDiff struct {
	A       string     `json:"a"`
	B       string     `json:"b"`
	Spec    []SpecDiff `json:"spec"`
	Metrics []Diff     `json:"metrics"`
	Text    string     `json:"text"` // in a sentence, as the page says it
}

// CompareSystems puts results side by side.
func CompareSystems(rs []*Result) *Systems {
	out := &Systems{Systems: rs, Comparison: []SystemDiff{}}
	for _, r := range rs[1:] {
		c := Compare(rs[0], r)
		d := SystemDiff{A: rs[0].Name, B: r.Name, Spec: c.Spec, Metrics: c.Metrics}
		d.Text = d.sentence(rs[0], r)
		out.Comparison = append(out.Comparison, d)
	}
	return out
}

// String is each result, and a table of what differs with a column for each system.
func (s *Systems) String() string {
	var b strings.Builder
	for _, r := range s.Systems {
		b.WriteString(r.String() + "\n")
	}
	knobs := s.differing()
	width := nameWidth(knobs)
	line := func(name string, cell func(i int, r *Result) string) {
		fmt.Fprintf(&b, "%-*s", width, name)
		for i, r := range s.Systems {
			fmt.Fprintf(&b, " %*s", columnWidth(i), cell(i, r))
		}
		b.WriteString("\n")
	}
	line("", func(_ int, r *Result) string { return r.Name })
	if len(knobs) == 0 {
		b.WriteString("no knob differs: the same run each time\n")
	}
	for _, name := range knobs {
		line(name, func(i int, _ *Result) string { return fmt.Sprint(s.setting(name, i)) })
	}
	for _, name := range Headline {
		line(name, func(i int, r *Result) string { return s.cell(name, i) })
	}
	for _, c := range s.Comparison {
		b.WriteString(c.withoutInterval())
		b.WriteString(c.Text + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// sentence says what differs by more than chance, and what limits each.
func (c SystemDiff) sentence(a, b *Result) string {
	var parts, same, open []string
	for _, d := range c.Metrics {
		name := map[string]string{"throughput": "throughput", "latency_us.p50": "p50", "latency_us.p99": "p99", "abort_rate": "aborts"}[d.Metric]
		switch {
		case name == "" || d.A == 0 && d.B == 0:
		case d.Change == nil || d.Half95 == 0:
			open = append(open, name)
		case math.Abs(*d.Change) <= d.Half95:
			same = append(same, name)
		case name == "aborts":
			parts = append(parts, fmt.Sprintf("aborts are %.2g %% in %s and %.2g %% in %s", 100*d.A, c.A, 100*d.B, c.B))
		default:
			parts = append(parts, fmt.Sprintf("%s is %.2g %% %s", name, 100*math.Abs(*d.Change), map[bool]string{true: "higher", false: "lower"}[*d.Change > 0]))
		}
	}
	if len(same) > 0 {
		parts = append(parts, And(same)+" not measurably different")
	}
	out := fmt.Sprintf("%s against %s: %s", c.B, c.A, strings.Join(parts, ", "))
	if len(parts) == 0 {
		out += "no number has an interval"
	} else if len(open) > 0 {
		out += "; no interval of the difference of " + And(open)
	}
	if x, y := a.Limit, b.Limit; x != nil && y != nil {
		out += fmt.Sprintf("; %s is %s, %s is %s", c.A, x.Word, c.B, y.Word)
	}
	return out + "."
}

// And writes names as in a sentence.
func And(names []string) string {
	if n := len(names); n > 2 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, " and ")
}

// columnWidth has room for a number, and from the second system on for its change too.
func columnWidth(i int) int {
	if i == 0 {
		return 12
	}
	return 28
}

// differing are the knobs that have another value in some system than in the first.
func (s *Systems) differing() (names []string) {
	for _, c := range s.Comparison {
		for _, d := range c.Spec {
			if !slices.Contains(names, d.Knob) {
				names = append(names, d.Knob)
			}
		}
	}
	slices.Sort(names)
	return names
}

// setting is a system's value of a knob that differs.
func (s *Systems) setting(name string, i int) (v any) {
	for n, c := range s.Comparison {
		for _, d := range c.Spec {
			if d.Knob != name {
				continue
			}
			if n == i-1 {
				return d.B
			}
			v = d.A // also of a system that has the first one's
		}
	}
	return v
}

// cell is a number of a system, with its change from the first one.
func (s *Systems) cell(metric string, i int) string {
	if i > 0 {
		for _, d := range s.Comparison[i-1].Metrics {
			if d.Metric == metric {
				return strings.TrimSpace(Number(d.B) + "  " + d.short())
			}
		}
	}
	if x, ok := s.Systems[i].flat()[metric]; ok {
		return Number(x)
	}
	return "-"
}

// withoutInterval says of the numbers of the table whose change has no interval why, a line for each reason.
func (c SystemDiff) withoutInterval() string {
	var whys []string
	of := map[string][]string{}
	for _, d := range c.Metrics {
		if d.Change == nil || d.Why == "" || !slices.Contains(Headline, d.Metric) {
			continue
		}
		why, _, _ := strings.Cut(d.Why, ":") // the rest are numbers of one metric
		if of[why] == nil {
			whys = append(whys, why)
		}
		of[why] = append(of[why], d.Metric)
	}
	var b strings.Builder
	for _, why := range whys {
		fmt.Fprintf(&b, "%s against %s has no interval of %s: %s\n", c.B, c.A, strings.Join(of[why], ", "), why)
	}
	return b.String()
}

// short is the change with its interval, without the reason for there being none.
func (d Diff) short() string {
	switch {
	case d.Change == nil:
		return ""
	case d.Half95 > 0:
		return fmt.Sprintf("%+.1f %% ± %.1f", 100**d.Change, 100*d.Half95)
	}
	return fmt.Sprintf("%+.1f %%", 100**d.Change)
}
