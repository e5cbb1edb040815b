package table

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode/utf8"

	"drtmx/cluster/tidy"
	"drtmx/cluster/words"
)

// A table of more rows or columns than these is shown in part.
const (
	rowsShown    = 12
	columnsShown = 10
	cellShown    = 40 // characters
)

// shown is a cell as text.
func shown(v any) string {
	switch x := v.(type) {
	case nil:
		return "–"
	case float64:
		return words.Number(x)
	case bool:
		if x {
			return "yes"
		}
		return "no"
	}
	return words.OneLine(fmt.Sprint(v))
}

// part is the table as far as it is shown: names, types and rows, and what more there is.
func (t *Table) part() (names, types []string, rows [][]string, more string) {
	columns := min(len(t.names), columnsShown)
	n := t.Len()
	if n > rowsShown {
		n = rowsShown - 2
	}
	order := t.filled()
	for _, i := range order[:columns] {
		names, types = append(names, t.names[i]), append(types, tidy.TypeOf(t.cells[i]))
	}
	for row := range n {
		var line []string
		for _, i := range order[:columns] {
			cell := shown(t.cells[i][row])
			if r := []rune(cell); len(r) > cellShown {
				cell = string(r[:cellShown-1]) + "…"
			}
			line = append(line, cell)
		}
		rows = append(rows, line)
	}
	more = words.Counted(t.Len(), "row")
	if n < t.Len() {
		more += fmt.Sprintf(", of which the %d at the top are shown", n)
	}
	if left := len(t.names) - columns; left > 0 {
		var some []string
		for _, i := range order[columns:min(len(order), columns+5)] {
			some = append(some, t.names[i])
		}
		more += fmt.Sprintf("; %s more: %s", words.Counted(left, "column"), strings.Join(some, ", "))
		if left > len(some) {
			more += ", … (Columns() lists them, Select(…) shows some)"
		}
	}
	return names, types, rows, more
}

// filled are the places of the columns, those in which every cell is missing behind the others.
func (t *Table) filled() (order []int) {
	var empty []int
	for i, cells := range t.cells {
		if slices.ContainsFunc(cells, func(v any) bool { return v != nil }) {
			order = append(order, i)
		} else {
			empty = append(empty, i)
		}
	}
	return append(order, empty...)
}

// String is the table as text.
func (t *Table) String() string {
	if t.text != "" {
		return t.text
	}
	names, types, rows, more := t.part()
	if len(names) == 0 {
		return "a table without columns"
	}
	widths := make([]int, len(names))
	lines := append([][]string{names, types}, rows...)
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, line := range lines {
		var out strings.Builder
		for i, cell := range line {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			switch {
			case types[i] == "text":
				out.WriteString(cell + pad)
			default:
				out.WriteString(pad + cell)
			}
			out.WriteString("  ")
		}
		b.WriteString(strings.TrimRight(out.String(), " ") + "\n")
	}
	return b.String() + more
}

// HTML is the table for a notebook; a wide one scrolls within its place.
func (t *Table) HTML() string {
	if t.text != "" {
		return `<pre style="overflow-x:auto;white-space:pre">` + html.EscapeString(t.text) + `</pre>`
	}
	names, types, rows, more := t.part()
	if len(names) == 0 {
		return "<p>a table without columns</p>"
	}
	var b strings.Builder
	b.WriteString(`<div style="overflow-x:auto;max-width:100%"><table class="drtmx"><tr>`)
	side := func(i int) string {
		if types[i] == "text" {
			return "left"
		}
		return "right"
	}
	for i, name := range names {
		fmt.Fprintf(&b, `<th style="text-align:%s">%s<br><small style="font-weight:normal;opacity:.7">%s</small></th>`, side(i), html.EscapeString(name), types[i])
	}
	b.WriteString("</tr>")
	for _, row := range rows {
		b.WriteString("<tr>")
		for i, cell := range row {
			fmt.Fprintf(&b, `<td style="text-align:%s;white-space:nowrap">%s</td>`, side(i), html.EscapeString(cell))
		}
		b.WriteString("</tr>")
	}
	return b.String() + "</table></div><p><small>" + html.EscapeString(more) + "</small></p>"
}
