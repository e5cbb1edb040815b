package table

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"drtmx/engine/experiment"
	"drtmx/engine/knob"
)

// Plot is a picture of columns. As last value of a cell it draws itself; Save writes it to a file. Its methods change how it is drawn
// and return it.
type Plot struct {
	kind  string // one of the kinds below
	x     string
	ys    []string
	layer []layer // tables over each other

	title, by  string
	right      []string
	errors     map[string]string // the column of half widths, by the column that they are of
	logX, logY bool
	bins       int
	width      float64 // of a file, in millimetres
}

// layer is a table of a plot with what tells it from the others.
type layer struct {
	name string
	t    *Table
}

const (
	lines   = "Line"
	scatter = "Scatter"
	bars    = "Bar"
	hist    = "Hist"
)

// Line draws columns of numbers over a column, in its order. Columns of different units are drawn above each other; of those with a
// column NAME.half95 beside them the error bars are drawn.
func (t *Table) Line(x string, ys ...string) *Plot { return t.plot(lines, x, ys) }

// Scatter draws a point for each row.
func (t *Table) Scatter(x string, ys ...string) *Plot { return t.plot(scatter, x, ys) }

// Bar draws a bar for each row and column of numbers, named by the column x.
func (t *Table) Bar(x string, ys ...string) *Plot { return t.plot(bars, x, ys) }

// Hist draws how often the numbers of columns lie where.
func (t *Table) Hist(columns ...string) *Plot {
	p := t.plot(hist, "", columns)
	for _, name := range columns {
		if a, b := UnitOf(columns[0]), UnitOf(name); a != b {
			Must(&experiment.SpecError{Field: "Hist", Value: strings.Join(columns, ", "), Rule: fmt.Sprintf("%q and %q are units of one axis", a, b), Next: "draw a histogram of each"})
		}
	}
	return p
}

func (t *Table) plot(kind, x string, ys []string) *Plot {
	p := &Plot{kind: kind, x: x, ys: ys, layer: []layer{{"", t}}, errors: map[string]string{}}
	if len(ys) == 0 {
		Must(&experiment.SpecError{Field: kind, Rule: "no column of numbers is named", Next: "there are " + strings.Join(t.someNumeric(), ", ")})
	}
	if kind != hist {
		_, err := t.column(x)
		Must(err)
	}
	for _, y := range ys {
		_, err := t.numbers(y)
		Must(err)
		p.seek(y)
	}
	return p
}

// someNumeric are columns that can be drawn.
func (t *Table) someNumeric() (names []string) {
	for i, name := range t.names {
		if _, err := t.numbers(name); err == nil && len(names) < 8 {
			names = append(names, t.names[i])
		}
	}
	return names
}

// seek takes the error bars of a column from the column beside it, if the table has one.
func (p *Plot) seek(y string) {
	if half := y + ".half95"; p.kind != hist && slices.Contains(p.layer[0].t.names, half) {
		p.errors[y] = half
	}
}

// Named is what the table that the plot began with is called beside those of Over.
func (p *Plot) Named(name string) *Plot { p.layer[0].name = name; return p }

// Over draws the same columns of another table as well. The names tell both apart.
func (p *Plot) Over(name string, t *Table) *Plot {
	p.needs(t, p.x)
	p.needs(t, p.ys...)
	p.layer = append(p.layer, layer{name, t})
	return p
}

// needs refuses a table without a column.
func (p *Plot) needs(t *Table, columns ...string) {
	for _, name := range columns {
		if name != "" {
			_, err := t.column(name)
			Must(err)
		}
	}
}

// By draws a line, or a set of points or bars, for each value of a column.
func (p *Plot) By(column string) *Plot {
	for _, l := range p.layer {
		p.needs(l.t, column)
	}
	p.by = column
	return p
}

// Err draws error bars: a column of half widths for each column of numbers, in their order.
func (p *Plot) Err(columns ...string) *Plot {
	if len(columns) > len(p.ys) {
		Must(&experiment.SpecError{Field: "Err", Value: strings.Join(columns, ", "), Rule: fmt.Sprintf("%d columns of numbers are drawn", len(p.ys)), Next: "name a column of half widths for each"})
	}
	for i, name := range columns {
		_, err := p.layer[0].t.numbers(name)
		Must(err)
		p.errors[p.ys[i]] = name
	}
	return p
}

// Right draws further columns, which are read on an axis of their own at the right.
func (p *Plot) Right(columns ...string) *Plot {
	if p.kind != lines && p.kind != scatter || p.logY {
		Must(&experiment.SpecError{Field: "Right", Value: strings.Join(columns, ", "), Rule: "only lines and points on linear axes have a right axis", Next: "as t.Line(x, y).Right(z)"})
	}
	for _, y := range columns {
		_, err := p.layer[0].t.numbers(y)
		Must(err)
		p.seek(y)
	}
	p.right = append(p.right, columns...)
	return p
}

