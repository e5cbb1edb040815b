package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"drtmx/cluster/keep"
	"drtmx/cluster/runs"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
)

// runSystems runs the systems that a spec lists, and compares them.
func runSystems(cmd *cobra.Command, spec experiment.Spec, asJSON bool, tables *tableFlags, k *keepFlags) error {
	b := newBar(cmd.ErrOrStderr(), "run")
	r, err := batch.RunSystems(cmd.Context(), spec, batch.SweepOptions{Progress: b.update})
	b.end()
	if err != nil {
		return err
	}
	if err := tables.write(cmd.OutOrStdout(), keep.SystemsTable(r.Systems...)); err != nil {
		return err
	}
	if err := tables.show(cmd, r, asJSON); err != nil {
		return err
	}
	kept := k.keep(sayTo(cmd), func(s *runs.Store) (runs.ID, error) { return keep.Systems(s, k.note, r) })
	for _, x := range r.Systems {
		if err := checksOf(x); err != nil {
			return errors.Join(fmt.Errorf("system %s: %w", x.Name, err), kept)
		}
	}
	return kept
}

// oneSystem refuses a flag that is of one run where the spec lists several systems.
func oneSystem(spec experiment.Spec, flag, value, next string) error {
	if len(spec.Systems) == 0 {
		return nil
	}
	return &experiment.SpecError{Field: flag, Value: value, Rule: fmt.Sprintf("is for one system, the spec lists %d", len(spec.Systems)), Next: next}
}

// sets says that the spec, or one of the systems that it lists, sets a knob.
func sets(spec experiment.Spec, name string) bool {
	_, set := spec.Set[name]
	for _, x := range spec.Systems {
		set = set || sets(x, name)
	}
	return set
}
