package kept

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"drtmx/cluster"
	"drtmx/cluster/drtmx/cli"
	"drtmx/cluster/drtmx/output"
	"drtmx/cluster/keep"
	"drtmx/cluster/runs"
	"drtmx/dashboard/charts"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures"
)

func Command() *cobra.Command {
	cmd := listCommand("runs")
	cmd.Short = "The runs that were kept: list, show, compare, query, export"
	cmd.Long = "Lists the runs that were kept in the run store, a SQLite file: runs and sessions with --keep, --note or --runs, sweeps and figures always.\n" +
		"The file is the one of --runs or " + runs.FileVariable + ", or drtmx/runs.db in the user's data folder. The results behind sweeps and figures are a cache of bounded size, whose oldest go first; all else stays until gc removes it."
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return cli.Usage("runs %s: no such command; there are list, show, compare, note, query, export and gc", args[0])
		}
		return nil
	}
	cmd.AddCommand(listCommand("list"), showCommand(), compareKeptCommand(), noteCommand(), queryCommand(), exportCommand(), gcCommand())
	return cmd
}

// filterFlags choose kept runs.
type filterFlags struct {
	runs.Filter
	since string
}

func (f *filterFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.Kind, "kind", "", "only "+strings.Join(runs.Kinds, ", "))
	fl.StringVar(&f.Workload, "workload", "", "only of this workload")
	fl.StringVar(&f.Preset, "preset", "", "only of this preset")
	fl.StringVar(&f.since, "since", "", "only since a `TIME`: 2d, 12h, a date as 2026-01-31, or a time as RFC 3339")
	fl.StringVar(&f.Note, "note", "", "only with this `TEXT` in the note")
}

// filter checks what was asked for.
func (f *filterFlags) filter() (runs.Filter, error) {
	if err := checkKind(f.Kind); err != nil || f.since == "" {
		return f.Filter, err
	}
	at, err := timeOf("since", f.since)
	f.Since = at
	return f.Filter, err
}

// list are the kept runs that pass, and the store that has them.
func (f *filterFlags) list() (*runs.Store, []runs.Kept, error) {
	filter, err := f.filter()
	if err != nil {
		return nil, nil, err
	}
	s, err := runs.Default()
	if err != nil {
		return nil, nil, err
	}
	list, err := s.List(filter)
	return s, list, err
}

func checkKind(kind string) error {
	for _, k := range runs.Kinds {
		if kind == "" || kind == k {
			return nil
		}
	}
	return &experiment.SpecError{Field: "kind", Value: kind, Rule: "must be " + strings.Join(runs.Kinds, ", ")}
}

// timeOf reads a time in the past: how long ago, a day, or a moment.
func timeOf(flag, s string) (time.Time, error) {
	if d, err := ageOf(s); err == nil {
		return time.Now().Add(-d), nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", time.RFC3339} {
		if at, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return at, nil
		}
	}
	return time.Time{}, &experiment.SpecError{Field: flag, Value: s, Rule: "must be how long ago as 2d or 12h, a date as 2026-01-31, or a time as RFC 3339"}
}

// ageOf is a duration of wall time, which may be in days.
func ageOf(s string) (time.Duration, error) {
	days, ok := strings.CutSuffix(s, "d")
	if ok {
		var n int
		if _, err := fmt.Sscanf(days+";", "%d;", &n); err != nil || n < 0 || n > 100_000 {
			return 0, fmt.Errorf("%s: no number of days", s)
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(s)
	if err == nil && d < 0 {
		err = errors.New("is negative")
	}
	return d, err
}

func listCommand(name string) *cobra.Command {
	var f filterFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   name,
		Short: "The kept runs, the latest first",
		Args:  cli.Exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.Limit < 0 {
				return &experiment.SpecError{Field: "limit", Value: fmt.Sprint(f.Limit), Rule: "must not be below 0", Next: "0 lists all"}
			}
			s, list, err := f.list()
			if err != nil {
				return err
			}
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), list)
			}
			if len(list) == 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "no such run in %s; drtmx run --keep keeps one\n", s.Path())
				return nil
			}
			fmt.Fprint(cmd.OutOrStdout(), runTable(list))
			if len(list) == f.Limit {
				fmt.Fprintf(cmd.ErrOrStderr(), "the latest %d; --limit 0 lists all\n", f.Limit)
			}
			return nil
		},
	}
	f.add(cmd)
	cmd.Flags().IntVar(&f.Limit, "limit", 50, "at most `N`, 0 for all")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON")
	cli.RunsFlag(cmd)
	return cmd
}