// LogX and LogY make an axis logarithmic.
func (p *Plot) LogX() *Plot { p.logX = true; return p }

// LogY is LogX for the numbers.
func (p *Plot) LogY() *Plot {
	if len(p.right) > 0 {
		Must(&experiment.SpecError{Field: "LogY", Rule: "a picture with a right axis has linear ones", Next: "draw the columns above each other with Line(x, y, z)"})
	}
	p.logY = true
	return p
}

// Bins says in how many parts a histogram counts; else there are about as many as the root of the rows.
func (p *Plot) Bins(n int) *Plot {
	if n < 1 || n > 1000 {
		Must(&experiment.SpecError{Field: "bins", Value: fmt.Sprint(n), Rule: "must be from 1 to 1000"})
	}
	p.bins = n
	return p
}

// Title is what stands above; else it is made of the columns.
func (p *Plot) Title(text string) *Plot { p.title = text; return p }

// Width is that of the picture in a file in millimetres, as the 84 of a column of a paper.
func (p *Plot) Width(mm float64) *Plot {
	if mm < 20 || mm > 1000 {
		Must(&experiment.SpecError{Field: "width", Value: fmt.Sprint(mm), Rule: "must be from 20 to 1000 millimetres"})
	}
	p.width = mm
	return p
}

// set is what is drawn with one look: points of one table, one value of the column by, one column.
type set struct {
	name, column string
	right        bool
	x            []any
	y, half      []float64
}

// sets are all of them, in the order of tables, values of by, columns.
func (p *Plot) sets() (out []set, err error) {
	for _, l := range p.layer {
		groups := [][]int{nil}
		names := []string{""}
		for i := range l.t.Len() {
			g := 0
			if p.by != "" {
				value := Row{l.t, i}.Text(p.by)
				if g = slices.Index(names[1:], value) + 1; g == 0 {
					g, names, groups = len(groups), append(names, value), append(groups, nil)
				}
			}
			groups[g] = append(groups[g], i)
		}
		for g, rows := range groups {
			if len(rows) == 0 {
				continue
			}
			of := l.t.rows(rows)
			for i, y := range slices.Concat(p.ys, p.right) {
				s := set{column: y, right: i >= len(p.ys), name: p.nameOf(l.name, names[g], y)}
				if s.y, err = of.numbers(y); err != nil {
					return nil, err
				}
				if p.x != "" {
					c, _ := of.column(p.x)
					s.x = of.cells[c]
				}
				if e := p.errors[y]; e != "" && slices.Contains(of.names, e) {
					if s.half, err = of.numbers(e); err != nil {
						return nil, err
					}
				}
				out = append(out, s)
			}
		}
	}
	if len(out) == 0 {
		return nil, &experiment.SpecError{Field: p.kind, Rule: "the table has no rows"}
	}
	return out, nil
}

// nameOf tells a set from others, by what there are several of.
func (p *Plot) nameOf(table, value, column string) string {
	var parts []string
	if len(p.layer) > 1 {
		parts = append(parts, cmp.Or(table, "this"))
	}
	if p.by != "" {
		parts = append(parts, value)
	}
	if len(p.ys)+len(p.right) > 1 || len(parts) == 0 {
		parts = append(parts, column)
	}
	return strings.Join(parts, ", ")
}

// numeric says whether the X axis has numbers, and else what stands on it.
func numeric(sets []set) (ok bool, names []string) {
	ok = true
	for _, s := range sets {
		for _, v := range s.x {
			if _, n := numberOf(v); !n {
				ok = false
			}
		}
	}
	if ok {
		return true, nil
	}
	seen := map[string]bool{}
	for _, s := range sets {
		for _, v := range s.x {
			if name := shown(v); !seen[name] {
				seen[name], names = true, append(names, name)
			}
		}
	}
	return false, names
}

// namesMost bounds what stands on an axis of names, and how many bars there are.
const namesMost = 200

func tooMany(kind, column string, n int) error {
	if n <= namesMost {
		return nil
	}
	return &experiment.SpecError{Field: "column", Value: knob.Clip(column), Rule: fmt.Sprintf("has %d values for %s, and %d are the most that can be read", n, kind, namesMost), Next: "filter the rows, or take a column of numbers"}
}

// counted are numbers by where they lie: edges and counts, drawn as steps.
func counted(y []float64, lo, hi float64, bins int) (xs, counts []float64) {
	n := make([]float64, bins)
	step := (hi - lo) / float64(bins)
	for _, v := range y {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			n[min(bins-1, int((v-lo)/step))]++
		}
	}
	xs, counts = []float64{lo}, []float64{0}
	for i, c := range n {
		from, to := lo+float64(i)*step, lo+float64(i+1)*step
		xs, counts = append(xs, from, to), append(counts, c, c)
	}
	return append(xs, hi), append(counts, 0)
}
