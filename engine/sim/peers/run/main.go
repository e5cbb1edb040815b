//go:build linux

// Run compares this simulator with others on the closed tandem model (see
// package tandem): CPU time per visit, medians of interleaved repetitions. Peers
// that cannot be built here are skipped with a line that says why.
//
//	go run ./engine/sim/peers/run
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"drtmx/engine/sim/cputime"
	"drtmx/engine/sim/peers/tandem"
)

// contender is one line of the table: a simulator in one style.
type contender struct {
	name   string
	style  string
	target string // of the Makefile; ours when empty
	args   []string
	kind   kind
	visits int // about a tenth of a second
	ns     []float64
	x      float64 // throughput in the last repetition
}

type kind uint8

const (
	events kind = iota
	processes
)

func contenders() []*contender {
	list := []*contender{
		{name: "drtmx", style: "events", kind: events, visits: 3_000_000},
		{name: "drtmx", style: "station", kind: events, visits: 3_000_000},
		{name: "drtmx", style: "process", kind: processes, visits: 1_000_000},
		{name: "drtmx", style: "acquire", kind: processes, visits: 500_000},
	}
	for _, s := range []string{"PriorityQueue", "Calendar", "Map", "Heap"} {
		list = append(list, &contender{name: "ns-3", style: s, target: "ns3", args: []string{s}, kind: events, visits: 1_000_000})
	}
	return append(list,
		&contender{name: "akita", style: "events", target: "akita", args: []string{"events"}, kind: events, visits: 400_000},
		&contender{name: "simgo", style: "events", target: "simgo", args: []string{"events"}, kind: events, visits: 200_000},
		&contender{name: "simgo", style: "process", target: "simgo", args: []string{"process"}, kind: processes, visits: 50_000},
		&contender{name: "SimGrid", style: "actors", target: "simgrid", kind: processes, visits: 100_000},
	)
}

// requirement is an upper bound on ours over the fastest of a peer's styles.
type requirement struct {
	ours  string
	peer  string
	kind  kind
	bound float64
}

var requirements = []requirement{
	{"events", "ns-3", events, 0.5},
	{"events", "akita", events, 0.15},
	{"process", "SimGrid", processes, 0.2},
	{"process", "simgo", processes, 0.2},
}

func main() {
	n := flag.Int("n", 64, "jobs that circulate")
	k := flag.Int("k", 8, "stations")
	reps := flag.Int("reps", 9, "repetitions, of which the median counts")
	install := flag.Bool("install", true, "install missing Debian packages when root")
	ours := flag.String("ours", "", "run one `style` of ours and print visits, CPU time and throughput")
	visits := flag.Int("visits", 1_000_000, "visits of -ours")
	flag.Parse()
	if *n < 1 || *k < 1 || *reps < 1 || *visits < 1 {
		fail(errors.New("n, k, reps and visits must be at least 1"))
	}
	if *ours != "" {
		fail(runOurs(*ours, *n, *k, *visits))
		return
	}
	ok, err := compare(*n, *k, *reps, *install)
	fail(err)
	if !ok {
		os.Exit(1)
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// runOurs measures one style in a process of its own, as the peers are.
func runOurs(style string, n, k, visits int) error {
	m, err := tandem.New(style, n, k)
	if err != nil {
		return err
	}
	defer m.Close()
	begin := cputime.Now()
	r := m.Run(uint64(visits))
	spent := cputime.Now() - begin
	if r.Err != nil {
		return r.Err
	}
	fmt.Printf("%d %d %.4f\n", r.Visits, spent.Nanoseconds(), r.Throughput())
	return nil
}

func compare(n, k, reps int, install bool) (bool, error) {
	list, clean, err := build(contenders(), install)
	if err != nil {
		return false, err
	}
	defer clean()
	for range reps {
		for _, c := range list {
			if err := c.run(n, k); err != nil {
				return false, err
			}
		}
	}
	if err := table(list, n, k, reps); err != nil {
		return false, err
	}
	return check(list), nil
}

// build makes every peer's program and drops those that do not build.
func build(all []*contender, install bool) (list []*contender, clean func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	root, err := moduleRoot()
	if err != nil {
		return nil, nil, err
	}
	out, err := os.MkdirTemp("", "peers")
	if err != nil {
		return nil, nil, err
	}
	make := func(target string) error {
		cmd := exec.Command("make", "-s", "-C", filepath.Join(root, "engine", "sim", "peers"), "OUT="+out, target)
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s", reason(text, err))
		}
		return nil
	}
	if install {
		if err := make("deps"); err != nil {
			fmt.Println("packages:", err)
		}
	}
	built := map[string]bool{}
	for _, c := range all {
		switch {
		case c.target == "":
			c.args = []string{self, "-ours", c.style}
			list = append(list, c)
			continue
		case !built[c.target]:
			if err := make(c.target); err != nil {
				fmt.Printf("skipped %s (%s): %v\n", c.name, c.style, err)
				continue
			}
			built[c.target] = true
		}
		c.args = append([]string{filepath.Join(out, c.target)}, c.args...)
		list = append(list, c)
	}
	return list, func() { _ = os.RemoveAll(out) }, nil
}

func moduleRoot() (string, error) {
	text, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	mod := strings.TrimSpace(string(text))
	if filepath.Base(mod) != "go.mod" {
		return "", errors.New("run this from inside the module drtmx")
	}
	return filepath.Dir(mod), nil
}

// reason is the last line that says something, without make's own comment.
func reason(text []byte, err error) string {
	lines := strings.Split(string(bytes.TrimSpace(text)), "\n")
	for _, l := range slices.Backward(lines) {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "make") {
			return l
		}
	}
	return err.Error()
}