// runTable is a line of at most 100 columns for each run.
func runTable(list []runs.Kept) string {
	var b strings.Builder
	line := func(id, at, kind, of, rest string) {
		fmt.Fprintln(&b, strings.TrimRight(fmt.Sprintf("%-5s %-11s %-7s %s %s", id, at, kind, cell(of, 16), rest), " "))
	}
	numbers := func(rate, ci, p50, p99, aborts, checks, what string) string {
		return fmt.Sprintf("%6s %4s %6s %6s %5s %-6s %s", rate, ci, p50, p99, aborts, checks, cell(what, 17))
	}
	line("ID", "KEPT", "KIND", "OF", numbers("RATE/s", "±", "P50 µs", "P99 µs", "ABORT", "CHECKS", "NOTE OR KNOBS"))
	for _, k := range list {
		layout := "01-02 15:04"
		if k.At().Year() != time.Now().Year() {
			layout = time.DateOnly
		}
		rest := numbers(numberText(k.Throughput), shareText(k.ThroughputCI95), numberText(k.P50US), numberText(k.P99US), shareText(k.AbortRate), checksText(k.Checks), cmp.Or(k.Note, k.About))
		if k.Throughput == nil { // several runs: the place of the numbers is for words
			rest = cell(strings.Trim(k.About+"; "+k.Note, "; "), 56)
			if k.Checks != nil && !*k.Checks {
				rest = cell("checks FAILED; "+rest, 56)
			}
		}
		line(k.ID.String(), k.At().Format(layout), k.Kind, strings.TrimSpace(k.Workload+" "+k.Preset), rest)
	}
	return b.String()
}

// cell is a text of exactly so many columns, unless it is of other scripts.
func cell(s string, width int) string {
	s = strings.Join(strings.Fields(s), " ")
	if n := utf8.RuneCountInString(s); n > width {
		return string([]rune(s)[:width-1]) + "…"
	} else if n < width {
		s += strings.Repeat(" ", width-n)
	}
	return s
}

func numberText(x *float64) string {
	if x == nil {
		return "–"
	}
	return strings.ReplaceAll(result.Number(*x), " ", "")
}

func shareText(x *float64) string {
	if x == nil {
		return "–"
	}
	return charts.Digits(100**x, 2) + "%"
}

func checksText(ok *bool) string {
	switch {
	case ok == nil:
		return "–"
	case *ok:
		return "ok"
	}
	return "FAILED"
}

func showCommand() *cobra.Command {
	var asJSON bool
	var session string
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "One of them: what was run, its knobs, numbers and checks",
		Long:  "Shows a kept run: the knobs that are not the defaults of its preset and workload, numbers and checks. r12.3 is the third run in r12: of its seeds, systems, or the points of a sweep or figure.",
		Args:  cli.Exactly(1, "the id of a kept run such as r12"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := runs.Default()
			if err != nil {
				return err
			}
			k, err := keep.Load(s, args[0])
			if err != nil {
				return err
			}
			if n := k.Missing(); n > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "%d of %d results have left the cache of points; the %s computes them again\n", n, len(k.Results), k.Kind)
			}
			if session != "" {
				return writeSession(cmd, s, k, session)
			}
			if asJSON {
				b, err := k.JSON()
				if err != nil {
					return err
				}
				_, err = cmd.OutOrStdout().Write(b)
				return err
			}
			text, err := keptText(k, args[0])
			if err == nil {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what the command printed that made it, with --json")
	cmd.Flags().StringVar(&session, "session", "", "write the recording of a session to `FILE`, which drtmx replay runs again")
	cli.RunsFlag(cmd)
	return cmd
}

func writeSession(cmd *cobra.Command, s *runs.Store, k *keep.Kept, file string) error {
	body, ok := s.Recording(k.ID)
	if !ok {
		return fmt.Errorf("run %v: has no recording: it is no session, or its recording was too large to keep", k.ID)
	}
	if err := output.Check("", output.To("--session", file)); err != nil {
		return err
	}
	return output.Write(cmd.OutOrStdout(), file, body)
}

