package tidy

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"reflect"
	"strconv"
)

// Table is a tidy table. The zero value is an empty one.
type Table struct {
	names []string
	at    map[string]int // column by name
	rows  [][]any        // a row ends where its last known cell is
}

// Columns are the names and the cells of each column: int64, float64, bool, string, or nil for one that is missing.
func (t *Table) Columns() (names []string, cells [][]any) {
	cells = make([][]any, len(t.names))
	for i := range cells {
		cells[i] = make([]any, len(t.rows))
		for row := range t.rows {
			cells[i][row] = t.cell(row, i)
		}
	}
	return t.names, cells
}

// Of is a table of such columns, which have equally many cells.
func Of(names []string, cells [][]any) *Table {
	t := &Table{names: names}
	if len(cells) == 0 {
		return t
	}
	for row := range cells[0] {
		line := make([]any, len(cells))
		for i := range cells {
			line[i] = cells[i][row]
		}
		t.rows = append(t.rows, line)
	}
	return t
}

// Row begins the next row.
func (t *Table) Row() { t.rows = append(t.rows, nil) }

// Set puts a value into a column of the last row: an int, int64, uint64, float64, bool or string; others are
// written as text. nil is a missing one. A column that is new comes last.
func (t *Table) Set(column string, v any) {
	i, ok := t.at[column]
	if !ok {
		if t.at == nil {
			t.at = map[string]int{}
		}
		i = len(t.names)
		t.at[column], t.names = i, append(t.names, column)
	}
	last := len(t.rows) - 1
	for len(t.rows[last]) <= i {
		t.rows[last] = append(t.rows[last], nil)
	}
	t.rows[last][i] = Plain(v)
}

// Plain is a value as a cell holds it: int64, float64, bool, string or nil.
func Plain(v any) any {
	switch x := v.(type) {
	case nil, int64, float64, bool, string:
		return x
	case int:
		return int64(x)
	case uint64:
		return int64(x)
	}
	switch x := reflect.ValueOf(v); x.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if _, named := v.(fmt.Stringer); !named {
			return x.Int()
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if _, named := v.(fmt.Stringer); !named {
			return int64(x.Uint())
		}
	case reflect.Float32, reflect.Float64:
		return x.Float()
	}
	return fmt.Sprint(v)
}

// cell is a value of the table, nil for a missing one.
func (t *Table) cell(row, column int) any {
	if column >= len(t.rows[row]) {
		return nil
	}
	return t.rows[row][column]
}

// kind is the type of a column: that of all its values, numbers if some are whole and others not, else text.
type kind int

const (
	whole kind = iota
	number
	truth
	text
)

func (t *Table) kind(column int) kind {
	return kindOf(len(t.rows), func(row int) any { return t.cell(row, column) })
}

// TypeOf is the type of a column's cells in a word: "whole", "number", "truth" or "text".
func TypeOf(cells []any) string {
	return [...]string{"whole", "number", "truth", "text"}[kindOf(len(cells), func(i int) any { return cells[i] })]
}

func kindOf(n int, cell func(i int) any) kind {
	var ints, floats, bools, others int
	for i := range n {
		switch cell(i).(type) {
		case nil:
		case int64:
			ints++
		case float64:
			floats++
		case bool:
			bools++
		default:
			others++
		}
	}
	switch {
	case others > 0 || bools > 0 && ints+floats > 0:
		return text
	case bools > 0:
		return truth
	case floats > 0:
		return number
	case ints > 0:
		return whole
	}
	return text
}

// CSV is the table with its names in the first row.
func (t *Table) CSV() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(t.names) // into memory, which does not fail
	line := make([]string, len(t.names))
	for row := range t.rows {
		for i := range line {
			line[i] = written(t.cell(row, i))
		}
		w.Write(line)
	}
	w.Flush()
	return b.Bytes()
}

// written is a value as text; a number can be read back to the same bits.
func written(v any) string {
	switch x := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}
