package tidy

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// ordered is a group of columns in the table's order; parquet.Group sorts them by name.
type ordered struct {
	parquet.Group
	names []string
}

func (o ordered) Fields() []parquet.Field {
	fields := o.Group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int {
		return cmp.Compare(slices.Index(o.names, a.Name()), slices.Index(o.names, b.Name()))
	})
	return fields
}

// Parquet is the table as a file of Apache Parquet, its columns optional and of their types.
func (t *Table) Parquet() ([]byte, error) {
	if len(t.names) == 0 {
		return nil, fmt.Errorf("parquet: a table without columns")
	}
	group := parquet.Group{}
	kinds := make([]kind, len(t.names))
	for i, name := range t.names {
		kinds[i] = t.kind(i)
		group[name] = parquet.Compressed(parquet.Optional(kinds[i].node()), &parquet.Snappy)
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[any](&b, parquet.NewSchema("drtmx", ordered{group, t.names}))
	for row := range t.rows {
		line := make(parquet.Row, len(t.names))
		for i := range line {
			line[i] = kinds[i].value(t.cell(row, i), i)
		}
		if _, err := w.WriteRows([]parquet.Row{line}); err != nil {
			return nil, fmt.Errorf("parquet: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("parquet: %w", err)
	}
	return b.Bytes(), nil
}

func (k kind) node() parquet.Node {
	switch k {
	case whole:
		return parquet.Int(64)
	case number:
		return parquet.Leaf(parquet.DoubleType)
	case truth:
		return parquet.Leaf(parquet.BooleanType)
	}
	return parquet.String()
}

// value is a cell of a column of this kind, with the levels that Parquet keeps beside it.
func (k kind) value(v any, column int) parquet.Value {
	if v == nil {
		return parquet.NullValue().Level(0, 0, column)
	}
	if n, ok := v.(int64); ok && k == number {
		v = float64(n)
	}
	if k == text {
		v = written(v)
	}
	return parquet.ValueOf(v).Level(0, 1, column)
}
