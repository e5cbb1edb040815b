package main

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"text/tabwriter"

	"drtmx/engine"
	"drtmx/engine/fabric"
)

// profileRow is a number of a profile.
type profileRow struct {
	Name    string            `json:"name"`
	Value   float64           `json:"value"`
	Unit    string            `json:"unit"`
	Kind    fabric.NumberKind `json:"kind"`
	Meaning string            `json:"meaning"`
	Source  string            `json:"source"`
}

func printProfile(w io.Writer, name string, asJSON bool) error {
	p, err := fabric.LoadProfile(name)
	if err != nil {
		return &engine.SpecError{Rule: err.Error()}
	}
	var rows []profileRow
	for _, s := range []struct {
		name string
		of   any
	}{{"cpu", p.CPU}, {"nic", p.NIC}, {"wire", p.Wire}, {"pcie", p.PCIe}, {"memory", p.Memory}} {
		rows = append(rows, numbersOf(s.name, s.of)...)
	}
	for _, t := range p.NodeTypes {
		rows = append(rows, numbersOf("node_types."+t.Name, *t)...)
	}
	if asJSON {
		return printJSON(w, map[string]any{"profile": p.ID(), "title": p.Title, "numbers": rows})
	}
	fmt.Fprintf(w, "%s  %s\n", p.ID(), p.Title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%g\t%s\t%s\t%s\t[%s]\n", r.Name, r.Value, r.Unit, r.Kind, r.Meaning, r.Source)
	}
	return t.Flush()
}

// numbersOf lists the numbers of a section, in the order of the file.
func numbersOf(section string, of any) []profileRow {
	v := reflect.ValueOf(of)
	var rows []profileRow
	for i := range v.NumField() {
		n, ok := v.Field(i).Interface().(fabric.Number)
		if !ok {
			continue
		}
		f := v.Type().Field(i)
		name := f.Tag.Get("yaml")
		if name == "" {
			name = strings.ToLower(f.Name)
		}
		rows = append(rows, profileRow{section + "." + name, n.Value, n.Unit, n.Kind, n.Meaning, n.Source})
	}
	return rows
}
