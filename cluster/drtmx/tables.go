package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"drtmx/cluster/tidy"
)

// tableFlags name the files that numbers are written to as a tidy table.
type tableFlags struct{ csv, parquet string }

func (f *tableFlags) add(cmd *cobra.Command, row string) {
	cmd.Flags().StringVar(&f.csv, "csv", "", "write a table to `FILE` (- is standard output), a row for "+row)
	cmd.Flags().StringVar(&f.parquet, "parquet", "", "write the same table to `FILE` as Apache Parquet, with typed columns")
}

// outputs are the files, for outputs.
func (f *tableFlags) outputs() []output {
	return []output{{"--csv", f.csv}, {"--parquet", f.parquet}}
}

// given says that a table was asked for.
func (f *tableFlags) given() bool { return f.csv+f.parquet != "" }

// write puts the table into its files.
func (f *tableFlags) write(stdout io.Writer, t *tidy.Table) error {
	if f.csv != "" {
		if err := outFile(stdout, f.csv, t.CSV()); err != nil {
			return err
		}
	}
	if f.parquet == "" {
		return nil
	}
	b, err := t.Parquet()
	if err != nil {
		return err
	}
	return outFile(stdout, f.parquet, b)
}

// show prints what the table is of, unless the table is on standard output.
func (f *tableFlags) show(cmd *cobra.Command, v fmt.Stringer, asJSON bool) error {
	if f.csv == "-" || f.parquet == "-" {
		return nil
	}
	return show(cmd, v, asJSON)
}
