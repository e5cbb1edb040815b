package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/sim/cputime"
)

// What the program of a transaction takes of a core is measured on the program that
// there is, this one: engine/protocol/occ charges the simulated cores with it. The samples of a
// CPU profile count that are in the transactions' own code, and not in what it calls:
// the simulator, the hardware, posting and polling, the index and the caches are charged
// to the simulated core in other ways, and the checker does not exist there.

// A coordinated system is small enough for the host's caches: what the transaction's
// own lines cost beyond the cores' caches is not in these cycles.
type coordinated struct {
	name   string
	set    experiment.Knobs
	reads  float64 // records of a transaction
	writes float64 // those that are written, or inserted
}

var coordinatedSystems = []coordinated{
	{"smallbank", experiment.Knobs{"coroutines": 2, "workload.scale": 0.01}, 1.85, 1.4},
	{"cycle", experiment.Knobs{}, 3, 3},
	{"tpcc-no", experiment.Knobs{"workload.scale": 0.01, "workload.variant": "as-published"}, 35, 23},
}

// The parts of a transaction's program.
const (
	partNone        = ""
	partTransaction = "transaction"
	partExecution   = "execution"
	partValidation  = "validation"
	partLogging     = "logging"
	partCommit      = "commit"
	partReclaim     = "reclaim" // at the backup
)

var parts = []string{partTransaction, partExecution, partValidation, partLogging, partCommit, partReclaim}

// partOf are the methods of a transaction that belong to a phase with all they call;
// the outermost counts.
var partOf = map[string]string{
	"txn.(*Tx).get": partExecution, "txn.(*Tx).add": partExecution, "txn.(*Tx).write": partExecution, "protocol/occ.(*session).Fetch": partExecution,
	"protocol/occ.(*session).lock": partValidation, "protocol/occ.(*session).validate": partValidation,
	"protocol/occ.(*session).prepare": partLogging, "protocol/occ.(*session).logWrites": partLogging,
	"coordinator.(*Session[...]).BeforeWriteBack": partLogging, "coordinator.(*Session[...]).AfterWriteBack": partLogging,
	"protocol/occ.(*session).writeBack": partCommit, "protocol/occ.(*session).release": partCommit,
}

// part says which part of the program a stack, innermost function first, is in.
func part(stack []string) string {
	own := false
	for _, f := range stack {
		room, name := split(f)
		switch {
		case strings.HasSuffix(name, ".serveReclaim"):
			return partReclaim
		case strings.Contains(name, ".serve"): // Table 4-2 has these
			return partNone
		case strings.Contains(name, "History") || strings.HasSuffix(name, ".report"):
			return partNone
		case room == "txn", room == "coordinator", strings.HasPrefix(room, "replication"), strings.HasPrefix(room, "protocol/"), strings.HasPrefix(room, "workload"):
			own = true
		case room == "record": // reads simulated memory, or builds a log entry
			if !strings.Contains(name, "Entry") && !strings.Contains(name, "Ring") {
				return partNone
			}
		case room != "" && !own:
			return partNone
		}
	}
	if !own {
		return partNone
	}
	out := partTransaction
	for _, f := range stack {
		if p := partOf[strings.TrimPrefix(f, "drtmx/engine/")]; p != "" {
			out = p
		}
	}
	return out
}

// split takes a function of a room apart; other functions have no room.
func split(function string) (room, name string) {
	rest, ok := strings.CutPrefix(function, "drtmx/engine")
	if !ok {
		return "", function
	}
	room, name, _ = strings.Cut(rest, ".")
	if room = strings.TrimPrefix(room, "/"); room == "" {
		room = "engine"
	}
	return room, name
}

// printCoordinator measures each system for that much CPU time.
func printCoordinator(ctx context.Context, w io.Writer, each time.Duration) error {
	fmt.Fprintf(w, "cycles of a commit, and with reclaim those at the backups together\n%-10s %8s %8s", "", "records", "written")
	for _, p := range parts {
		fmt.Fprintf(w, " %11s", p)
	}
	fmt.Fprintln(w)
	for _, c := range coordinatedSystems {
		fmt.Fprintf(os.Stderr, "\r\x1b[K%s: %v of CPU time", c.name, each)
		cycles, err := c.measure(ctx, each)
		fmt.Fprint(os.Stderr, "\r\x1b[K")
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Fprintf(w, "%-10s %8.4g %8.4g", c.name, c.reads, c.writes)
		for _, p := range parts {
			fmt.Fprintf(w, " %11.0f", cycles[p])
		}
		fmt.Fprintln(w)
	}
	return nil
}

func (c coordinated) measure(ctx context.Context, each time.Duration) (map[string]float64, error) {
	spec, err := experiment.Spec{Preset: "drtm+h", Workload: c.name, Set: experiment.Knobs{
		"nodes": 3, "threads": 1, "coroutines": 1, "check": "off",
	}}.With(c.set)
	if err != nil {
		return nil, err
	}
	s, err := engine.Open(spec)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	const sliceNS = 1_000_000
	if err := s.Advance(sliceNS); err != nil {
		return nil, err
	}
	hz := clockRate()
	if hz == 0 {
		return nil, errors.New("no CPU time is counted here")
	}
	s.Mark()
	var buf bytes.Buffer
	if err := pprof.StartCPUProfile(&buf); err != nil {
		return nil, err
	}
	began, spent := cputime.Now(), time.Duration(0)
	for err == nil && spent < each {
		if err = s.Advance(sliceNS); err == nil {
			err = ctx.Err()
		}
		spent = cputime.Now() - began
	}
	pprof.StopCPUProfile()
	if err != nil {
		return nil, err
	}
	prof, err := profile.Parse(&buf)
	if err != nil {
		return nil, err
	}
	return divided(prof, spent.Seconds()*hz/float64(s.Result().Commits))
}

// divided is how many of so many cycles each part took, by its share of the samples.
func divided(prof *profile.Profile, cycles float64) (map[string]float64, error) {
	out, all := map[string]float64{}, 0.0
	for _, sample := range prof.Sample {
		n := float64(sample.Value[0])
		all += n
		if p := part(stackOf(sample)); p != partNone {
			out[p] += n
		}
	}
	if all == 0 {
		return nil, errors.New("a profile without samples")
	}
	for p := range out { // order-free: scales a map
		out[p] *= cycles / all
	}
	return out, nil
}

func stackOf(sample *profile.Sample) []string {
	var stack []string
	for _, at := range sample.Location {
		for _, line := range at.Line {
			stack = append(stack, line.Function.Name)
		}
	}
	return stack
}

// clockRate is the cycles in a second of CPU time: a multiplication that waits for
// the one before takes three on all x86 of the last fifteen years, and on common ARM.
func clockRate() float64 {
	const n = 200_000_000
	began := cputime.Now()
	x := uint64(began) | 1
	for range n {
		x *= 0x9e3779b97f4a7c15
	}
	spent := cputime.Now() - began
	if spent == 0 || x == 0 {
		return 0
	}
	return 3 * n / spent.Seconds()
}
