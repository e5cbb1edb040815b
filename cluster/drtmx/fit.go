package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"drtmx/engine"
	"drtmx/engine/fabric"
	"drtmx/notebooks/figures/calibration"
)

func fitCommand() *cobra.Command {
	var evaluations int
	var profileTo, residualsTo string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "fit PROFILE",
		Short: "Fits the fitted numbers of a hardware profile to the calibration table",
		Long: "Adjusts the numbers of kind fitted to the rows with use=fit and nothing else, and writes the profile and what is left of each row. " +
			"It takes minutes: every evaluation runs all rows. With --evaluations 0 it only measures, as after a change by hand.",
		Args: exactly(1, "the name of a profile; drtmx profiles shows them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := args[0]
			text, err := fabric.ProfileText(name)
			if err != nil {
				return &engine.SpecError{Rule: err.Error()}
			}
			if evaluations < 0 {
				return &engine.SpecError{Field: "--evaluations", Value: fmt.Sprint(evaluations), Rule: "must not be negative"}
			}
			p, err := fabric.ParseProfile(text)
			if err != nil {
				return err
			}
			b := newBar(cmd.ErrOrStderr(), "fit")
			_, report, err := calibration.FitProfile(cmd.Context(), p, calibration.FitOptions{Evaluations: evaluations, Progress: b.update})
			b.end()
			if err != nil {
				return err
			}
			if text, err = fabric.SetNumbers(text, report.Values()); err != nil {
				return err
			}
			rows, err := report.CSV()
			if err != nil {
				return err
			}
			if err := writeBoth(cmp.Or(profileTo, name+".yaml"), text, cmp.Or(residualsTo, name+".fit.csv"), rows); err != nil {
				return err
			}
			return show(cmd, report, asJSON)
		},
	}
	fl := cmd.Flags()
	fl.IntVar(&evaluations, "evaluations", 100, "evaluations of all rows, at most")
	fl.StringVar(&profileTo, "profile-out", "", "write the profile to `FILE` (default PROFILE.yaml)")
	fl.StringVar(&residualsTo, "residuals-out", "", "write the residuals to `FILE` (default PROFILE.fit.csv)")
	fl.BoolVar(&asJSON, "json", false, "print the outcome as JSON")
	return cmd
}

// writeBoth writes both files or, as far as possible, none: a profile without
// its residuals is one that nobody can judge.
func writeBoth(a string, aText []byte, b string, bText []byte) error {
	for _, f := range []string{a, b} {
		if dir := filepath.Dir(f); dir != "." {
			if _, err := os.Stat(dir); err != nil {
				return fmt.Errorf("fit: %s: %w", f, err)
			}
		}
	}
	if err := os.WriteFile(b, bText, 0o644); err != nil {
		return fmt.Errorf("fit: residuals: %w", err)
	}
	if err := os.WriteFile(a, aText, 0o644); err != nil {
		return fmt.Errorf("fit: profile: %w", err)
	}
	return nil
}
