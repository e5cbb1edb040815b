package figure

import (
	"fmt"
	"slices"
	"strings"

	"drtmx/dashboard/charts"
)

// The forms that are not lines: bars, stacked bars, tables, and curves as text.

// table writes the points with a line for each series.
func (f *Figure) table(b *strings.Builder) {
	width := nameWidth
	for _, s := range f.Series {
		width = max(width, len([]rune(s.Name))+1)
	}
	width = max(width, len([]rune(f.X.Title()))+1)
	fmt.Fprintf(b, "%-*s", width, f.X.Title())
	xs, some := f.someXs()
	for _, x := range xs {
		if some { // they are none that anyone chose
			fmt.Fprintf(b, "%9.3g", x)
		} else {
			fmt.Fprintf(b, "%9g", x)
		}
	}
	for _, s := range f.Series {
		fmt.Fprintf(b, "\n%-*s", width, s.Name)
		for _, x := range xs {
			if p, ok := s.At(x); ok {
				fmt.Fprintf(b, "%9s", charts.Digits(p.Y, 4))
			} else {
				fmt.Fprintf(b, "%9s", "")
			}
		}
	}
	fmt.Fprintf(b, "\n%-*s%s", width, "", f.Y.Title())
}

const nameWidth = 20 // at least

// xs are the values of X of all series, ascending.
func (f *Figure) xs() []float64 {
	var out []float64
	for _, s := range f.Series {
		for _, p := range s.Points {
			at := 0
			for at < len(out) && out[at] < p.X {
				at++
			}
			if at == len(out) || out[at] != p.X {
				out = append(out[:at], append([]float64{p.X}, out[at:]...)...)
			}
		}
	}
	return out
}

// someXs are those that text has room for: all, or of many the first, the last, and some between.
func (f *Figure) someXs() (xs []float64, some bool) {
	const room = 11
	if xs = f.xs(); len(xs) <= mostTicks {
		return xs, false
	}
	for i := range room {
		xs[i] = xs[i*(len(xs)-1)/(room-1)]
	}
	return xs[:room], true
}

// columns are the names of the points of all series, in the order of the first that
// has them.
func (f *Figure) columns() []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range f.Series {
		for _, p := range s.Points {
			if !seen[p.Name] {
				seen[p.Name] = true
				out = append(out, p.Name)
			}
		}
	}
	return out
}

// Named is the point of a line by its name.
func (s *Series) Named(name string) (Point, bool) {
	for _, p := range s.Points {
		if p.Name == name {
			return p, true
		}
	}
	return Point{}, false
}

// like is the series with the name of another, nil for none.
func (f *Figure) like(o *Series) *Series {
	i := slices.IndexFunc(f.Series, func(s Series) bool { return s.Name == o.Name })
	if i < 0 {
		return nil
	}
	return &f.Series[i]
}

// Bars are the bars of the figure and, below each, those of others.
func (f *Figure) Bars(others []*Figure) (title string, y charts.Axis, parts []charts.Part, bars []charts.Bars) {
	switch f.Form {
	case FormRanking:
		return f.ranked(others...)
	case FormStacked:
		parts, bars = f.piles(others)
	default:
		parts, bars = f.groups(others)
	}
	for i := range parts {
		parts[i].Colour = charts.Colour(i)
		if phase := phaseOfPart(parts[i].Name); f.Form == FormStacked && phase != parts[i].Name {
			parts[i].Colour = charts.PhaseParts([]string{phase})[0].Colour
		}
	}
	return f.pictured(), f.Y.chart(), parts, bars
}

// piles are a bar for each series, whose parts are its points.
func (f *Figure) piles(others []*Figure) (parts []charts.Part, bars []charts.Bars) {
	columns := f.columns()
	for _, name := range columns {
		parts = append(parts, charts.Part{Name: name})
	}
	pile := func(s *Series, name string) {
		b := charts.Bars{Name: name, Values: make([]float64, len(columns))}
		for i, c := range columns {
			p, _ := s.Named(c) // 0 while it is still to come
			b.Values[i] = p.Y
			p.Band.add(&b)
		}
		bars = append(bars, b)
	}
	for i := range f.Series {
		s := &f.Series[i]
		pile(s, s.Name)
		bars[len(bars)-1].Expected = f.expectedParts(s, columns, bars[len(bars)-1].Values)
		for _, o := range others {
			if like := o.like(s); like != nil {
				pile(like, o.knobs())
			}
		}
	}
	return parts, bars
}

// expectedParts are the published numbers of the parts of a pile: each from where the part begins.
func (f *Figure) expectedParts(s *Series, columns []string, values []float64) (out []charts.Expected) {
	for _, r := range f.References {
		k := slices.Index(columns, r.Part)
		if r.Series != s.Name || r.To == nil || k < 0 {
			continue
		}
		from := 0.0
		for _, v := range values[:k] {
			from += v
		}
		out = append(out, charts.Expected{Text: r.Part + ": " + r.Mark(f.X), From: from, To: from + *r.To})
	}
	return out
}

