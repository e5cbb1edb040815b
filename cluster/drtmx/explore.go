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

func exploreCommand() *cobra.Command {
	var f specFlags
	var bound, steps, most int
	var budget time.Duration
	var all, asJSON bool
	var resume, out string
	cmd := &cobra.Command{
		Use:   "explore [SPEC]",
		Short: "A tiny system through every order of its messages, up to a bound",
		Long: `explore runs a system again and again, each time with other messages held back: none, then every single one by one
unit (explore.unit_ns), by two, ..., then every pair, up to --bound of them. The checks of each run judge it: history,
replicas, locks, the workload's invariants. It ends with the first run that they refuse, with status 1 and that run's spec,
which drtmx run, drtmx up and a notebook open (-o keeps it in a file).

Unless a spec is named, these are three transactions on two records, and --set workload.script="r0 w1; r1 w0" writes others.
Other specs should be as small.
Lists of delays are not extended whose run accessed memory in an order that was seen before; --all extends those too. So
what has been shown is: of all runs with at most so many delays of so many units, none that was tried is wrong.

Ctrl-C and --budget print a cursor, with which --resume goes on.`,
		Example: `  drtmx explore
  drtmx explore --preset farm --bound 1 --set workload.script="w0; w0; r0"
  drtmx explore --set workload.variant=as-published -o lost.yaml
  drtmx run lost.yaml`,
		Args: atMost(1, "one spec at most"),
		RunE: func(cmd *cobra.Command, args []string) error {
			spec, err := f.tiny(cmd, args)
			if err != nil {
				return err
			}
			if err := oneSystem(spec, "systems", spec.Name, "write a spec of one of them"); err != nil {
				return err
			}
			if budget < 0 {
				return &experiment.SpecError{Field: "budget", Value: budget.String(), Rule: "must be above 0", Next: "such as --budget 30s"}
			}
			if err := outputs(jsonOut(asJSON), output{"--out", out}); err != nil {
				return err
			}
			tellIdle(cmd.ErrOrStderr(), spec, f.turned(spec, args))
			ctx := cmd.Context()
			if budget > 0 {
				var stop context.CancelFunc
				ctx, stop = context.WithTimeout(ctx, budget)
				defer stop()
			}
			b := newBar(cmd.ErrOrStderr(), "explore")
			r, err := explore.Run(ctx, spec, explore.Options{Bound: &bound, Steps: steps, All: all, Most: most, Resume: resume, Progress: explored(b, bound)})
			b.end()
			if r == nil {
				return err
			}
			if errors.Is(err, context.DeadlineExceeded) && cmd.Context().Err() == nil {
				err = nil // the budget is spent
			}
			if len(r.Found) > 0 && out != "" {
				if err := outFile(cmd.OutOrStdout(), out, []byte(r.Found[0].Spec.YAML())); err != nil {
					return err
				}
			}
			return errors.Join(show(cmd, r, asJSON), err, refuted(r))
		},
	}
	f.add(cmd)
	fl := cmd.Flags()
	fl.IntVar(&bound, "bound", explore.DefaultBound, "messages of a run that are held back, at most")
	fl.IntVar(&steps, "steps", explore.DefaultSteps, "units by which a message is held back, at most")
	fl.BoolVar(&all, "all", false, "extend every list of delays, also behind an order that was seen before")
	fl.IntVar(&most, "most", 1, "counterexamples to look for before it ends")
	fl.DurationVar(&budget, "budget", 0, "`TIME` after which it ends with a cursor, such as 30s; 0: none")
	fl.StringVar(&resume, "resume", "", "go on at this `CURSOR`, with the same spec and flags")
	fl.StringVarP(&out, "out", "o", "", "write the spec of the first counterexample to `FILE`")
	fl.BoolVar(&asJSON, "json", false, "print the report as JSON")
	return cmd
}

// tiny is the spec that arguments and flags ask for.
func (f *specFlags) tiny(cmd *cobra.Command, args []string) (experiment.Spec, error) {
	if len(args) == 0 {
		return f.change(cmd, explore.DefaultSpec())
	}
	return f.spec(cmd, args)
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
