package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"drtmx/cluster"
	"drtmx/cluster/runs"
	"drtmx/engine"
)

func replayCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "replay SESSION",
		Short: "Run a recorded session again and compare digest and windows",
		Args:  exactly(1, "one session file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := runs.OpenRegular(args[0])
			if err != nil {
				var pe *fs.PathError
				if errors.As(err, &pe) {
					err = pe.Err
				}
				return &engine.SpecError{Field: "session", Value: args[0], Rule: err.Error(), Next: "give a file that drtmx up --session wrote"}
			}
			defer f.Close()
			b := newBar(cmd.ErrOrStderr(), "replay")
			r, err := cluster.Replay(cmd.Context(), f, cluster.ReplayOptions{Progress: b.update})
			b.end()
			if err != nil {
				if cmd.Context().Err() != nil {
					return err
				}
				return &engine.SpecError{Field: "session", Value: args[0], Rule: strings.TrimPrefix(line(err), "session: ")}
			}
			if err := show(cmd, r, asJSON); err != nil {
				return err
			}
			if !r.OK {
				return errors.New("the replay differs from the session: " + r.Why)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the outcome as JSON")
	return cmd
}

func traceCommand() *cobra.Command {
	var f specFlags
	var txns int
	var out string
	cmd := &cobra.Command{
		Use:   "trace [SPEC] -o F",
		Short: "Transactions as Chrome trace JSON, for Perfetto",
		Long: `Runs the spec for 200 us of virtual time, follows the next transactions to begin (requests, where a
workload has no transactions) to their end, and writes what they did as Chrome trace JSON: open it at
https://ui.perfetto.dev or chrome://tracing. Machines are processes. Each coroutine has a track with its
transactions, attempts and phases; each RNIC has tracks with the requests that it sends, by milestone, and
those that it serves; each thread has one with the handlers of RPCs. Arrows lead from a phase to the requests
that it posts, and from there to where they are served. Same spec and seed: same bytes.`,
		Example: "  drtmx trace -o trace.json\n  drtmx trace phases --preset fasst --txns 20 -o - | gzip > trace.json.gz",
		Args:    atMost(1, "one spec at most"),
		RunE: func(cmd *cobra.Command, args []string) error {
			spec, err := f.spec(cmd, args)
			if err != nil {
				return err
			}
			if out == "" {
				return usage("trace needs -o FILE (- is standard output)")
			}
			if err := outputs("", output{"--output", out}); err != nil {
				return err
			}
			bar := newBar(cmd.ErrOrStderr(), "trace")
			defer bar.end()
			s, err := engine.OpenWith(cmd.Context(), spec, bar.part(0, 40))
			if err != nil {
				return err
			}
			defer s.Close()
			if err := advance(cmd.Context(), s, traceAfter, bar.part(40, 70)); err != nil {
				return err
			}
			tracing := bar.part(70, 100)
			ts, err := s.TraceWith(cmd.Context(), txns, func(done, total int) { tracing("tracing", done, total) })
			bar.end()
			if err != nil {
				return untraced(cmd.Context(), s, err)
			}
			b, err := (&cluster.Trace{Raw: ts}).Chrome()
			if err != nil {
				return err
			}
			return outFile(cmd.OutOrStdout(), out, append(b, '\n'))
		},
	}
	f.add(cmd)
	cmd.Flags().IntVar(&txns, "txns", 100, "how many transactions, 10,000 at most")
	cmd.Flags().StringVarP(&out, "output", "o", "", "`FILE` to write")
	return cmd
}

// untraced adds what helps where too few transactions end.
func untraced(ctx context.Context, s *engine.System, err error) error {
	if ctx.Err() != nil || s.State() == engine.StateFailed || engine.IsSpecError(err) {
		return err
	}
	return fmt.Errorf("%w; ask for fewer with --txns, or set clients.arrival=closed", err)
}

const (
	// traceAfter is the virtual time at which tracing begins: all coroutines are
	// then at different places of their transactions.
	traceAfter = 200_000
	// traceStep is how far it advances until then between two looks whether it is to
	// end: some 50 ms of wall time with as many machines as there can be.
	traceStep = 500
)

// advance is s.Advance that ends with ctx and tells its progress.
func advance(ctx context.Context, s *engine.System, all int64, progress engine.Progress) error {
	for ns := all; ns > 0; ns -= traceStep {
		if err := ctx.Err(); err != nil {
			return err
		}
		progress("warming up", int(all-ns), int(all))
		if err := s.Advance(min(ns, traceStep)); err != nil {
			return err
		}
	}
	return nil
}
