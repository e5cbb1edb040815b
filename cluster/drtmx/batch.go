package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"drtmx/cluster"
	"drtmx/cluster/atomicfile"
	"drtmx/cluster/drtmx/cli"
	"drtmx/cluster/drtmx/kept"
	"drtmx/cluster/drtmx/output"
	"drtmx/cluster/drtmx/progress"
	"drtmx/cluster/keep"
	"drtmx/cluster/runs"
	"drtmx/cluster/session"
	"drtmx/engine"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

func runCommand() *cobra.Command {
	var f cli.SpecFlags
	var tables cli.TableFlags
	var seeds int
	var asJSON, beside bool
	var history string
	var k cli.KeepFlags
	cmd := &cobra.Command{
		Use:   "run [SPEC]",
		Short: "One batch run, or one per seed",
		Long:  "Runs a spec once: the default one, another shipped one by its name (" + strings.Join(experiment.SpecNames()[1:], ", ") + "; see drtmx specs), a workload or a preset by its name, as drtmx run tpcc, or a YAML file.\nOf a spec that lists several systems it runs each and compares them with the first.\nregisters is there to verify a protocol: drtmx run registers --history h.edn.",
		Args:  cli.AtMost(1, "one spec at most"),
		RunE: func(cmd *cobra.Command, args []string) error {
			open := f.Spec
			if beside {
				open = f.Beside
			}
			spec, err := open(cmd, args)
			if err != nil {
				return err
			}
			if err := checkSeeds(seeds); err != nil {
				return err
			}
			if history != "" && seeds > 1 {
				return &experiment.SpecError{Field: "history", Value: history, Rule: fmt.Sprintf("is of one run, there are %d", seeds), Next: "leave --seeds out, and choose the run by --seed"}
			}
			if seeds > 1 {
				err = cli.OneSystem(spec, "seeds", fmt.Sprint(seeds), "leave it out, and choose the seed by --seed")
			} else if history != "" {
				err = cli.OneSystem(spec, "history", history, "leave it out, or write a spec of one of them")
			}
			if err != nil {
				return err
			}
			if err := output.Check(output.JSON(asJSON), append(tables.Outputs(), output.To("--history", history))...); err != nil {
				return err
			}
			if err := k.Check(cmd); err != nil {
				return err
			}
			if err := cli.RefuseIdle(spec, f.Turned(spec, args)); err != nil {
				return err
			}
			if seeds > 1 {
				return runSeeds(cmd, spec, seeds, asJSON, &tables, &k)
			}
			if len(spec.Systems) > 0 {
				return runSystems(cmd, spec, asJSON, &tables, &k)
			}
			b := progress.New(cmd.ErrOrStderr(), "run")
			r, err := runOnce(cmd, spec, history, b.Tell)
			b.End()
			if err != nil {
				return err
			}
			if err := tables.Write(cmd.OutOrStdout(), keep.ResultTable(r)); err != nil {
				return err
			}
			if err := tables.Show(cmd, r, asJSON); err != nil {
				return err
			}
			kept := k.Keep(cli.SayTo(cmd), func(s *runs.Store) (runs.ID, error) { return keep.Run(s, k.Note, r) })
			return errors.Join(cli.ChecksOf(r), historyOf(r), kept)
		},
	}
	f.Add(cmd)
	tables.Add(cmd, "each seed")
	cmd.Flags().IntVar(&seeds, "seeds", 1, "runs with consecutive seeds: means with 95 % intervals")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	cmd.Flags().BoolVar(&beside, "beside", false, "run the spec without the settings of --set and --preset as well, and compare")
	cmd.Flags().StringVar(&history, "history", "", historyHelp)
	k.Add(cmd, "the result")
	return cmd
}

func checkSeeds(n int) error {
	if n < 1 || n > 1000 {
		return &experiment.SpecError{Field: "seeds", Value: fmt.Sprint(n), Rule: "must be from 1 to 1000", Next: "such as --seeds 5"}
	}
	return nil
}

const historyHelp = "write what every transaction read and wrote to `FILE`: lines of JSON (.jsonl) or a Jepsen history (.edn). Records every access, whatever the knob check is"

// runOnce is one run, with a history if a file is named.
func runOnce(cmd *cobra.Command, spec experiment.Spec, history string, progress engine.Progress) (*result.Result, error) {
	if history == "" {
		return engine.RunWith(cmd.Context(), spec, progress)
	}
	f, err := openHistory(spec, history)
	if err != nil {
		return nil, err
	}
	r, err := engine.RunRecorded(cmd.Context(), spec, history, f, progress)
	if cerr := f.Close(); cerr != nil && err == nil && r.History.Error == "" {
		r.History.Error = cerr.Error()
	}
	return r, err
}

