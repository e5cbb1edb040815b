package prediction

import (
	"math"
	"slices"
)

// Report is a table with what follows from it: first predictions, errors, notes, and how many predictions are close.
type Report struct {
	Rows []Line `json:"rows"`
	Code string `json:"code"` // the version that prints
	Count
	Columns []Counted `json:"columns"`
	// Models are the counts of numbers about models alone, which are computed without a system. They are in no other count.
	Models []Counted `json:"models,omitempty"`
}

// Line is a row with what follows from it. Error and verdict are those of one column.
type Line struct {
	Row
	Error   *float64 `json:"error"` // signed, as ratios; null without a published number
	Verdict string   `json:"verdict"`
	Note    string   `json:"note,omitempty"` // what cannot be explained
	// Counted says that the row is a published result of a system, which the counts are over.
	Counted bool `json:"counted"`
}

// Count is how many of the published results are predicted, and how well.
type Count struct {
	Numbers            int `json:"numbers"`
	Within10           int `json:"within_10"`
	Within20           int `json:"within_20"`
	Within35           int `json:"within_35"`
	Orders             int `json:"orders"`
	OrdersHold         int `json:"orders_hold"`
	OrdersContradicted int `json:"orders_contradicted"`
	OrdersUndecided    int `json:"orders_undecided"`
}

// Counted is the count of a column.
type Counted struct {
	Column
	Count
}

// Current is what makes a figure's predictions today: the version of the code and a digest of the runs.
type Current func(figure, scale string) (code, runs string)

// The verdicts that code asks for, as package figures writes them.
const (
	holds        = "holds"
	contradicted = "contradicted"
	undecided    = "undecided"
)

// verdictOf is a first verdict on an order.
var verdictOf = map[string]string{"ok": holds, contradicted: contradicted, undecided: undecided}

// first is the first prediction as a value.
func (p *Published) first() Value {
	v := Value{Name: First, Code: First}
	if p.Order() {
		v.Verdict = verdictOf[p.FirstVerdict]
	} else {
		v.Value = p.First
	}
	return v
}

// Of is the report on a table whose rows are in order. Errors, verdicts and the first counts are those of the column with that
// name, or of the latest: as it is at quick scale if it is there.
func Of(t *Table, name, code string, current Current) *Report {
	t = t.clone()
	t.orders()
	name = t.shown(name)
	r := &Report{Rows: []Line{}, Code: code, Columns: []Counted{}}
	for i := range t.Rows {
		row := &t.Rows[i]
		p, open := Result(row.ID)
		if open && p.First != "" {
			row.Predictions = slices.Insert(row.Predictions, 0, p.first())
		}
		r.Rows = append(r.Rows, line(row, &p, open, name, current))
	}
	for _, c := range t.Columns() {
		r.Columns = append(r.Columns, Counted{c, t.count(c, (*Published).Number)})
		if n := t.count(c, (*Published).OfModel); n.Numbers > 0 {
			n.Orders, n.OrdersHold, n.OrdersContradicted, n.OrdersUndecided = 0, 0, 0, 0
			r.Models = append(r.Models, Counted{c, n})
		}
	}
	for _, c := range slices.Backward(r.Columns) { // those at paper scale are the last
		if c.Name == name {
			r.Count = c.Count
		}
	}
	return r
}

// shown is the column with that name, or the latest if there is none.
func (t *Table) shown(name string) string {
	last := name
	for _, c := range t.Columns() {
		switch {
		case c.Name == name:
			return name
		case !c.Paper:
			last = c.Name
		}
	}
	return last
}

// orders adds rows for published orders that no claim has the id of: each column has their claims' verdict.
func (t *Table) orders() {
	for _, p := range Results() {
		if !p.Order() || slices.Contains(p.Claims, p.ID) || !t.measures(&p) {
			continue
		}
		r := Row{ID: p.ID, Figure: p.Figure, Claim: p.Claim}
		for _, c := range t.Columns() {
			if v := t.verdict(&p, c); v != "" {
				of := Value{Name: c.Name, Verdict: v}
				if c.Paper {
					of.Scale = paper
				}
				r.Predictions = append(r.Predictions, of)
			}
		}
		t.Rows = append(t.Rows, r)
	}
}

func (t *Table) measures(p *Published) bool {
	return slices.ContainsFunc(t.Rows, func(r Row) bool { return slices.Contains(p.Claims, r.ID) })
}

// verdict is the worst of the claims of a result in a column, "" if there is none.
func (t *Table) verdict(p *Published, c Column) string {
	worst := ""
	for i := range t.Rows {
		r := &t.Rows[i]
		if v := c.Of(r); v != nil && slices.Contains(p.Claims, r.ID) && bad(v.Verdict) > bad(worst) {
			worst = v.Verdict
		}
	}
	return worst
}

func bad(verdict string) int {
	return slices.Index([]string{"", holds, undecided, contradicted}, verdict)
}

func line(row *Row, p *Published, open bool, name string, current Current) Line {
	l := Line{Row: *row, Counted: open && p.Kind != kindHardware && !p.OfModel()}
	if open {
		l.Note = p.Note
		if !p.Order() {
			text := p.Text()
			l.Published = &text
		}
	}
	for i := range l.Predictions {
		v := &l.Predictions[i]
		if open {
			v.Error = off(p, v)
		} else if l.Published != nil {
			plain := Published{}
			plain.From, plain.To, _ = Span(*l.Published)
			v.Error = off(&plain, v)
		}
		if v.Name == Now && v.Code != "" {
			code, runs := current(row.Figure, v.Scale)
			v.Stale = v.Code != code || v.Runs != runs
		}
	}
	for _, v := range slices.Backward(l.Predictions) {
		if v.Name == name {
			l.Error, l.Verdict = v.Error, v.Verdict
		}
	}
	return l
}

// off is the error of a prediction, nil where there is none.
func off(p *Published, v *Value) *float64 {
	e, ok := p.Off(v.Compared())
	if !ok || math.IsInf(e, 0) || math.IsNaN(e) {
		return nil
	}
	return &e
}

// count is how well the results are predicted of which a column has something: the orders, and the numbers that are wanted.
func (t *Table) count(c Column, wanted func(*Published) bool) (n Count) {
	for _, p := range Results() {
		v := t.counted(&p, c)
		switch {
		case v == nil:
		case p.Order():
			n.order(v.Verdict)
		case wanted(&p):
			n.number(off(&p, v))
		}
	}
	return n
}

// counted is what a column has of a result, nil for nothing: of several panels that measure a number the first.
func (t *Table) counted(p *Published, c Column) *Value {
	if c.Name == First {
		if v := p.first(); t.measures(p) {
			return &v
		}
		return nil
	}
	for i := range t.Rows {
		v := c.Of(&t.Rows[i])
		switch {
		case v == nil || !slices.Contains(p.Claims, t.Rows[i].ID):
		case p.Order():
			return &Value{Verdict: t.verdict(p, c)}
		default:
			return v
		}
	}
	return nil
}

func (n *Count) order(verdict string) {
	n.Orders++
	switch verdict {
	case holds:
		n.OrdersHold++
	case contradicted:
		n.OrdersContradicted++
	default:
		n.OrdersUndecided++
	}
}

func (n *Count) number(off *float64) {
	n.Numbers++
	if off == nil {
		return
	}
	for _, x := range []struct {
		limit float64
		n     *int
	}{{0.10, &n.Within10}, {0.20, &n.Within20}, {0.35, &n.Within35}} {
		if math.Abs(*off) <= x.limit {
			*x.n++
		}
	}
}