// run executes the program once and keeps its time per visit.
func (c *contender) run(n, k int) error {
	args := slices.Clone(c.args[1:])
	if c.target == "" {
		args = append(args, "-n", strconv.Itoa(n), "-k", strconv.Itoa(k), "-visits", strconv.Itoa(c.visits))
	} else {
		args = append(args, strconv.Itoa(n), strconv.Itoa(k), strconv.Itoa(c.visits))
	}
	cmd := exec.Command(c.args[0], args...)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s (%s): %w", c.name, c.style, err)
	}
	var visits, ns int64
	if _, err := fmt.Sscan(string(text), &visits, &ns, &c.x); err != nil {
		return fmt.Errorf("%s (%s) printed %q: %w", c.name, c.style, text, err)
	}
	c.ns = append(c.ns, float64(ns)/float64(visits))
	return nil
}

func (c *contender) median() float64 {
	s := slices.Sorted(slices.Values(c.ns))
	return (s[len(s)/2] + s[(len(s)-1)/2]) / 2
}

func table(list []*contender, n, k, reps int) error {
	theory := tandem.Theory(n, k)
	fmt.Printf("closed tandem, %d jobs, %d stations, CPU time per visit, median (range) of %d\n\n", n, k, reps)
	fmt.Println("| simulator | style | ns per visit | M visits/s | ours by events / it | ours by process / it |")
	fmt.Println("|---|---|---|---|---|---|")
	events, process := list[0].median(), list[2].median()
	for _, c := range list {
		m := c.median()
		fmt.Printf("| %s | %s | %.1f (%.1f-%.1f) | %.2f | %.3f | %.3f |\n", c.name, c.style,
			m, slices.Min(c.ns), slices.Max(c.ns), 1000/m, events/m, process/m)
		// 50,000 exponential services have a standard error of half a percent, and
		// the start from an even distribution of the jobs is felt for about two
		// visits per station.
		if math.Abs(c.x/theory-1) > 0.03+2*float64(k)/float64(c.visits) {
			return fmt.Errorf("%s (%s) has a throughput of %.3f, theory %.3f: not the same model", c.name, c.style, c.x, theory)
		}
	}
	fmt.Printf("\nevery throughput is that of theory (%.3f) within its error; %s\n", theory, version())
	return nil
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.GoVersion
	}
	return "unknown Go version"
}

// check compares the ratios with the requirements. A peer that was skipped
// fulfils nothing and breaks nothing.
func check(list []*contender) bool {
	find := func(name string, want kind, style string) float64 {
		best := math.Inf(1)
		for _, c := range list {
			if c.name == name && c.kind == want && (style == "" || c.style == style) {
				best = min(best, c.median())
			}
		}
		return best
	}
	ok := true
	for _, r := range requirements {
		peer := find(r.peer, r.kind, "")
		if math.IsInf(peer, 1) {
			fmt.Printf("%s / %s: not measured\n", r.ours, r.peer)
			continue
		}
		ratio := find("drtmx", r.kind, r.ours) / peer
		verdict := "ok"
		if ratio > r.bound {
			verdict, ok = "too slow", false
		}
		fmt.Printf("%s / %s: %.3f, at most %.2f: %s\n", r.ours, r.peer, ratio, r.bound, verdict)
	}
	return ok
}