// keptText is a kept run for a terminal.
func keptText(k *keep.Kept, ref string) (string, error) {
	var b strings.Builder
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-10s %s\n", name, text)
		}
	}
	line("run", ref+", a "+k.Kind+" kept "+k.At().Format("2006-01-02 15:04:05"))
	line("note", k.Note)
	line("of", strings.TrimSpace(k.Workload+" "+k.Preset+" "+k.Profile))
	if r, err := k.Result(); err == nil {
		for i, name := range experiment.SortedNames(keep.NonDefault(r.Spec)) {
			line([]string{"knobs", ""}[min(i, 1)], fmt.Sprintf("%s=%s", name, experiment.Format(name, r.Spec[name])))
		}
		line("digest", r.Digest)
		line("code", r.Code+ifOther(r.Current()))
		if line("again", "drtmx run "+strings.Join(settingsOf(r.Spec), " ")); k.Kind == runs.KindSession {
			line("replay", fmt.Sprintf("drtmx runs show %v --session s.jsonl; drtmx replay s.jsonl", k.ID))
		}
		fmt.Fprintf(&b, "\n%v", r)
		return b.String(), nil
	}
	line("about", k.About)
	line("runs", fmt.Sprintf("%d, the first is %v.1", len(k.Results), k.ID))
	line("digest", k.Digest)
	line("code", k.Code+ifOther(k.Current()))
	line("checks", checksText(k.Checks))
	v, err := k.Value()
	if err != nil {
		return "", err
	}
	if s, ok := v.(*batch.SweepResult); ok {
		v = &cluster.SweepResult{Raw: s}
	}
	if text, ok := v.(json.RawMessage); ok {
		fig, err := figures.Read(text)
		if err != nil {
			return "", fmt.Errorf("run %s: its figure cannot be read: %w", ref, err)
		}
		v = fig
	}
	if text, ok := v.(fmt.Stringer); ok && (k.Missing() == 0 || k.Kind == runs.KindFigure) {
		fmt.Fprintf(&b, "\n%v", text)
	}
	return b.String(), nil
}

func ifOther(current bool) string {
	if current {
		return ""
	}
	return " (this program computes it with other code)"
}

// settingsOf is a spec as flags of drtmx run.
func settingsOf(k experiment.Knobs) (out []string) {
	out = append(out, "--preset", k.Text("preset"), "--set", "workload="+k.Text("workload"))
	changed := keep.NonDefault(k)
	for _, name := range experiment.SortedNames(changed) {
		out = append(out, "--set", name+"="+experiment.Format(name, changed[name]))
	}
	return out
}

func compareKeptCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Two of them side by side: the knobs that differ, and the numbers",
		Long:  "Compares two kept runs. Those of several seeds are compared by their means: ± is then the 95 % interval over the seeds.",
		Args:  cli.Exactly(2, "two ids such as r12 r13.1"),
		RunE:  func(cmd *cobra.Command, args []string) error { return Compare(cmd, args[0], args[1], asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the comparison as JSON")
	cli.RunsFlag(cmd)
	return cmd
}

// Compare shows two kept runs side by side.
func Compare(cmd *cobra.Command, a, b string, asJSON bool) error {
	s, err := runs.Default()
	if err != nil {
		return err
	}
	c, err := keep.Compare(s, a, b)
	if err != nil {
		return err
	}
	return cli.Show(cmd, c, asJSON)
}

func noteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "note ID TEXT",
		Short: "Change the note of one of them",
		Args:  cli.Exactly(2, "the id of a kept run and its note; \"\" removes it"),
		RunE: func(_ *cobra.Command, args []string) error {
			id, n, err := runs.ParseID(args[0])
			if err != nil {
				return err
			}
			if n > 0 {
				return &experiment.SpecError{Field: "run", Value: args[0], Rule: "has no note of its own", Next: "write one on " + id.String()}
			}
			if err := cli.CheckNote(args[1]); err != nil {
				return err
			}
			s, err := runs.Default()
			if err != nil {
				return err
			}
			return s.Note(id, args[1])
		},
	}
	cli.RunsFlag(cmd)
	return cmd
}