// openHistory opens the file before a long run.
func openHistory(spec experiment.Spec, path string) (*session.HistoryFile, error) {
	if err := output.Check("", output.To("--history", path)); err != nil {
		return nil, err
	}
	return session.CreateHistory(spec, path)
}

// historyOf makes a run whose history could not be written a failed one. Its numbers are whole.
func historyOf(r *result.Result) error {
	if h := r.History; h != nil && h.Error != "" {
		return fmt.Errorf("history %s is not whole: %s; the numbers are", h.File, h.Error)
	}
	return nil
}

func runSeeds(cmd *cobra.Command, spec experiment.Spec, n int, asJSON bool, tables *cli.TableFlags, k *cli.KeepFlags) error {
	b := progress.New(cmd.ErrOrStderr(), "seeds")
	r, err := batch.RunSeeds(cmd.Context(), spec, n, batch.SweepOptions{Cache: keep.Cache(), Share: b.Update})
	b.End()
	if err != nil {
		return err
	}
	if err := tables.Write(cmd.OutOrStdout(), keep.ResultTable(r.Runs...)); err != nil {
		return err
	}
	if err := tables.Show(cmd, r, asJSON); err != nil {
		return err
	}
	kept := k.Keep(cli.SayTo(cmd), func(s *runs.Store) (runs.ID, error) { return keep.Seeds(s, k.Note, r) })
	for _, x := range r.Runs {
		if err := cli.ChecksOf(x); err != nil {
			return errors.Join(err, kept)
		}
	}
	return kept
}

func sweepCommand() *cobra.Command {
	var f cli.SpecFlags
	var over []string
	var seeds int
	var asJSON, fresh, again bool
	var k cli.KeepFlags
	var tables cli.TableFlags
	var htmlFile string
	var lab cli.LabFlags
	cmd := &cobra.Command{
		Use:   "sweep [SPEC] --over KNOB=V1,V2,...",
		Short: "Every combination of some knobs' values",
		Long:  "Runs every combination of the given values, in parallel. Points are kept: a sweep that was interrupted goes on where it stopped, by its own command or by --resume. With --server the workers of a lab compute the points. A sweep that is done is in drtmx runs; the same one takes its place there. Charts are drawn over the last --over of numbers; the others name the lines. Two knobs are heat maps as well in --html.",
		Args:  cli.AtMost(1, "one spec at most"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if again {
				if cmd.Flags().NFlag() > 1 || len(args) > 0 {
					return cli.Usage("--resume finishes the last sweep as it was given, so it stands alone")
				}
				return resume(cmd)
			}
			spec, err := f.Spec(cmd, args)
			if err != nil {
				return err
			}
			if fresh && lab.Server != "" {
				return cli.Usage("--fresh: a server keeps results as well; remove them with drtmx serve-work gc --older 0s, or leave one of the two out")
			}
			if len(over) == 0 {
				return cli.Usage("sweep needs --over KNOB=V1,V2,...")
			}
			if err := checkSeeds(seeds); err != nil {
				return err
			}
			var axes []cluster.Axis
			var parsed []experiment.Axis
			for _, o := range over {
				a, err := experiment.ParseAxis(o)
				if err != nil {
					return err
				}
				axes, parsed = append(axes, cluster.Axis{Knob: a.Knob, Values: a.Values}), append(parsed, a)
			}
			if err := output.Check(output.JSON(asJSON), append(tables.Outputs(), output.To("--html", htmlFile))...); err != nil {
				return err
			}
			if err := cli.OpenStore(cmd); err != nil {
				return err
			}
			if err := cli.RefuseIdle(spec, f.Turned(spec, args), parsed...); err != nil {
				return err
			}
			s, err := sweepOn(cmd, &lab, spec, cluster.SweepOptions{Seeds: seeds, NoCache: fresh, Note: k.Note}, axes)
			if err != nil {
				return err
			}
			return writeSweep(cmd, s, asJSON, &tables, htmlFile)
		},
	}
	f.Add(cmd)
	fl := cmd.Flags()
	fl.StringArrayVar(&over, "over", nil, "knob and its values `KNOB=V1,V2,...`, any number of times")
	fl.IntVar(&seeds, "seeds", 1, "runs per point with consecutive seeds")
	fl.BoolVar(&asJSON, "json", false, "print the points as JSON")
	tables.Add(cmd, "each point and seed")
	fl.StringVar(&htmlFile, "html", "", "write charts to `FILE`")
	fl.BoolVar(&fresh, "fresh", false, "run points again that are kept from before")
	k.Always(cmd, "the sweep")
	fl.BoolVar(&again, "resume", false, "finish the last sweep that was interrupted")
	lab.Add(cmd, "points are computed by the workers")
	return cmd
}

