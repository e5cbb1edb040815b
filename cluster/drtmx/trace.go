package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"drtmx/cluster"
	"drtmx/cluster/agent"
	"drtmx/cluster/drtmx/cli"
	"drtmx/cluster/drtmx/output"
	"drtmx/cluster/drtmx/progress"
	"drtmx/engine"
	"drtmx/engine/experiment"
)

// traceFlags are what the command traces, and where that goes.
type traceFlags struct {
	txns       int
	typ        string
	percentile float64
	out        string
}

func traceCommand() *cobra.Command {
	var f cli.SpecFlags
	var t traceFlags
	cmd := &cobra.Command{
		Use:   "trace [SPEC] [--type T --percentile P] [-o F]",
		Short: "Transactions as Chrome trace JSON for Perfetto, or one of a chosen latency percentile as a drawing",
		Long: `Runs the spec for 200 µs of virtual time, follows the next transactions to begin (requests, where a
workload has no transactions) to their end, and writes what they did as Chrome trace JSON: open it at
https://ui.perfetto.dev or chrome://tracing. Machines are processes. Each coroutine has a track with its
transactions, attempts and phases; each RNIC has tracks with the requests that it sends, by milestone, and
those that it serves; each thread has one with the handlers of RPCs. Arrows lead from a phase to the requests
that it posts, and from there to where they are served. Same spec and seed: same bytes.

With --percentile it looks for one transaction instead: it measures the latency of a sample of the type
(without --type of all), and then follows transactions until one is as fast as that percentile. Without -o
it prints what that transaction did; a FILE that ends in .svg is the drawing.`,
		Example: "  drtmx trace -o trace.json\n  drtmx trace phases --preset fasst --txns 20 -o - | gzip > trace.json.gz\n" +
			"  drtmx trace --type balance --percentile 99\n  drtmx trace --set workload=tpcc --type new-order --percentile 99 -o new-order.svg",
		Args: cli.AtMost(1, "one spec at most"),
		RunE: func(cmd *cobra.Command, args []string) error {
			spec, err := f.Spec(cmd, args)
			if err != nil {
				return err
			}
			if err := t.check(cmd); err != nil {
				return err
			}
			found, err := t.run(cmd, spec)
			if err != nil {
				return err
			}
			return t.write(cmd, found)
		},
	}
	f.Add(cmd)
	cmd.Flags().IntVar(&t.txns, "txns", 100, "how many transactions, 10,000 at most")
	cmd.Flags().StringVar(&t.typ, "type", "", "transaction `TYPE`, such as new-order, for --percentile")
	cmd.Flags().Float64Var(&t.percentile, "percentile", 0, "one transaction whose latency is the `P`th percentile of its type, from 1 to 99.9")
	cmd.Flags().StringVarP(&t.out, "output", "o", "", "`FILE` to write; - is standard output")
	return cmd
}

// picks says that one transaction is asked for, not the first ones.
func (t *traceFlags) picks() bool { return t.percentile != 0 }

func (t *traceFlags) drawn() bool { return strings.EqualFold(filepath.Ext(t.out), ".svg") }

// check finds out before a run that its outcome could not be written.
func (t *traceFlags) check(cmd *cobra.Command) error {
	switch {
	case t.picks() && cmd.Flags().Changed("txns"):
		return cli.Usage("trace takes --txns or --percentile, not both: a percentile is of one transaction")
	case !t.picks() && cmd.Flags().Changed("percentile"):
		return engine.CheckChoice(engine.Choice{}, nil)
	case !t.picks() && t.typ != "":
		return cli.Usage("trace --type needs --percentile P, such as 99")
	case !t.picks() && t.out == "":
		return cli.Usage("trace needs -o FILE (- is standard output), or --percentile P")
	case !t.picks() && t.drawn():
		return cli.Usage("trace draws one transaction: name it with --percentile P, or give -o a name that ends in .json")
	}
	return output.Check("", output.To("--output", t.out))
}

// run opens the system and traces.
func (t *traceFlags) run(cmd *cobra.Command, spec experiment.Spec) (*cluster.Trace, error) {
	bar := progress.New(cmd.ErrOrStderr(), "trace")
	defer bar.End()
	s, err := engine.OpenWith(cmd.Context(), spec, bar.Part(0, 40))
	if err != nil {
		return nil, err
	}
	defer s.Close()
	c := agent.ChoiceOf(t.typ, t.percentile)
	if t.picks() {
		if err := engine.CheckChoice(c, s.Types()); err != nil {
			return nil, err
		}
	}
	if err := advance(cmd.Context(), s, traceAfter, bar.Part(40, 70)); err != nil {
		return nil, err
	}
	tracing := bar.Part(70, 100)
	progress := func(done, total int) { tracing("tracing", done, total) }
	if t.picks() {
		p, err := s.TraceOf(cmd.Context(), c, progress)
		if err != nil {
			return nil, err
		}
		return &cluster.Trace{Raw: []engine.TxnTrace{p.Txn}, Picked: p}, nil
	}
	ts, err := s.TraceWith(cmd.Context(), t.txns, progress)
	if err != nil {
		return nil, t.untraced(cmd.Context(), s, err)
	}
	return &cluster.Trace{Raw: ts}, nil
}

// write puts a trace where it was asked for.
func (t *traceFlags) write(cmd *cobra.Command, found *cluster.Trace) error {
	switch {
	case t.out == "":
		_, err := fmt.Fprintln(cmd.OutOrStdout(), found)
		return err
	case t.drawn():
		return output.Write(cmd.OutOrStdout(), t.out, []byte(found.SVG()+"\n"))
	}
	b, err := found.Chrome()
	if err != nil {
		return err
	}
	return output.Write(cmd.OutOrStdout(), t.out, append(b, '\n'))
}

// untraced adds what helps where too few transactions end.
func (t *traceFlags) untraced(ctx context.Context, s *engine.System, err error) error {
	if ctx.Err() != nil || s.State() == engine.StateFailed || experiment.IsSpecError(err) {
		return err
	}
	var help []string
	if t.txns > 1 {
		help = append(help, "ask for fewer with --txns")
	}
	if strings.HasPrefix(s.Values().Text("clients.arrival"), "open") {
		help = append(help, "set clients.arrival=closed or a higher rate")
	}
	if help == nil {
		help = append(help, "drtmx run with the same knobs shows how long they take")
	}
	return fmt.Errorf("%w; %s", err, strings.Join(help, ", or "))
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
