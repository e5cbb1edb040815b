package table

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"drtmx/cluster/atomicfile"
	"drtmx/cluster/runs"
	"drtmx/cluster/tidy"
	"drtmx/cluster/words"
	"drtmx/dashboard/charts"
	"drtmx/engine/experiment"
	"drtmx/engine/knob"
)

// Table has named columns, whose cells are whole numbers, numbers, truth values or text; a cell may be missing.
type Table struct {
	names []string
	cells [][]any // by column: int64, float64, bool, string or nil
	text  string  // what it shows in place of its rows; "": these
}

// Of is a table of what runs gave.
func Of(t *tidy.Table) *Table {
	names, cells := t.Columns()
	return &Table{names: names, cells: cells}
}

// Saying is the table with a text that it shows in place of its rows.
func (t *Table) Saying(text string) *Table { return &Table{t.names, t.cells, text} }

// Tidy is the table as it is written to files.
func (t *Table) Tidy() *tidy.Table { return tidy.Of(t.names, t.cells) }

// Len is the number of rows.
func (t *Table) Len() int {
	if len(t.cells) == 0 {
		return 0
	}
	return len(t.cells[0])
}

// Columns are the names of the columns.
func (t *Table) Columns() []string { return slices.Clone(t.names) }

// column is the place of a column.
func (t *Table) column(name string) (int, error) {
	if i := slices.Index(t.names, name); i >= 0 {
		return i, nil
	}
	return 0, &experiment.SpecError{Field: "column", Value: knob.Clip(name), Rule: "no such column" + knob.DidYouMean(name, t.names), Next: "Columns() lists them"}
}

// Numbers are the cells of a column of numbers; one that is missing is NaN.
func (t *Table) Numbers(column string) []float64 {
	xs, err := t.numbers(column)
	Must(err)
	return xs
}

func (t *Table) numbers(column string) ([]float64, error) {
	i, err := t.column(column)
	if err != nil {
		return nil, err
	}
	out := make([]float64, t.Len())
	for row, v := range t.cells[i] {
		x, ok := numberOf(v)
		if !ok {
			return nil, &experiment.SpecError{Field: "column", Value: column, Rule: fmt.Sprintf("row %d has %q, which is no number", row, knob.Clip(v)), Next: "take another column, or filter the rows"}
		}
		out[row] = x
	}
	return out, nil
}

// numberOf is a cell as a number; a missing one is NaN.
func numberOf(v any) (float64, bool) {
	switch x := v.(type) {
	case nil:
		return math.NaN(), true
	case int64:
		return float64(x), true
	case float64:
		return x, true
	}
	return 0, false
}

// Strings are the cells of a column as text; one that is missing is "".
func (t *Table) Strings(column string) []string {
	i, err := t.column(column)
	Must(err)
	out := make([]string, t.Len())
	for row, v := range t.cells[i] {
		if v != nil {
			out[row] = shown(v)
		}
	}
	return out
}

// Row is one row of a table, for the functions of Col and Where.
type Row struct {
	t *Table
	i int
}

// Row is that with a number, from 0.
func (t *Table) Row(i int) Row {
	if i < 0 || i >= t.Len() {
		Must(&experiment.SpecError{Field: "row", Value: fmt.Sprint(i), Rule: fmt.Sprintf("the table has %s, from 0", words.Counted(t.Len(), "row"))})
	}
	return Row{t, i}
}

// Index is the number of the row, from 0.
func (r Row) Index() int { return r.i }

// Value is a cell: an int64, float64, bool or string, nil for one that is missing.
func (r Row) Value(column string) any {
	i, err := r.t.column(column)
	Must(err)
	return r.t.cells[i][r.i]
}

// Num is a cell as a number, NaN for one that is missing.
func (r Row) Num(column string) float64 {
	x, ok := numberOf(r.Value(column))
	if !ok {
		Must(&experiment.SpecError{Field: "column", Value: column, Rule: fmt.Sprintf("row %d has %q, which is no number", r.i, knob.Clip(r.Value(column))), Next: "Text reads it"})
	}
	return x
}

// Text is a cell as text.
func (r Row) Text(column string) string {
	if v := r.Value(column); v != nil {
		return shown(v)
	}
	return ""
}

func (r Row) String() string {
	var out []string
	for i, name := range r.t.names {
		if v := r.t.cells[i][r.i]; v != nil {
			out = append(out, name+" = "+shown(v))
		}
	}
	return strings.Join(out, ", ")
}

// Col is the table with a column of the user's own behind the others, or in place of one with this name: values are a slice with
// one for each row, or a function of a row, as func(r cluster.Row) any { return r.Num("commits") / r.Num("threads") }.
func (t *Table) Col(name string, values any) *Table {
	cells, err := t.own(name, values)
	Must(err)
	out := &Table{names: slices.Clone(t.names), cells: slices.Clone(t.cells)}
	if i := slices.Index(out.names, name); i >= 0 {
		out.cells[i] = cells
	} else {
		out.names, out.cells = append(out.names, name), append(out.cells, cells)
	}
	return out
}

