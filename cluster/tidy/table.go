package tidy

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
)

// Table is a tidy table. The zero value is an empty one.
type Table struct {
	names []string
	at    map[string]int // column by name
	rows  [][]any        // a row ends where its last known cell is
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
	t.rows[last][i] = plain(v)
}

// plain is a value as a cell holds it: int64, float64, bool, string or nil.
func plain(v any) any {
	switch x := v.(type) {
	case nil, int64, float64, bool, string:
		return x
	case int:
		return int64(x)
	case uint64:
		return int64(x)
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
	var ints, floats, bools, others int
	for row := range t.rows {
		switch t.cell(row, column).(type) {
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
