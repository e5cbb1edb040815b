package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// coverageLoad is a system whose intervals are put to the test: stretches of one run, in which nothing is
// different, are compared, each with the next two. An interval of a change that leaves out 0 is wrong.
type coverageLoad struct {
	workload string
	commits  int // in a stretch
	set      experiment.Knobs
}

// coverageLoads are the workloads on small clusters: three machines, so that there are replicas. An
// interval of p99 takes some five thousand commits.
var coverageLoads = []coverageLoad{
	{"smallbank", 5_000, nil},
	{"tpcc", 6_000, experiment.Knobs{"workload.scale": 0.01}},
	{"tpcc-no", 6_000, experiment.Knobs{"workload.scale": 0.01}},
	{"tpce", 6_000, experiment.Knobs{"workload.scale": 0.1}},
	{"tpce-cp", 6_000, experiment.Knobs{"workload.scale": 0.01}},
	{"cycle", 3_000, nil},
	{"registers", 3_000, nil},
	{"ycsb", 3_000, nil},
	{"micro-read", 8_000, nil},
	{"micro-write", 8_000, nil},
	{"micro-atomic", 8_000, nil},
	{"micro-rpc", 8_000, nil},
	{"octopus", 5_000, nil},
}

// coverageMetrics are the numbers that have intervals.
var coverageMetrics = []string{"throughput", "latency_us.p50", "latency_us.p99", "abort_rate", "round_trips_per_txn"}

const (
	coverageSeeds  = 4
	coverageWarmNS = 2_000_000
	// wrongAtMost is the share of the intervals that may be wrong: nominally it is 5 %, and of 400 some
	// 1 % more or less by chance.
	wrongAtMost = 0.08
)

// tally is what became of the comparisons of one number.
type tally struct{ all, given, wrong int }

func (t tally) String() string {
	if t.all == 0 {
		return "-"
	}
	if t.given == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.0f %%, %.1f %% wrong", 100*float64(t.given)/float64(t.all), 100*float64(t.wrong)/float64(t.given))
}

// printCoverage writes a table of so many comparisons of each workload, or of those that are named.
func printCoverage(ctx context.Context, w io.Writer, comparisons int, workloads string) error {
	fmt.Fprintf(w, "| workload | %s | %s |\n|---|---|%s\n", "comparisons", strings.Join(coverageMetrics, " | "), strings.Repeat("---|", len(coverageMetrics)))
	var missed []string
	for _, l := range coverageLoads {
		if workloads != "" && !slices.Contains(strings.Split(workloads, ","), l.workload) {
			continue
		}
		tallies, err := l.measure(ctx, comparisons)
		if err != nil {
			return fmt.Errorf("%s: %w", l.workload, err)
		}
		cells := []string{l.workload, fmt.Sprint(comparisons)}
		for _, m := range coverageMetrics {
			t := tallies[m]
			cells = append(cells, t.String())
			if float64(t.wrong) > wrongAtMost*float64(t.given) {
				missed = append(missed, l.workload+" "+m)
			}
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
	}
	if len(missed) > 0 {
		return fmt.Errorf("more than %g %% of the intervals are wrong: %s", 100*wrongAtMost, strings.Join(missed, ", "))
	}
	return nil
}

// measure makes the comparisons, an equal number with each seed.
func (l coverageLoad) measure(ctx context.Context, comparisons int) (map[string]tally, error) {
	out := map[string]tally{}
	for seed := range coverageSeeds {
		n := comparisons*(seed+1)/coverageSeeds - comparisons*seed/coverageSeeds
		if n == 0 {
			continue
		}
		if err := l.follow(ctx, seed+1, n, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// follow compares each stretch of one run with the two before it.
func (l coverageLoad) follow(ctx context.Context, seed, comparisons int, out map[string]tally) error {
	spec, err := experiment.Spec{Workload: l.workload, Set: experiment.Knobs{"nodes": 3, "threads": 2, "coroutines": 4, "check": "off", "seed": seed}}.With(l.set)
	if err != nil {
		return err
	}
	s, err := engine.Open(spec)
	if err != nil {
		return err
	}
	defer s.Close()
	var length int64
	stretch := func(ns int64) (*result.Result, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.Mark()
		err := s.Advance(ns)
		return s.Result(), err
	}
	warm, err := stretch(coverageWarmNS)
	if err != nil {
		return err
	}
	if warm.Commits == 0 {
		return fmt.Errorf("nothing was committed in %d ns", coverageWarmNS)
	}
	length = int64(math.Ceil(coverageWarmNS * float64(l.commits) / float64(warm.Commits)))
	if _, err = stretch(length); err != nil { // which may belong to the warm-up
		return err
	}
	var before []*result.Result
	for done := 0; done < comparisons; {
		r, err := stretch(length)
		if err != nil {
			return err
		}
		for _, b := range before {
			if done < comparisons {
				count(result.Compare(b, r), out)
				done++
			}
		}
		before = append(before, r)[max(len(before)-1, 0):]
	}
	return nil
}

// count adds a comparison of equals.
func count(c *result.Comparison, out map[string]tally) {
	for _, m := range coverageMetrics {
		t := out[m]
		t.all++
		a, _, okA := c.A.Interval(m)
		b, _, okB := c.B.Interval(m)
		x, known := c.A.Metric(m)
		y, knownToo := c.B.Metric(m)
		if okA && okB && known && knownToo {
			t.given++
			if math.Abs(y-x) > math.Hypot(float64(a*x), float64(b*y)) {
				t.wrong++
			}
		}
		out[m] = t
	}
}
