package kept

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"drtmx/cluster/drtmx/cli"
	"drtmx/cluster/drtmx/output"
	"drtmx/cluster/keep"
	"drtmx/cluster/runs"
	"drtmx/cluster/tidy"
	"drtmx/engine/experiment"
)

const queryHelp = `Runs one statement of SQL that only reads (SQLite). Tables:

  runs      a row for each kept run: id, at (ms since 1970), kind, about, note, workload, preset, profile, seed, code,
            digest, points, wall_ms, throughput, throughput_ci95, mean_us, p50_us, p90_us, p99_us, p999_us, abort_rate,
            steady, checks, spec (JSON of all knobs), document (JSON)
  results   a row for each run in one: run, n, result (JSON, as drtmx run --json prints it), histogram (JSON)
  members   run, n, key: the points of which each is made
  points    key, kept, used, bytes, body: results, those of the cache too

  drtmx runs query "SELECT id, note, throughput FROM runs WHERE spec ->> '$.nodes' = 16 ORDER BY throughput DESC"
  drtmx runs query "SELECT run, result ->> '$.by_type.balance.latency_us.p99' AS p99 FROM results"`

func queryCommand() *cobra.Command {
	var tables cli.TableFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "query SQL",
		Short: "Ask in SQL",
		Long:  queryHelp,
		Args:  cli.Exactly(1, "one statement, in quotes"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.Check(output.JSON(asJSON), tables.Outputs()...); err != nil {
				return err
			}
			s, err := runs.Default()
			if err != nil {
				return err
			}
			a, err := s.Query(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if tables.Given() {
				if err := tables.Write(cmd.OutOrStdout(), answerTable(a)); err != nil || !asJSON {
					return err
				}
			}
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), answerRows(a))
			}
			t := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(t, strings.Join(a.Columns, "\t"))
			for _, row := range a.Rows {
				var cells []string
				for _, v := range row {
					cells = append(cells, sqlText(v))
				}
				fmt.Fprintln(t, strings.Join(cells, "\t"))
			}
			return t.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the rows as JSON, an object each")
	tables.Add(cmd, "each row of the answer")
	cli.RunsFlag(cmd)
	return cmd
}

// sqlText is a value in a table of a terminal.
func sqlText(v any) string {
	switch x := v.(type) {
	case nil:
		return "–"
	case float64:
		return fmt.Sprintf("%.6g", x)
	}
	return strings.Join(strings.Fields(fmt.Sprint(v)), " ")
}

func answerTable(a *runs.Answer) *tidy.Table {
	t := &tidy.Table{}
	for _, row := range a.Rows {
		t.Row()
		for i, v := range row {
			t.Set(a.Columns[i], v)
		}
	}
	return t
}

func answerRows(a *runs.Answer) []map[string]any {
	out := []map[string]any{}
	for _, row := range a.Rows {
		m := map[string]any{}
		for i, v := range row {
			m[a.Columns[i]] = v
		}
		out = append(out, m)
	}
	return out
}

func exportCommand() *cobra.Command {
	var f filterFlags
	var tables cli.TableFlags
	cmd := &cobra.Command{
		Use:   "export --csv FILE | --parquet FILE",
		Short: "Write them as a table: a row for each run, a column for each number and knob",
		Args:  cli.Exactly(0, "no arguments; --csv or --parquet names the file"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !tables.Given() {
				return cli.Usage("runs export needs --csv FILE or --parquet FILE")
			}
			if err := output.Check("", tables.Outputs()...); err != nil {
				return err
			}
			s, list, err := f.list()
			if err != nil {
				return err
			}
			if len(list) == 0 {
				return fmt.Errorf("no such run in %s", s.Path())
			}
			t, err := keep.Table(s, list)
			if err != nil {
				return err
			}
			return tables.Write(cmd.OutOrStdout(), t)
		},
	}
	f.add(cmd)
	tables.Add(cmd, "each run, those in a sweep, figure or of several seeds one by one")
	cli.RunsFlag(cmd)
	return cmd
}

func gcCommand() *cobra.Command {
	var older, kind string
	var g runs.Garbage
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "gc [ID...] [--older 30d]",
		Short: "Remove what is old, and shorten the file",
		Long:  "Removes the kept runs that are named, or all that are older than --older, and gives what became free back to the disk. Without either it only does the latter. Points of the cache go by themselves, the oldest first; --points removes those not used since --older too.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkKind(kind); err != nil {
				return err
			}
			if older == "" && (kind != "" || g.KeepNotes || g.Points) {
				return cli.Usage("runs gc: --kind, --keep-notes and --points choose among what is older; say --older 30d, or 0d for all")
			}
			if older != "" && len(args) > 0 {
				return cli.Usage("runs gc takes ids or --older, not both")
			}
			if older != "" {
				age, err := ageOf(older)
				if err != nil {
					return &experiment.SpecError{Field: "older", Value: older, Rule: "must be a time such as 30d or 12h"}
				}
				g.All, g.Kind, g.Until = true, kind, time.Now().Add(-age)
			}
			for _, x := range args {
				id, n, err := runs.ParseID(x)
				if err != nil {
					return err
				}
				if n > 0 {
					return &experiment.SpecError{Field: "run", Value: x, Rule: "is a part of " + id.String(), Next: "remove that"}
				}
				g.IDs = append(g.IDs, id)
			}
			s, err := runs.Default()
			if err != nil {
				return err
			}
			c, err := s.Collect(cmd.Context(), g)
			if err != nil {
				return err
			}
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), c)
			}
			return tellCollected(cmd, s, c)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&older, "older", "", "remove what was kept longer ago than a `TIME` such as 30d or 12h")
	fl.StringVar(&kind, "kind", "", "only "+strings.Join(runs.Kinds, ", "))
	fl.BoolVar(&g.KeepNotes, "keep-notes", false, "spare those with a note")
	fl.BoolVar(&g.Points, "points", false, "also remove points of the cache that were not used since")
	fl.BoolVar(&g.Dry, "dry-run", false, "only say what would be removed")
	fl.BoolVar(&asJSON, "json", false, "print what was removed as JSON")
	cli.RunsFlag(cmd)
	return cmd
}

func tellCollected(cmd *cobra.Command, s *runs.Store, c *runs.Collected) error {
	out, would := cmd.OutOrStdout(), ""
	if c.Dry {
		would = "would be "
	}
	if len(c.Runs) > 0 {
		fmt.Fprint(out, runTable(c.Runs))
	}
	fmt.Fprintf(out, "%d kept runs and %d points of the cache %sremoved, %s\n", len(c.Runs), c.Points, would, SizeText(c.Bytes))
	z, err := s.Size()
	if err != nil {
		return err
	}
	if !c.Dry {
		fmt.Fprintf(out, "the file is %s shorter\n", SizeText(c.File))
	}
	_, err = fmt.Fprintf(out, "%s: %s for %d kept runs (%s) and %d points of the cache (%s)\n", s.Path(), SizeText(z.FileBytes), z.Runs, SizeText(z.KeptBytes), z.Points, SizeText(z.PointBytes))
	return err
}

// SizeText is a number of bytes.
func SizeText(n int64) string {
	if n < 10e6 {
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return experiment.BytesText(n)
}
