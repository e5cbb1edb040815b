package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The older versions of this code that today's is compared with, both built here. Of base the program is today's Command one,
// in its tree. Command one came too late for then: there it is what cluster/bench measured with its own specs.
const (
	base = "b54ed02" // the last commit before the work on speed that its ratios are about
	then = "e849f65" // the commit on which that work's targets were set
)

// frozen is a system of Command one.
type frozen struct {
	spec, what string
	then       string  // what cluster/bench called it
	required   float64 // times as fast as base
	tiny       string  // knobs of a cluster that is in the host's caches
	memory     float64 // bytes at most; 0: not asked
	verbs      bool    // no allocation for a verb
}

var frozens = []frozen{
	{spec: "read", what: "READ of 64 bytes, 16 x 24 x 12", then: "read", required: 2,
		tiny: `{"nodes": 3, "threads": 4, "coroutines": 8}`, verbs: true},
	{spec: "smallbank", what: "SmallBank, DrTM+H, 16 x 24 x 8, check: sampled", then: "smallbank-sampled", required: 1.8,
		tiny: `{"nodes": 3, "threads": 4, "coroutines": 8}`, memory: 0.4e9, verbs: true},
	{spec: "new-order", what: "TPC-C new-order, DrTM+H, 16 x 24 x 8, check: sampled", then: "new-order", required: 1.8,
		tiny: `{"nodes": 3, "threads": 4, "coroutines": 8}`},
}

// programs are what measures: of today's code, of base and of then, "" where it could not be built.
type programs struct{ now, base, then string }

func buildAll(ctx context.Context, dir string) (p programs, err error) {
	fmt.Fprint(os.Stderr, "\r\x1b[Kbuilding this version and two older ones")
	if p.now, err = build(ctx, dir, "cluster/bench/one"); err != nil {
		return p, err
	}
	one, err := sourceOf(ctx, "drtmx/cluster/bench/one")
	if err != nil {
		return p, err
	}
	if p.base, err = buildAt(ctx, dir, base, "cluster/bench/one", one); err == nil {
		p.then, err = buildAt(ctx, dir, then, "cluster/bench", "")
	}
	var absent *exec.ExitError
	if errors.As(err, &absent) && ctx.Err() == nil { // a clone without history, or without git
		fmt.Fprintf(os.Stderr, "\r\x1b[K%v\n", err)
		err = nil
	}
	return p, err
}

// sourceOf is the folder of a package.
func sourceOf(ctx context.Context, pkg string) (string, error) {
	text, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", pkg).Output()
	if err != nil {
		return "", fmt.Errorf("go list %s: %w", pkg, err)
	}
	return strings.TrimSpace(string(text)), nil
}

// buildAt builds a program of the tree of a commit, into which it copies source in the program's place if that is given. Neither had
// a profile.
func buildAt(ctx context.Context, dir, commit, program, source string) (string, error) {
	root, err := sourceOf(ctx, "drtmx")
	if err != nil {
		return "", err
	}
	tree, out := filepath.Join(dir, commit), filepath.Join(dir, "at-"+commit)
	if err := os.Mkdir(tree, 0o755); err != nil {
		return "", err
	}
	if err := outputOf(ctx, root, "git", "archive", "--format=tar", "-o", tree+".tar", commit); err != nil {
		return "", err
	}
	if err := outputOf(ctx, tree, "tar", "-xf", tree+".tar"); err != nil {
		return "", err
	}
	if source != "" {
		if err := os.CopyFS(filepath.Join(tree, program), os.DirFS(source)); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	return out, outputOf(ctx, tree, "go", "build", "-pgo=off", "-o", out, "./"+program)
}

// outputOf runs a command whose output matters if it fails.
func outputOf(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(text)))
	}
	return nil
}

// compareVersions measures each system with each program, which take turns.
func compareVersions(ctx context.Context, p programs, reps int) (map[string]sample, error) {
	samples := map[string]sample{}
	for rep := range reps {
		for _, f := range frozens {
			for _, r := range []struct {
				name, program string
				args          []string
			}{
				{"now", p.now, []string{"-spec", f.spec}},
				{"base", p.base, []string{"-spec", f.spec}},
				{"then", p.then, []string{"-one", f.then}},
				{"tiny", p.now, []string{"-spec", f.spec, "-set", f.tiny, "-span", "10ms"}},
			} {
				if r.program == "" {
					continue
				}
				fmt.Fprintf(os.Stderr, "\r\x1b[K%d of %d: %s, %s", rep+1, reps, f.spec, r.name)
				v, err := runProgram(ctx, r.program, r.args...)
				if err != nil {
					return nil, err
				}
				key := f.spec + " " + r.name
				samples[key] = samples[key].with(v)
			}
		}
	}
	return samples, nil
}

// runProgram measures in a process of its own.
func runProgram(ctx context.Context, program string, args ...string) (map[string]float64, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stderr = os.Stderr
	began := time.Now()
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	out := map[string]float64{"seconds": time.Since(began).Seconds(), "memory": peakMemory(cmd.ProcessState)}
	for name, v := range all { // order-free: fills a map
		if x, ok := v.(float64); ok {
			out[name] = x
		}
	}
	return out, nil
}

// rows are what the table says of a system.
func (f *frozen) rows(all map[string]sample) []row {
	now, tiny := all[f.spec+" now"], all[f.spec+" tiny"]
	rate := now.median("rate")
	unit := "commits"
	if f.spec == "read" {
		unit = "verbs"
	}
	rows := []row{{what: f.what + ", " + unit + " per CPU second", value: rate, text: si(rate), ok: true}}
	rows = append(rows, f.ratio(rate, all[f.spec+" base"], base, f.required), f.ratio(rate, all[f.spec+" then"], then, 0))
	x := rate / tiny.median("rate")
	rows = append(rows, row{what: short(f.what) + ": rate / that of 3 x 4 x 8, which the host's caches hold", value: x, text: fmt.Sprintf("%.2f", x), ok: true})
	if f.verbs { // windows and histograms allocate now and then, verbs never
		a := now.median("allocs")
		rows = append(rows, row{what: short(f.what) + ": allocations per verb", value: a, text: fmt.Sprintf("%.4f", a), required: "none", ok: a < 0.01})
	}
	if m := now.median("memory"); f.memory > 0 && m > 0 {
		rows = append(rows, row{what: short(f.what) + ": largest resident memory", value: m, text: fmt.Sprintf("%.2f GB", m/1e9),
			required: fmt.Sprintf("at most %.1f GB", f.memory/1e9), ok: m <= f.memory})
	}
	return rows
}

// ratio is the row of a rate over an older version's.
func (f *frozen) ratio(rate float64, older sample, commit string, required float64) row {
	r := row{what: short(f.what) + ": rate / that of " + commit, ok: true}
	if required > 0 {
		r.required = fmt.Sprintf("at least %.1f", required)
	}
	if older == nil {
		r.text, r.absent = "not measured here", true
		return r
	}
	r.value = rate / older.median("rate")
	r.text, r.ok = fmt.Sprintf("%.2f", r.value), r.value >= required
	return r
}

// short is what a row's first part says.
func short(what string) string {
	first, _, _ := strings.Cut(what, ",")
	return first
}
