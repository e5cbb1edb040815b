package batch

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// CausesDiff says how the causes of two systems differ: what one depends on more than the other.
type CausesDiff struct {
	A    string      `json:"a"` // names of the systems
	B    string      `json:"b"`
	Rows []CauseDiff `json:"rows"` // the largest difference of throughput first
	Text string      `json:"text"`
}

// CauseDiff is one part in both: % more throughput, and % less p50, for 1 % less of its time.
type CauseDiff struct {
	What  string  `json:"what"`
	Group string  `json:"group"`
	A     float64 `json:"a"`
	B     float64 `json:"b"`
	Gain  Gap     `json:"gain"`          // of throughput
	P50   *Gap    `json:"p50,omitempty"` // absent where one of them has none
}

// Gap is the value of B less that of A.
type Gap struct {
	Diff    float64 `json:"diff"`
	Half95  float64 `json:"half95"`
	Differs bool    `json:"differs"` // by more than chance, and so much that it matters
}

// matters is the least difference of two elasticities that changes a decision.
const matters = 0.05

func gapOf(a, b float64, ha, hb *float64) Gap {
	g := Gap{Diff: b - a}
	for _, h := range []*float64{ha, hb} {
		if h != nil {
			g.Half95 = math.Hypot(g.Half95, *h)
		}
	}
	g.Differs = math.Abs(g.Diff) > max(g.Half95, matters)
	return g
}

// CompareCauses puts the causes of two systems side by side, those that both have.
func CompareCauses(nameA, nameB string, a, b *Causes) *CausesDiff {
	d := &CausesDiff{A: nameA, B: nameB, Rows: []CauseDiff{}}
	for i := range a.Causes {
		x := &a.Causes[i]
		for j := range b.Causes {
			y := &b.Causes[j]
			if x.Name != y.Name || x.Group != y.Group {
				continue
			}
			r := CauseDiff{What: x.What, Group: x.Group, A: x.Throughput, B: y.Throughput, Gain: gapOf(x.Throughput, y.Throughput, x.CI95, y.CI95)}
			if x.P50 != nil && y.P50 != nil {
				g := gapOf(*x.P50, *y.P50, x.P50CI95, y.P50CI95)
				r.P50 = &g
			}
			d.Rows = append(d.Rows, r)
		}
	}
	slices.SortStableFunc(d.Rows, func(x, y CauseDiff) int { return cmp.Compare(math.Abs(y.Gain.Diff), math.Abs(x.Gain.Diff)) })
	d.Text = d.text(a, b)
	return d
}

// text says what limits each, and what one depends on more than the other.
func (d *CausesDiff) text(a, b *Causes) string {
	most := func(name string, c *Causes) string {
		if len(c.Causes) == 0 {
			return name + ": no cause is known"
		}
		e := c.Causes[0]
		if e.CI95 != nil && *e.CI95 >= math.Abs(e.Throughput) {
			return fmt.Sprintf("%s is %s; these runs are too short or too few to tell what it gains most from", name, c.Word)
		}
		return fmt.Sprintf("%s is %s; it gains most from %s, %.2f %% more throughput for 1 %% less of it", name, c.Word, e.What, e.Throughput)
	}
	parts := []string{most(d.A, a), most(d.B, b)}
	var said []string
	for i := range d.Rows {
		r := &d.Rows[i]
		if !r.Gain.Differs || len(said) == 3 {
			continue
		}
		more := d.B
		if r.Gain.Diff < 0 {
			more = d.A
		}
		said = append(said, fmt.Sprintf("%s matters more to %s (%.2f and %.2f)", r.What, more, r.A, r.B))
	}
	if said == nil {
		return strings.Join(parts, ". ") + ". No part matters measurably more to one of them."
	}
	return strings.Join(parts, ". ") + ". " + strings.Join(said, "; ") + "."
}

// String is a table for a terminal.
func (d *CausesDiff) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s against %s: %% more throughput for 1 %% less of each time\n", d.B, d.A)
	width := 0
	for _, r := range d.Rows {
		width = max(width, len([]rune(r.What)))
	}
	wide := max(12, len([]rune(d.A)), len([]rune(d.B)))
	fmt.Fprintf(&b, "  %-*s %*s %*s %16s\n", width, "", wide, d.A, wide, d.B, "difference")
	for _, r := range d.Rows {
		sign := "="
		if r.Gain.Differs {
			sign = " "
		}
		fmt.Fprintf(&b, "  %-*s %*.2f %*.2f %s %+.2f ± %.2f\n", width, r.What, wide, r.A, wide, r.B, sign, r.Gain.Diff, r.Gain.Half95)
	}
	return b.String() + d.Text
}

// CausesOfSystems are the causes of systems side by side: each, and each further one against the one before all.
type CausesOfSystems struct {
	Systems     []NamedCauses `json:"systems"`
	Differences []*CausesDiff `json:"differences"`
}

// NamedCauses are those of one of several systems.
type NamedCauses struct {
	Name string `json:"name"`
	*Causes
}

// Add appends the causes of a further system.
func (c *CausesOfSystems) Add(name string, x *Causes) {
	c.Systems = append(c.Systems, NamedCauses{name, x})
	if base := c.Systems[0]; len(c.Systems) > 1 {
		c.Differences = append(c.Differences, CompareCauses(base.Name, name, base.Causes, x))
	}
}

func (c *CausesOfSystems) String() string {
	var parts []string
	for _, s := range c.Systems {
		parts = append(parts, s.Name+": "+s.Causes.String())
	}
	for _, d := range c.Differences {
		parts = append(parts, d.String())
	}
	return strings.Join(parts, "\n\n")
}
