package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"drtmx/cluster/drtmx/cli"
	"drtmx/cluster/drtmx/output"
	"drtmx/cluster/drtmx/progress"
	"drtmx/engine/experiment"
	"drtmx/engine/explore"
)

// exploreFlags are those of the command beside a spec's.
type exploreFlags struct {
	cli.SpecFlags
	explore.Options
	budget time.Duration
	out    string
	asJSON bool
}

func exploreCommand() *cobra.Command {
	var f exploreFlags
	cmd := &cobra.Command{
		Use:   "explore [SPEC]",
		Short: "A tiny system through many orders of its messages, up to a bound: transactions, or xstore",
		Long: `explore runs a system again and again, each time with other messages held back: none, then every single one by one
unit (explore.unit_ns), by two, ..., then every pair, up to --bound of them. The checks of each run judge it: history,
replicas, locks, answers, the workload's invariants. It ends with the first run that they refuse, with status 1 and that run's spec,
which drtmx run, drtmx up and a notebook open (-o keeps it in a file).

There are two systems to begin with, and other specs should be as small:
  transactions   three transactions on two records; --set workload.script="r0 w1; r1 w0" writes others. The default.
  xstore         two clients and the three leaves of a learned key-value store; --set workload.requests="10 20 30: i15; g20"
                 writes other requests. What wakes a trainer is held back like a message.

Lists of delays are not extended whose run accessed memory in an order that was seen before; --all extends those too.
Then nothing found means that no run with at most so many delays of at most so many units is wrong; without --all, that
none is of those that were made.

Ctrl-C and --budget print a cursor, with which --resume goes on.`,
		Example: `  drtmx explore
  drtmx explore --preset farm --bound 1 --set workload.script="w0; w0; r0"
  drtmx explore xstore --steps 4 --set xstore.cache=model
  drtmx explore --set workload.variant=as-published -o lost.yaml
  drtmx run lost.yaml`,
		Args: cli.AtMost(1, "one spec at most"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.SpecFlags.Add(cmd)
	fl := cmd.Flags()
	fl.IntVar(&f.Bound, "bound", explore.DefaultBound, "messages of a run that are held back, at most")
	fl.IntVar(&f.Steps, "steps", explore.DefaultSteps, "units by which a message is held back, at most")
	fl.BoolVar(&f.All, "all", false, "extend every list of delays, also behind an order that was seen before")
	fl.IntVar(&f.Most, "most", 1, "counterexamples to look for before it ends")
	fl.DurationVar(&f.budget, "budget", 0, "`TIME` after which it ends with a cursor, such as 30s; 0: none")
	fl.StringVar(&f.Resume, "resume", "", "go on at this `CURSOR`, with the same spec and flags")
	fl.StringVarP(&f.out, "out", "o", "", "write the spec of the first counterexample to `FILE`")
	fl.BoolVar(&f.asJSON, "json", false, "print the report as JSON")
	return cmd
}

func (f *exploreFlags) run(cmd *cobra.Command, args []string) error {
	spec, err := f.tiny(cmd, args)
	if err == nil {
		err = cli.OneSystem(spec, "systems", spec.Name, "write a spec of one of them")
	}
	if err == nil {
		err = f.check()
	}
	if err != nil {
		return err
	}
	if _, ok := shipped(args); ok {
		args = nil
	}
	if err := cli.RefuseIdle(spec, f.Turned(spec, args)); err != nil {
		return err
	}
	ctx := cmd.Context()
	if f.budget > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, f.budget)
		defer stop()
	}
	b := progress.New(cmd.ErrOrStderr(), "explore")
	f.Progress = explored(b, f.Bound)
	r, err := explore.Run(ctx, spec, f.Options)
	b.End()
	if r == nil {
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) && cmd.Context().Err() == nil {
		err = nil // the budget is spent
	}
	return errors.Join(f.write(cmd, r), err, refuted(r))
}

// tiny is the spec that arguments and flags ask for.
func (f *exploreFlags) tiny(cmd *cobra.Command, args []string) (experiment.Spec, error) {
	if name, ok := shipped(args); ok {
		spec, _ := explore.Shipped(name)
		return f.Change(cmd, spec)
	}
	return f.Spec(cmd, args)
}

// shipped is the name of the small system that arguments ask for, if it is no spec of others.
func shipped(args []string) (name string, ok bool) {
	if len(args) == 0 {
		return explore.Names[0], true
	}
	return args[0], slices.Contains(explore.Names, args[0])
}

// check refuses flags that cannot be.
func (f *exploreFlags) check() error {
	for _, x := range []struct {
		flag string
		n    int
	}{{"bound", f.Bound}, {"steps", f.Steps}, {"most", f.Most}} {
		if x.n < 1 {
			return &experiment.SpecError{Field: x.flag, Value: fmt.Sprint(x.n), Rule: "must be above 0", Next: "leave it out for the default"}
		}
	}
	if f.budget < 0 {
		return &experiment.SpecError{Field: "budget", Value: f.budget.String(), Rule: "must be above 0", Next: "such as --budget 30s"}
	}
	return output.Check(output.JSON(f.asJSON), output.To("--out", f.out))
}

// write writes the counterexample, if a file is named, and the report, unless standard output is that file.
func (f *exploreFlags) write(cmd *cobra.Command, r *explore.Report) error {
	if len(r.Found) > 0 && f.out != "" {
		if err := output.Write(cmd.OutOrStdout(), f.out, []byte(r.Found[0].Spec.Working().YAML())); err != nil || f.out == "-" {
			return err
		}
	}
	return cli.Show(cmd, r, f.asJSON)
}

// explored tells of an exploration. How many lists of further delays there will be is unknown before, but they are most of
// the work.
func explored(b *progress.Bar, bound int) func(delays, done, total int) {
	return func(delays, done, total int) {
		share := 0
		if delays == bound {
			share = done
		}
		b.Tell(fmt.Sprintf("%d of %d lists of %d delays", done, total, delays), share, total)
	}
}

// refuted makes an exploration that has found something a failed one.
func refuted(r *explore.Report) error {
	if len(r.Found) == 0 {
		return nil
	}
	return fmt.Errorf("explore: a run is wrong: %s", r.Found[0].Kind)
}
