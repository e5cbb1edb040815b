package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"drtmx/cluster/drtmx/cli"
	"drtmx/cluster/drtmx/progress"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
)

func whyCommand() *cobra.Command {
	var f cli.SpecFlags
	var group string
	var seeds int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "why [SPEC]",
		Short: "What limits a system: what a tenth less of each time would change",
		Long: `why runs a system again and again with the same random streams, each time with one part of what takes
time a tenth faster: the durations and bandwidths of the hardware profile, the CPU costs in code (Table 4-2's and the
coordinator's), back-off. It prints the elasticities of throughput, p50 and p99 with 95 % intervals over the seeds,
largest first: 0.7 says that 1 % less of that time gives 0.7 % more throughput, or latency that is 0.7 % lower. Counts
and sizes stay as they are. p99 is shown where its interval excludes 0.

The first line is the instant verdict that the page and drtmx run show as well, by a rule on one run's own data:
contended (conflicts take at least half of the time in flight: aborted attempts, back-off, waits for locked records),
else saturated (the busiest unit of a resource is busy at least 85 % of the time), else latency-bound (requests wait for
round trips one after the other).

Of a spec that lists several systems (drtmx why rivals) it measures each, and says what each further one depends on more
or less than the one before all, in the words of the page.`,
		Args: cli.AtMost(1, "one spec at most"),
		RunE: func(cmd *cobra.Command, args []string) error {
			spec, err := f.Spec(cmd, args)
			if err != nil {
				return err
			}
			if err := cli.RefuseIdle(spec, f.Turned(spec, args)); err != nil {
				return err
			}
			if len(spec.Systems) > 0 {
				return whySystems(cmd, spec, group, seeds, asJSON)
			}
			b := progress.New(cmd.ErrOrStderr(), "why")
			c, err := batch.MeasureCauses(cmd.Context(), spec, batch.CausesOptions{Group: group, Seeds: seeds, Progress: b.Update})
			b.End()
			if c == nil {
				return err
			}
			return errors.Join(cli.Show(cmd, c, asJSON), err)
		},
	}
	f.Add(cmd)
	cmd.Flags().StringVar(&group, "group", "", "measure the numbers and costs of one `GROUP` each: "+strings.Join(batch.CauseGroups(), ", "))
	cmd.Flags().IntVar(&seeds, "seeds", batch.CauseSeeds, fmt.Sprintf("pairs of runs, with consecutive seeds; more make the intervals narrower (1 to %d)", 1000))
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the causes as JSON")
	return cmd
}

// whySystems measures the causes of each of several systems, and of the difference.
func whySystems(cmd *cobra.Command, spec experiment.Spec, group string, seeds int, asJSON bool) error {
	list, err := spec.Each()
	if err != nil {
		return err
	}
	var out batch.CausesOfSystems
	for _, s := range list {
		b := progress.New(cmd.ErrOrStderr(), "why "+s.Name)
		c, err := batch.MeasureCauses(cmd.Context(), s, batch.CausesOptions{Group: group, Seeds: seeds, Progress: b.Update})
		b.End()
		if c == nil {
			return err
		}
		out.Add(s.Name, c)
		if err != nil { // interrupted: what there is
			return errors.Join(cli.Show(cmd, &out, asJSON), err)
		}
	}
	return cli.Show(cmd, &out, asJSON)
}
