package main

import (
	"github.com/spf13/cobra"

	"drtmx/cluster"
	"drtmx/notebooks/figures/calibration"
)

func verifyCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "The calibration table: published numbers against measured ones",
		Long:  "Measures the published numbers of the primitives that this version models. Exit status 1 if a required row is off.",
		Args:  exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := newBar(cmd.ErrOrStderr(), "verify")
			v, err := calibration.Verify(cmd.Context(), calibration.Options{Cache: cluster.RunCache(), Progress: b.update})
			b.end()
			if err != nil {
				return err
			}
			if err := show(cmd, v, asJSON); err != nil {
				return err
			}
			return v.Err()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the table as JSON")
	return cmd
}