// expectedBar are the published numbers of a bar that is a point.
func (f *Figure) expectedBar(s *Series, p Point) (out []charts.Expected) {
	for _, r := range f.References {
		if r.Series == s.Name && r.X != nil && *r.X == p.X && r.To != nil {
			out = append(out, charts.Expected{Text: r.Mark(f.X), To: *r.To})
		}
	}
	return out
}

// groups are a bar for each point, those of all series with its name together.
func (f *Figure) groups(others []*Figure) (parts []charts.Part, bars []charts.Bars) {
	for _, s := range f.Series {
		parts = append(parts, charts.Part{Name: s.Name})
	}
	for _, name := range f.columns() {
		label := name // of the first of its bars
		for i := range f.Series {
			add := func(of *Figure, name string) {
				s := of.like(&f.Series[i])
				if s == nil {
					return
				}
				if p, ok := s.Named(name); ok {
					b := charts.Bars{Name: label, Values: make([]float64, len(f.Series)), CI: p.CI95, Expected: of.expectedBar(s, p)}
					b.Values[i] = p.Y
					p.Band.add(&b)
					bars, label = append(bars, b), ""
				}
			}
			add(f, name)
			for _, o := range others {
				label = o.knobs()
				add(o, name)
				label = ""
			}
		}
	}
	return parts, bars
}

// cells are the rows of a table, the head first.
func (f *Figure) cells() [][]string {
	columns := f.columns()
	rows := [][]string{append([]string{""}, columns...)}
	for _, s := range f.Series {
		row := []string{s.Name}
		for _, c := range columns {
			p, ok := s.Named(c)
			text := ""
			switch {
			case ok && p.Text != "":
				text = p.Text
			case ok:
				text = charts.Digits(p.Y, 4)
			}
			if number := f.publishedAt(&s, p); ok && number != "" {
				text += " (" + number + ")"
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return rows
}

// publishedAt is the published number of a cell, "" if it has none.
func (f *Figure) publishedAt(s *Series, p Point) string {
	for _, r := range f.References {
		if r.Series == s.Name && r.X != nil && *r.X == p.X && r.To != nil && r.Relative == "" {
			return charts.Digits(*r.To, 4)
		}
	}
	return ""
}

// grid writes a line for each series: its points by name, or, of curves, what they are
// at each load.
func (f *Figure) grid(b *strings.Builder) {
	rows := f.cells()
	if f.Form == FormCurves {
		rows = [][]string{{"coroutines"}}
		for _, n := range f.loads() {
			rows[0] = append(rows[0], fmt.Sprint(n))
		}
		for _, s := range f.Series {
			row := []string{s.Name}
			for _, n := range f.loads() {
				text := ""
				if p, ok := s.under(n); ok {
					text = charts.Digits(p.X, 3) + " / " + charts.Digits(p.Y, 3)
				}
				row = append(row, text)
			}
			rows = append(rows, row)
		}
	}
	if f.Form == FormBars { // names are long, and of the points
		rows = turned(rows)
	}
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			width[i] = max(width[i], len([]rune(c)))
		}
	}
	for _, row := range rows {
		for i, c := range row {
			if i == 0 {
				fmt.Fprintf(b, "%-*s", width[i], c)
				continue
			}
			fmt.Fprintf(b, "  %*s", width[i], c)
		}
		b.WriteString("\n")
	}
	switch f.Form {
	case FormCurves:
		fmt.Fprintf(b, "%s / %s", f.X.Title(), f.Y.Title())
	case FormTable:
		fmt.Fprintf(b, "%s", f.Y.Label)
	default:
		b.WriteString(f.Y.Title())
	}
}

// loads are those of all points, ascending.
func (f *Figure) loads() []int {
	var out []int
	for _, s := range f.Series {
		for _, p := range s.Points {
			out = append(out, p.Load)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// under is the point of a line under a load.
func (s *Series) under(load int) (Point, bool) {
	for _, p := range s.Points {
		if p.Load == load {
			return p, true
		}
	}
	return Point{}, false
}

// turned are the columns as rows.
func turned(rows [][]string) [][]string {
	out := make([][]string, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			out[i] = append(out[i], c)
		}
	}
	return out
}

// breakdownPart is a phase as the thesis has it, with those that the results tell apart.
type breakdownPart struct {
	Name   string
	Phases []string
}

// BreakdownParts are the parts of a breakdown of latency.
var BreakdownParts = []breakdownPart{{"E", []string{"execution"}}, {"V", []string{"lock", "validation"}}, {"L", []string{"logging"}}, {"C", []string{"commit"}}}

// phaseOfPart is the phase whose colour a part has, which is the part itself if it is none.
func phaseOfPart(part string) string {
	for _, p := range BreakdownParts {
		if p.Name == part {
			return p.Phases[len(p.Phases)-1]
		}
	}
	return part
}
