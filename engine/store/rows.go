package store

import (
	"fmt"

	"drtmx/engine/record"
)

// RowsOf lays the rows of a table out, as a protocol has declared their headers.
func RowsOf(s Spec, l record.Layout) (record.Rows, error) {
	if s.Mutable < 0 || s.Mutable > s.ValueBytes {
		return record.Rows{}, fmt.Errorf("mutable bytes %d: from 0 (all) to %d, the length of a value", s.Mutable, s.ValueBytes)
	}
	if l.Written = s.Mutable; s.Constant {
		l.Inline = 0 // there will be no old version
	}
	rows, err := record.Packed(l, s.ValueBytes)
	if err == nil && (s.Aligned || s.AlignLong && rows.Bytes() > record.LineBytes) {
		return record.Aligned(l, s.ValueBytes)
	}
	return rows, err
}
