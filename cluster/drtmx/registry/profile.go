package registry

import (
	"fmt"
	"io"
	"text/tabwriter"

	"drtmx/cluster/drtmx/cli"
	"drtmx/engine/experiment"
	"drtmx/engine/fabric/profile"
)

// profileRow is a number of a profile.
type profileRow struct {
	Name    string             `json:"name"`
	Value   float64            `json:"value"`
	Unit    string             `json:"unit"`
	Kind    profile.NumberKind `json:"kind"`
	Meaning string             `json:"meaning"`
	Source  string             `json:"source"`
}

func printProfile(w io.Writer, name string, asJSON bool) error {
	p, err := profile.Load(name)
	if err != nil {
		return &experiment.SpecError{Rule: err.Error()}
	}
	var rows []profileRow
	p.Each(func(name string, n *profile.Number) {
		rows = append(rows, profileRow{name, n.Value, n.Unit, n.Kind, n.Meaning, n.Source})
	})
	if asJSON {
		return cli.PrintJSON(w, map[string]any{"profile": p.ID(), "title": p.Title, "numbers": rows})
	}
	fmt.Fprintf(w, "%s  %s\n", p.ID(), p.Title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%g\t%s\t%s\t%s\t[%s]\n", r.Name, r.Value, r.Unit, r.Kind, r.Meaning, r.Source)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\nhardware.NUMBER is the knob of a number, as in drtmx run --set profile=%s --set hardware.wire.switch=500\n", p.Name)
	return err
}
