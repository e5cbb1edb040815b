package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"drtmx/cluster/drtmx/output"
	"drtmx/cluster/tidy"
)

// TableFlags name the files that numbers are written to as a tidy table.
type TableFlags struct{ CSV, Parquet string }

func (f *TableFlags) Add(cmd *cobra.Command, row string) {
	cmd.Flags().StringVar(&f.CSV, "csv", "", "write a table to `FILE` (- is standard output), a row for "+row)
	cmd.Flags().StringVar(&f.Parquet, "parquet", "", "write the same table to `FILE` as Apache Parquet, with typed columns")
}

// Outputs are the files, for output.Check.
func (f *TableFlags) Outputs() []output.File {
	return []output.File{output.To("--csv", f.CSV), output.To("--parquet", f.Parquet)}
}

// Given says that a table was asked for.
func (f *TableFlags) Given() bool { return f.CSV+f.Parquet != "" }

// Write puts the table into its files.
func (f *TableFlags) Write(stdout io.Writer, t *tidy.Table) error {
	if f.CSV != "" {
		if err := output.Write(stdout, f.CSV, t.CSV()); err != nil {
			return err
		}
	}
	if f.Parquet == "" {
		return nil
	}
	b, err := t.Parquet()
	if err != nil {
		return err
	}
	return output.Write(stdout, f.Parquet, b)
}

// Show prints what the table is of, unless the table is on standard output.
func (f *TableFlags) Show(cmd *cobra.Command, v fmt.Stringer, asJSON bool) error {
	if f.CSV == "-" || f.Parquet == "-" {
		return nil
	}
	return Show(cmd, v, asJSON)
}
