package thesis

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"drtmx/cluster/drtmx/cli"
	"drtmx/cluster/drtmx/output"
	"drtmx/cluster/drtmx/progress"
	"drtmx/engine/experiment"
	"drtmx/engine/fabric/profile"
	"drtmx/notebooks/figures/calibration"
)

func FitCommand() *cobra.Command {
	var o calibration.FitOptions
	var profileTo, residualsTo, tableTo string
	var asJSON, identify bool
	cmd := &cobra.Command{
		Use:   "fit PROFILE",
		Short: "Fits the fitted numbers of a hardware profile to the calibration table",
		Long: "Adjusts the numbers of kind fitted to the rows with use=fit and nothing else, and writes the profile and what is left of each row. " +
			"It takes long: every evaluation runs the experiments of all rows, so name a few with --rows, and the numbers they depend on with --params. " +
			"Ctrl-C ends it with the best so far. With --evaluations 0 it only measures, as after a change by hand. " +
			"What was fitted runs elsewhere as knobs: hardware.NUMBER. " +
			"With --identify nothing is fitted: a table says how the rows move when each number is a fifth smaller and larger, which row most, " +
			"and which numbers the rows hardly tell. That is two evaluations for each number.",
		Args: cli.Exactly(1, "the name of a profile; drtmx profiles shows them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := args[0]
			text, err := profile.Text(name)
			if err != nil {
				return &experiment.SpecError{Rule: err.Error()}
			}
			if err := errors.Join(cli.Named(cmd, "rows", o.Rows), cli.Named(cmd, "params", o.Params)); err != nil {
				return err
			}
			if identify {
				return identifyProfile(cmd, text, calibration.IdentifyOptions{Rows: o.Rows, Params: o.Params}, tableTo, asJSON)
			}
			if tableTo != "" {
				return cli.Usage("--table-out is of --identify: add it, or leave --table-out out")
			}
			if o.Evaluations < 0 {
				return &experiment.SpecError{Field: "--evaluations", Value: fmt.Sprint(o.Evaluations), Rule: "must not be negative", Next: "0 only measures"}
			}
			profileTo, residualsTo = cmp.Or(profileTo, name+".yaml"), cmp.Or(residualsTo, name+".fit.csv")
			if err := output.Check("the report", output.To("--profile-out", profileTo), output.To("--residuals-out", residualsTo)); err != nil {
				return err
			}
			p, err := profile.Parse(text)
			if err != nil {
				return err
			}
			b := progress.New(cmd.ErrOrStderr(), "fit")
			o.Progress = b.Update
			_, report, err := calibration.FitProfile(cmd.Context(), p, o)
			b.End()
			if err != nil {
				return err
			}
			if text, err = profile.SetNumbers(text, report.Values()); err != nil {
				return err
			}
			rows, err := report.CSV()
			if err != nil {
				return err
			}
			if err := writeBoth(profileTo, text, residualsTo, rows); err != nil {
				return err
			}
			return cli.Show(cmd, report, asJSON)
		},
	}
	fl := cmd.Flags()
	fl.IntVar(&o.Evaluations, "evaluations", 100, "evaluations of the rows, at most")
	fl.StringSliceVar(&o.Rows, "rows", nil, "fit to these rows only, by `ID,ID`")
	fl.StringSliceVar(&o.Params, "params", nil, "adjust these numbers only, by `NAME,NAME`")
	fl.StringVar(&profileTo, "profile-out", "", "write the profile to `FILE` (default PROFILE.yaml)")
	fl.StringVar(&residualsTo, "residuals-out", "", "write the residuals to `FILE` (default PROFILE.fit.csv)")
	fl.BoolVar(&identify, "identify", false, "fit nothing, and say how well the rows tell each number")
	fl.StringVar(&tableTo, "table-out", "", "with --identify: write the table to `FILE` (CSV)")
	fl.BoolVar(&asJSON, "json", false, "print the outcome as JSON")
	return cmd
}

// identifyProfile is fit --identify.
func identifyProfile(cmd *cobra.Command, text []byte, o calibration.IdentifyOptions, tableTo string, asJSON bool) error {
	for _, flag := range []string{"evaluations", "profile-out", "residuals-out"} {
		if cmd.Flags().Changed(flag) {
			return cli.Usage("--identify fits nothing: leave out --%s", flag)
		}
	}
	if err := output.Check("the table", output.To("--table-out", tableTo)); err != nil {
		return err
	}
	p, err := profile.Parse(text)
	if err != nil {
		return err
	}
	b := progress.New(cmd.ErrOrStderr(), "identify")
	o.Progress = b.Update
	s, err := calibration.Identify(cmd.Context(), p, o)
	b.End()
	if err != nil {
		return err
	}
	if tableTo != "" {
		table, err := s.CSV()
		if err != nil {
			return err
		}
		if err := output.WriteFile(tableTo, table); err != nil {
			return fmt.Errorf("fit: table: %w", err)
		}
	}
	return cli.Show(cmd, s, asJSON)
}

// writeBoth writes the residuals first: a profile without them is one that
// it cannot be judged.
func writeBoth(a string, aText []byte, b string, bText []byte) error {
	if err := output.WriteFile(b, bText); err != nil {
		return fmt.Errorf("fit: residuals: %w", err)
	}
	if err := output.WriteFile(a, aText); err != nil {
		return fmt.Errorf("fit: profile: %w", err)
	}
	return nil
}
