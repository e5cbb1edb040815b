package thesis

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"drtmx/cluster/drtmx/cli"
	"drtmx/cluster/drtmx/output"
	"drtmx/cluster/drtmx/progress"
	"drtmx/cluster/keep"
	"drtmx/notebooks/figures/calibration"
)

func VerifyCommand() *cobra.Command {
	var asJSON, list bool
	var only []string
	var record string
	cmd := &cobra.Command{
		Use:        "verify",
		Short:      "The calibration table: published numbers against measured ones",
		SuggestFor: []string{"check", "calibrate"},
		Long: "Measures the published numbers of the primitives, each by the experiment that it describes. " +
			"Exit status 1 if a row is off that passed when rows were recorded last; --record writes a new record.",
		Args: cli.Exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cli.Named(cmd, "rows", only); err != nil {
				return err
			}
			if list {
				if record != "" || only != nil {
					return cli.Usage("--list measures nothing: leave out --rows and --record")
				}
				return listRows(cmd.OutOrStdout(), asJSON)
			}
			if record != "" && only != nil {
				return cli.Usage("--record is of all rows: leave out --rows")
			}
			if err := output.Check("the table", output.To("--record", record)); err != nil {
				return err
			}
			b := progress.New(cmd.ErrOrStderr(), "verify")
			v, err := calibration.Verify(cmd.Context(), calibration.Options{Only: only, Cache: keep.Cache(), Progress: b.Update})
			b.End()
			if err != nil {
				return err
			}
			if err := cli.Show(cmd, v, asJSON); err != nil {
				return err
			}
			if record == "" {
				return v.Err()
			}
			if lost := v.Lost(); len(lost) > 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "no longer recorded:", strings.Join(lost, ", "))
			}
			return output.Write(cmd.OutOrStdout(), record, v.Record())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the table as JSON")
	cmd.Flags().StringSliceVar(&only, "rows", nil, "measure only these rows, by `ID,ID`; --list names all")
	cmd.Flags().BoolVar(&list, "list", false, "name the rows, and measure nothing")
	cmd.Flags().StringVar(&record, "record", "", "write the rows that pass to `FILE`, to be compared with from then on")
	return cmd
}

// listRows names what verify measures.
func listRows(w io.Writer, asJSON bool) error {
	rows, err := calibration.List()
	if err != nil {
		return err
	}
	if asJSON {
		return cli.PrintJSON(w, rows)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\n", r.ID, r.Use, r.Claim)
	}
	return t.Flush()
}
