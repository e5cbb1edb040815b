package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"drtmx/engine/experiment"
	"drtmx/engine/explore"
)

// exploreFlags are those of the command beside a spec's.
type exploreFlags struct {
	specFlags
	explore.Options
	budget time.Duration
	out    string
	asJSON bool
}

func exploreCommand() *cobra.Command {
	var f exploreFlags
	cmd := &cobra.Command{
		Use:   "explore [SPEC]",
		Short: "A tiny system through many orders of its messages, up to a bound",
		Long: `explore runs a system again and again, each time with other messages held back: none, then every single one by one
unit (explore.unit_ns), by two, ..., then every pair, up to --bound of them. The checks of each run judge it: history,
replicas, locks, the workload's invariants. It ends with the first run that they refuse, with status 1 and that run's spec,
which drtmx run, drtmx up and a notebook open (-o keeps it in a file).

Unless a spec is named, these are three transactions on two records, and --set workload.script="r0 w1; r1 w0" writes others.
Other specs should be as small.

Lists of delays are not extended whose run accessed memory in an order that was seen before; --all extends those too.
Then nothing found means that no run with at most so many delays of at most so many units is wrong; without --all, that
none is of those that were made.

Ctrl-C and --budget print a cursor, with which --resume goes on.`,
		Example: `  drtmx explore
  drtmx explore --preset farm --bound 1 --set workload.script="w0; w0; r0"
  drtmx explore --set workload.variant=as-published -o lost.yaml
  drtmx run lost.yaml`,
		Args: atMost(1, "one spec at most"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.specFlags.add(cmd)
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
		err = oneSystem(spec, "systems", spec.Name, "write a spec of one of them")
	}
	if err == nil {
		err = f.check()
	}
	if err != nil {
		return err
	}
	tellIdle(cmd.ErrOrStderr(), spec, f.turned(spec, args))
	ctx := cmd.Context()
	if f.budget > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, f.budget)
		defer stop()
	}
	b := newBar(cmd.ErrOrStderr(), "explore")
	f.Progress = explored(b, f.Bound)
	r, err := explore.Run(ctx, spec, f.Options)
	b.end()
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
	if len(args) == 0 {
		return f.change(cmd, explore.DefaultSpec())
	}
	return f.spec(cmd, args)
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
	return outputs(jsonOut(f.asJSON), output{"--out", f.out})
}

// write writes the counterexample, if a file is named, and the report, unless standard output is that file.
func (f *exploreFlags) write(cmd *cobra.Command, r *explore.Report) error {
	if len(r.Found) > 0 && f.out != "" {
		if err := outFile(cmd.OutOrStdout(), f.out, []byte(r.Found[0].Spec.YAML())); err != nil || f.out == "-" {
			return err
		}
	}
	return show(cmd, r, f.asJSON)
}

// explored tells of an exploration. How many lists of further delays there will be nobody knows before, but they are most of
// the work.
func explored(b *bar, bound int) func(delays, done, total int) {
	return func(delays, done, total int) {
		share := 0
		if delays == bound {
			share = done
		}
		b.tell(fmt.Sprintf("%d of %d lists of %d delays", done, total, delays), share, total)
	}
}

// refuted makes an exploration that has found something a failed one.
func refuted(r *explore.Report) error {
	if len(r.Found) == 0 {
		return nil
	}
	return fmt.Errorf("explore: a run is wrong: %s", r.Found[0].Kind)
}
