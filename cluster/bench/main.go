// Command bench measures what the handbook's table says about speed (cluster/handbook/pages/developers.md): `make bench`.
//
// It measures whole systems, in requests per second of CPU time: against older versions of this code, which it builds
// itself and runs on the same frozen specs (Command one), against ns-3 and other simulators on one model
// (engine/sim/peers), allocations per verb, memory, and what a person waits for after starting the default
// cluster. Each number is the median of repetitions in processes of their own, which take
// turns, so that a neighbour on the machine does not hit one of them alone. CPU
// time is that of the whole process, its garbage collector included.
//
// Caveats. CPU time is not immune to neighbours: they take cache and memory
// bandwidth, and this simulator lives on both. The head of the table therefore
// names the machine and its load at the start. Exit status 1 if a number is not
// what is required.
//
// With -coordinator it measures something else: the cycles that engine/protocol/occ charges for
// a transaction's own program. With -coverage it measures how often the intervals of
// results are wrong.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
)

func main() {
	one := flag.String("one", "", "measure one thing in this process and print it as JSON: "+names())
	reps := flag.Int("reps", 3, "repetitions, of which the median counts")
	peers := flag.Bool("peers", true, "compare with other simulators too")
	drtmx := flag.String("drtmx", "", "the drtmx `BINARY` to start; empty: build one")
	coordinator := flag.Duration("coordinator", 0, "measure what transactions' own code takes of a core, in that much CPU `TIME` for each of three systems")
	coverage := flag.Int("coverage", 0, "measure how often intervals are wrong, in `N` comparisons of stretches in which nothing differs, of each workload")
	workloads := flag.String("workloads", "", "of -coverage, those with these `NAMES` alone, with commas between them")
	profile := flag.String("cpuprofile", "", "write a profile of -one to `FILE`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	switch {
	case flag.NArg() > 0 || *reps < 1:
		err = errors.New("bench takes flags only, and at least one repetition")
	case *coordinator > 0:
		err = printCoordinator(ctx, os.Stdout, *coordinator)
	case *coverage > 0:
		err = printCoverage(ctx, os.Stdout, *coverage, *workloads)
	case *one != "":
		err = printOne(*one, *profile)
	default:
		err = run(ctx, *reps, *peers, *drtmx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, reps int, peers bool, drtmx string) error {
	head := describe()
	rows := []row{}
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	versions, err := buildAll(ctx, dir)
	if err != nil {
		return err
	}
	compared, err := compareVersions(ctx, versions, max(reps, 5))
	if err != nil {
		return err
	}
	for _, f := range frozens {
		rows = append(rows, f.rows(compared)...)
	}
	if peers {
		list, err := comparePeers(ctx)
		if err != nil {
			return err
		}
		pair, err := comparePair(ctx, dir, versions.now, max(reps, 5)) // its packages are installed by now
		if err != nil {
			return err
		}
		rows = append(append(rows, pair), list...)
	}
	samples := map[string]sample{}
	for rep := range reps {
		for _, m := range measurements {
			if m.once && rep > 0 {
				continue
			}
			fmt.Fprintf(os.Stderr, "\r\x1b[K%d of %d: %s", rep+1, reps, m.name)
			values, err := child(ctx, m.name)
			if err != nil {
				return err
			}
			samples[m.name] = samples[m.name].with(values)
		}
	}
	fmt.Fprint(os.Stderr, "\r\x1b[K")
	for _, m := range measurements {
		rows = append(rows, m.rows(samples)...)
	}
	live, err := startDefault(ctx, drtmx, reps)
	if err != nil {
		return err
	}
	rows = append(rows, live...)
	fmt.Print(head, "\n\n", table(rows))
	for _, r := range rows {
		if r.missed() {
			return errors.New("not as required: " + r.what)
		}
	}
	return nil
}

// sample is the values of repetitions by name.
type sample map[string][]float64

func (s sample) with(values map[string]float64) sample {
	if s == nil {
		s = sample{}
	}
	for name, v := range values {
		s[name] = append(s[name], v)
	}
	return s
}

func (s sample) median(name string) float64 { return median(s[name]) }

func median(xs []float64) float64 {
	sorted := slices.Sorted(slices.Values(xs))
	n := len(sorted)
	return (sorted[n/2] + sorted[(n-1)/2]) / 2
}

// child measures in a process of its own.
func child(ctx context.Context, name string) (map[string]float64, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return runProgram(ctx, self, "-one", name)
}

// build makes a program of this module in a temporary folder, with the profile as make does.
func build(ctx context.Context, dir, pkg string) (string, error) {
	root, err := sourceOf(ctx, "drtmx")
	if err != nil {
		return "", err
	}
	out := filepath.Join(dir, filepath.Base(pkg))
	return out, outputOf(ctx, "", "go", "build", "-pgo="+filepath.Join(root, "cluster/bench/profile.pgo"), "-o", out, "drtmx/"+pkg)
}
