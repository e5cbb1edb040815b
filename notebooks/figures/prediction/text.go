package prediction

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// String is a line for each row, the counts, and which other code made what.
func (r *Report) String() string {
	if len(r.Rows) == 0 {
		return "nothing of this is recorded; `drtmx predict --run` computes it"
	}
	var b strings.Builder
	b.WriteString(Aligned(r.cells()))
	if len(r.Columns) > 0 {
		b.WriteString("\n\n" + Aligned(r.counts()))
	}
	if notes := r.notes(); len(notes) > 0 {
		b.WriteString("\n\nWhat cannot be explained:\n" + Aligned(notes))
	}
	if made := r.stale(); len(made) > 0 {
		fmt.Fprintf(&b, "\n\n* recorded with code %s, or from other runs; this program is %s. `drtmx predict --run` computes them with it", strings.Join(made, ", "), r.Code)
	}
	return b.String()
}

// cells are the rows of the table, the head first.
func (r *Report) cells() [][]string {
	head := []string{"row", "figure", "published"}
	banded := r.banded()
	for _, c := range r.Columns {
		head = append(head, c.String())
		if c.Name != First {
			head = append(head, "off")
		}
		if banded[c.Column] {
			head = append(head, "band")
		}
	}
	rows := [][]string{append(head, "verdict", "claim")}
	for i := range r.Rows {
		l := &r.Rows[i]
		cells := []string{l.ID, l.Figure, "–"}
		if l.Published != nil {
			cells[2] = UnitOf(*l.Published, l.Unit)
		}
		for _, c := range r.Columns {
			v := c.Of(&l.Row)
			cells = append(cells, v.Text())
			if c.Name != First {
				cells = append(cells, v.Off())
			}
			if banded[c.Column] {
				cells = append(cells, v.band())
			}
		}
		rows = append(rows, append(cells, l.Verdict, l.Claim))
	}
	return rows
}

// banded are the columns in which there is a band.
func (r *Report) banded() map[Column]bool {
	out := map[Column]bool{}
	for i := range r.Rows {
		for _, v := range r.Rows[i].Predictions {
			if v.Band != nil {
				out[v.column()] = true
			}
		}
	}
	return out
}

// Text is a prediction as it stands in a table, with a star if another version made it.
func (v *Value) Text() string {
	if v == nil {
		return "–"
	}
	text := cmp.Or(v.Range, v.Value, v.Verdict)
	if v.Stale {
		text += "*"
	}
	return text
}

// Off is its error in words, "" where there is none.
func (v *Value) Off() string {
	if v == nil || v.Error == nil {
		return ""
	}
	return fmt.Sprintf("%+.0f %%", math.Round(100**v.Error)+0) // and not -0
}

func (v *Value) band() string {
	if v == nil || v.Band == nil {
		return ""
	}
	return v.Band.Fewer + " / " + v.Band.More
}

// counts are the counts of the columns as rows, the head first.
func (r *Report) counts() [][]string {
	rows := [][]string{{"compared as ratios", "numbers", "within 10 %", "20 %", "35 %", "orders", "hold", "contradicted", "undecided"}}
	return append(rows, r.CountRows()...)
}

// CountRows are the counts of the columns, and behind them those of numbers about models alone: name, numbers, within 10, 20 and 35 %,
// orders, and what became of these.
func (r *Report) CountRows() (rows [][]string) {
	for _, c := range r.Columns {
		row := []string{c.String()}
		for _, n := range []int{c.Numbers, c.Within10, c.Within20, c.Within35, c.Orders, c.OrdersHold, c.OrdersContradicted, c.OrdersUndecided} {
			row = append(row, fmt.Sprint(n))
		}
		rows = append(rows, row)
	}
	for _, c := range r.Models {
		row := []string{c.String() + ", models alone"}
		for _, n := range []int{c.Numbers, c.Within10, c.Within20, c.Within35} {
			row = append(row, fmt.Sprint(n))
		}
		rows = append(rows, append(row, "", "", "", ""))
	}
	return rows
}

// notes are what cannot be explained, and of which rows.
func (r *Report) notes() (rows [][]string) {
	for i := range r.Rows {
		l := &r.Rows[i]
		at := slices.IndexFunc(rows, func(row []string) bool { return row[1] == l.Note })
		switch {
		case l.Note == "":
		case at < 0:
			rows = append(rows, []string{l.ID, l.Note})
		case !slices.Contains(strings.Split(rows[at][0], ", "), l.ID):
			rows[at][0] += ", " + l.ID
		}
	}
	return rows
}

// stale are the versions that made what is stale.
func (r *Report) stale() (codes []string) {
	for i := range r.Rows {
		for _, v := range r.Rows[i].Predictions {
			if v.Stale && !slices.Contains(codes, v.Code) {
				codes = append(codes, v.Code)
			}
		}
	}
	return codes
}

// UnitOf is a number with its unit as one writes it: 1.2x, but 3 us.
func UnitOf(number, unit string) string {
	switch unit {
	case "x":
		return number + "x"
	case "count", "":
		return number
	}
	return number + " " + unit
}

// Aligned writes rows with their columns below each other.
func Aligned(rows [][]string) string {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], len([]rune(cell)))
		}
	}
	var lines []string
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			fmt.Fprintf(&b, "%-*s  ", width[i], cell)
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return strings.Join(lines, "\n")
}
