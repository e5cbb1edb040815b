package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"drtmx/cluster/drtmx/cli"
	"drtmx/cluster/drtmx/progress"
	"drtmx/cluster/keep"
	"drtmx/cluster/runs"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
)

// runSystems runs the systems that a spec lists, and compares them.
func runSystems(cmd *cobra.Command, spec experiment.Spec, asJSON bool, tables *cli.TableFlags, k *cli.KeepFlags) error {
	b := progress.New(cmd.ErrOrStderr(), "run")
	r, err := batch.RunSystems(cmd.Context(), spec, batch.SweepOptions{Share: b.Update})
	b.End()
	if err != nil {
		return err
	}
	if err := tables.Write(cmd.OutOrStdout(), keep.SystemsTable(r.Systems...)); err != nil {
		return err
	}
	if err := tables.Show(cmd, r, asJSON); err != nil {
		return err
	}
	kept := k.Keep(cli.SayTo(cmd), func(s *runs.Store) (runs.ID, error) { return keep.Systems(s, k.Note, r) })
	for _, x := range r.Systems {
		if err := cli.ChecksOf(x); err != nil {
			return errors.Join(fmt.Errorf("system %s: %w", x.Name, err), kept)
		}
	}
	return kept
}

// sets says that the spec, or one of the systems that it lists, sets a knob.
func sets(spec experiment.Spec, name string) bool {
	_, set := spec.Set[name]
	for _, x := range spec.Systems {
		set = set || sets(x, name)
	}
	return set
}
