package table

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"drtmx/cluster/atomicfile"
	"drtmx/cluster/tidy"
	"drtmx/engine/experiment"
	"drtmx/engine/knob"
)

// readMost bounds a file that is read as a table, which is held in memory.
const readMost = 1 << 30

// Read is the table in a file: .csv with the names in its first row, or .jsonl with an object in each line, such as the history of
// a cluster. Of a list in an object the column has the length.
func Read(file string) *Table {
	raw, err := atomicfile.ReadUpTo(file, readMost)
	Must(knob.WithoutPath(err))
	var t *tidy.Table
	switch strings.ToLower(filepath.Ext(file)) {
	case ".csv":
		t, err = readCSV(raw)
	case ".jsonl":
		t, err = readLines(raw)
	default:
		err = &experiment.SpecError{Field: "file", Value: knob.Clip(file), Rule: "a table is read from .csv or .jsonl"}
	}
	Must(err)
	return Of(t)
}

func readCSV(raw []byte) (*tidy.Table, error) {
	lines, err := csv.NewReader(bytes.NewReader(raw)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("csv: %w", err)
	}
	t := &tidy.Table{}
	for i, line := range lines {
		if i == 0 {
			continue
		}
		t.Row()
		for c, cell := range line {
			t.Set(lines[0][c], typed(cell))
		}
	}
	return t, nil
}

// typed is a cell of a file as what it reads like.
func typed(cell string) any {
	if cell == "" {
		return nil
	}
	if n, err := strconv.ParseInt(cell, 10, 64); err == nil {
		return n
	}
	if x, err := strconv.ParseFloat(cell, 64); err == nil {
		return x
	}
	if cell == "true" || cell == "false" {
		return cell == "true"
	}
	return cell
}

func readLines(raw []byte) (*tidy.Table, error) {
	t, n := &tidy.Table{}, 0
	for line := range bytes.Lines(raw) {
		if n++; len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		t.Row()
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if err := object(d, "", t); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return t, nil
}

// object puts the next object into the last row, its columns in its order.
func object(d *json.Decoder, path string, t *tidy.Table) error {
	if at, err := d.Token(); err != nil || at != json.Delim('{') {
		return fmt.Errorf("is no JSON object")
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		name := path + fmt.Sprint(key)
		switch raw[0] {
		case '{':
			inner := json.NewDecoder(bytes.NewReader(raw))
			inner.UseNumber()
			if err := object(inner, name+".", t); err != nil {
				return err
			}
		case '[':
			var list []json.RawMessage
			if err := json.Unmarshal(raw, &list); err != nil {
				return err
			}
			t.Set(name, len(list))
		case '"':
			var text string
			if err := json.Unmarshal(raw, &text); err != nil {
				return err
			}
			t.Set(name, text)
		case 'n':
			t.Set(name, nil)
		default:
			t.Set(name, typed(string(raw)))
		}
	}
	return nil
}