func (t *Table) own(name string, values any) ([]any, error) {
	if name == "" {
		return nil, &experiment.SpecError{Field: "column", Rule: "has no name"}
	}
	if f, ok := values.(func(Row) any); ok {
		out := make([]any, t.Len())
		for i := range out {
			out[i] = tidy.Plain(f(Row{t, i}))
		}
		return out, nil
	}
	v := reflect.ValueOf(values)
	switch {
	case v.Kind() == reflect.Func && v.Type().NumIn() == 1 && v.Type().In(0) == reflect.TypeFor[Row]() && v.Type().NumOut() == 1:
		out := make([]any, t.Len())
		for i := range out {
			out[i] = tidy.Plain(v.Call([]reflect.Value{reflect.ValueOf(Row{t, i})})[0].Interface())
		}
		return out, nil
	case v.Kind() != reflect.Slice:
		return nil, &experiment.SpecError{Field: "column", Value: name, Rule: fmt.Sprintf("%T is neither a slice nor a function of a row", values), Next: "as []float64{1, 2} or func(r cluster.Row) any { ... }"}
	case len(t.cells) > 0 && v.Len() != t.Len():
		return nil, &experiment.SpecError{Field: "column", Value: name, Rule: fmt.Sprintf("has %s and the table %s", words.Counted(v.Len(), "value"), words.Counted(t.Len(), "row")), Next: "give one for each row, nil in a []any where one is missing"}
	}
	out := make([]any, v.Len())
	for i := range out {
		out[i] = tidy.Plain(v.Index(i).Interface())
	}
	return out, nil
}

// Where are the rows for which a function is true.
func (t *Table) Where(keep func(r Row) bool) *Table {
	var rows []int
	for i := range t.Len() {
		if keep(Row{t, i}) {
			rows = append(rows, i)
		}
	}
	return t.rows(rows)
}

// rows are some of the rows, in this order.
func (t *Table) rows(rows []int) *Table {
	out := &Table{names: t.names, cells: make([][]any, len(t.cells))}
	for c, cells := range t.cells {
		out.cells[c] = make([]any, len(rows))
		for i, row := range rows {
			out.cells[c][i] = cells[row]
		}
	}
	return out
}

// Sort are the rows by a column, the smallest first; missing cells are last.
func (t *Table) Sort(column string) *Table {
	c, err := t.column(column)
	Must(err)
	rows := make([]int, t.Len())
	for i := range rows {
		rows[i] = i
	}
	slices.SortStableFunc(rows, func(a, b int) int { return compare(t.cells[c][a], t.cells[c][b]) })
	return t.rows(rows)
}

func compare(a, b any) int {
	x, isX := numberOf(a)
	y, isY := numberOf(b)
	switch {
	case a == nil || b == nil:
		return cmp.Compare(truth(a == nil), truth(b == nil))
	case isX && isY:
		return cmp.Compare(x, y)
	}
	return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Select is the table with these columns alone, in this order.
func (t *Table) Select(columns ...string) *Table {
	out := &Table{}
	for _, name := range columns {
		i, err := t.column(name)
		Must(err)
		out.names, out.cells = append(out.names, name), append(out.cells, t.cells[i])
	}
	return out
}

// Query is what a statement of SQL (SQLite) that only reads gives of the table, which is called t.
func (t *Table) Query(sql string) *Table {
	a, err := runs.QueryTable(charts.Context(), t.names, t.cells, sql)
	Must(err)
	return Answer(a)
}

// Answer is that of a query.
func Answer(a *runs.Answer) *Table {
	t := &Table{names: a.Columns, cells: make([][]any, len(a.Columns))}
	for c := range t.cells {
		t.cells[c] = make([]any, len(a.Rows))
		for i, row := range a.Rows {
			t.cells[c][i] = row[c]
		}
	}
	return t
}

// CSV is the table as text.
func (t *Table) CSV() string { return string(t.Tidy().CSV()) }

// Save writes the table to a file, whose name says how: .csv or .parquet.
func (t *Table) Save(file string) *Written {
	var b []byte
	var err error
	switch strings.ToLower(filepath.Ext(file)) {
	case ".csv":
		b = t.Tidy().CSV()
	case ".parquet":
		b, err = t.Tidy().Parquet()
	default:
		err = &experiment.SpecError{Field: "file", Value: knob.Clip(file), Rule: "a table is written as .csv or .parquet"}
	}
	Must(err)
	return write(file, b)
}

// Written says what was written where.
type Written struct {
	File  string
	Bytes int
}

func (w *Written) String() string {
	return fmt.Sprintf("wrote %d kB to %s", (w.Bytes+999)/1000, w.File)
}

func write(file string, b []byte) *Written {
	Must(knob.WithoutPath(atomicfile.Replace(file, b, 0o644)))
	return &Written{file, len(b)}
}
