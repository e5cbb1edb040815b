package cluster

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"drtmx/engine/experiment"
)

// KnobList is a registry that a notebook shows as a table. Its elements are the knobs.
type KnobList []experiment.KnobState

var knobHead = []string{"knob", "value", "range", "changes", "what it is"}

// rows has a row for each knob.
func (l KnobList) rows() (rows [][]string) {
	for _, k := range l {
		when := "by Reset"
		if k.Live {
			when = "by Set"
		}
		what := k.Label
		if !k.Active {
			what += " (no effect now: " + k.InactiveBecause + ")"
		}
		rows = append(rows, []string{k.Name, experiment.Format(k.Name, k.Value), k.Range(), when, what})
	}
	return rows
}

// String is a line for each knob.
func (l KnobList) String() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{knobHead}, l.rows()...) {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	t.Flush() // into memory
	return strings.TrimSuffix(b.String(), "\n")
}

// HTML is the table.
func (l KnobList) HTML() string {
	return htmlTable(append([][]string{knobHead}, l.rows()...))
}