// sweepOn sweeps in this process or by the workers of a lab, under a bar.
func sweepOn(cmd *cobra.Command, f *cli.LabFlags, spec experiment.Spec, o cluster.SweepOptions, axes []cluster.Axis) (_ *cluster.SweepResult, err error) {
	if o.Lab, err = f.Open(cmd); err != nil {
		return nil, err
	}
	if o.Lab != nil {
		defer o.Lab.Close()
	}
	ended := noteBegun(cmd.Context())
	b := progress.New(cmd.ErrOrStderr(), "sweep")
	follow := cli.FollowLab(cmd.Context(), o.Lab, b)
	s, err := cluster.SweepWith(cmd.Context(), spec, o, b.Update, axes...)
	follow()
	b.End()
	if ended(err); errors.Is(err, context.Canceled) {
		return nil, fmt.Errorf("%w: drtmx sweep --resume finishes it", errInterrupted)
	}
	return s, err
}

var errInterrupted = errors.New("interrupted")

func writeSweep(cmd *cobra.Command, s *cluster.SweepResult, asJSON bool, tables *cli.TableFlags, htmlFile string) error {
	out := cmd.OutOrStdout()
	if tables.Given() {
		if err := tables.Write(out, s.Rows().Tidy()); err != nil {
			return err
		}
	}
	if htmlFile != "" {
		if err := output.Write(out, htmlFile, cli.HTMLPage("drtmx sweep", s.HTML())); err != nil {
			return err
		}
	}
	switch {
	case asJSON:
		if err := cli.PrintJSON(out, s.Raw); err != nil {
			return err
		}
	case tables.CSV == "-" || tables.Parquet == "-" || htmlFile == "-": // standard output is that
	default:
		fmt.Fprintln(out, s)
		for _, file := range []string{tables.CSV, tables.Parquet, htmlFile} {
			if file != "" {
				fmt.Fprintf(out, "written: %s\n", file)
			}
		}
	}
	return s.Err()
}

func compareCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Two results side by side: files of drtmx run --json, or kept runs such as r1 r2",
		Args:  cli.Exactly(2, "two results: files of drtmx run --json, or kept runs such as r1 r2"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if isKept(args[0]) && isKept(args[1]) {
				return kept.Compare(cmd, args[0], args[1], asJSON)
			}
			var rs [2]*result.Result
			for i, path := range args {
				r, err := readResult(path)
				if err != nil {
					return err
				}
				rs[i] = r
			}
			return cli.Show(cmd, result.Compare(rs[0], rs[1]), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the comparison as JSON")
	cli.RunsFlag(cmd)
	return cmd
}

// isKept says that an argument is a kept run, and no file.
func isKept(arg string) bool {
	_, _, err := runs.ParseID(arg)
	_, statErr := os.Stat(arg)
	return err == nil && statErr != nil
}

// resultLimit bounds a result file: some 60 KB are usual, with the histogram of each type up to 300.
const resultLimit = 64 << 20

func readResult(path string) (*result.Result, error) {
	bad := func(rule string) error {
		return &experiment.SpecError{Field: "result", Value: path, Rule: rule, Next: "give two files that drtmx run --json wrote, of one seed, or two kept runs such as r1 r2"}
	}
	b, err := atomicfile.ReadUpTo(path, resultLimit)
	if err != nil {
		return nil, bad(err.Error())
	}
	r := &result.Result{}
	if len(b) > resultLimit {
		return nil, bad("is not a result")
	}
	if err := json.Unmarshal(b, r); err != nil || r.Spec == nil || r.Digest == "" {
		return nil, bad("is not a result")
	}
	for _, name := range slices.Sorted(maps.Keys(r.Spec)) {
		switch v := r.Spec[name].(type) {
		case bool, int, float64, string:
		default:
			return nil, bad(fmt.Sprintf("its knob %.40q is %.40q, which no knob can be", name, fmt.Sprint(v)))
		}
	}
	return r, nil
}
