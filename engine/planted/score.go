package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// testTimeout is how long one test may take: a bug that hangs it is not caught.
const testTimeout = time.Minute

// plantation runs tests with bugs planted.
type plantation struct {
	root, dir string // of the module; of what is built
	out       io.Writer
	verbose   bool
	overlay   string
	passes    map[Test]error // of tests that ran without a bug
	cpu       time.Duration
}

// score plants the bug of each trial and returns how many were caught.
func (p *plantation) score(trials []Trial) (caught int, err error) {
	if err := p.edit(trials); err != nil {
		return 0, err
	}
	p.passes = map[Test]error{}
	built := map[string]bool{}
	for _, t := range trials {
		if !built[t.Pkg] {
			if err := p.build(t.Pkg); err != nil {
				return caught, err
			}
			built[t.Pkg] = true
		}
		if err := p.try(t); err != nil {
			fmt.Fprintf(p.out, "planted: %s is not caught: %v\n  %s\n", t.Bug.Name, err, t.Says)
			continue
		}
		caught++
		if p.verbose {
			fmt.Fprintf(p.out, "planted: %s is caught by %v\n", t.Bug.Name, t.Test)
		}
	}
	return caught, nil
}

// edit writes the overlay.
func (p *plantation) edit(trials []Trial) error {
	sources, err := plant(p.root, trials)
	if err == nil {
		p.overlay, err = writeOverlay(p.root, p.dir, sources)
	}
	return err
}

// only builds the tests of some packages with all bugs in them, to look for a test that catches one.
func (p *plantation) only(trials []Trial, pkgs []string) error {
	if err := p.edit(trials); err != nil {
		return err
	}
	for _, pkg := range pkgs {
		if err := p.build(pkg); err != nil {
			return err
		}
		fmt.Fprintf(p.out, "cd %s && %s=NAME %s -test.v -test.run TEST\n", filepath.Join(p.root, pkg), chosenVariable, p.binary(pkg))
	}
	return nil
}

// binary is where the tests of a package are.
func (p *plantation) binary(pkg string) string {
	return filepath.Join(p.dir, strings.ReplaceAll(strings.Trim(pkg, "./"), "/", "-")+".test")
}

func (p *plantation) build(pkg string) error {
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-overlay", p.overlay, "-o", p.binary(pkg), pkg)
	cmd.Dir = p.root
	text, err := p.run(cmd)
	if err != nil {
		return fmt.Errorf("tests of %s with all bugs in them: %w\n%s", pkg, err, text)
	}
	return nil
}

// try plants one bug; an error says why its test does not catch it.
func (p *plantation) try(t Trial) error {
	once := Test{Pkg: t.Pkg, Name: t.Test.Name}
	if _, ran := p.passes[once]; !ran {
		p.passes[once] = p.sound(once)
	}
	if err := p.passes[once]; err != nil {
		return err
	}
	text, err := p.test(t.Test, t.Bug.Name)
	switch {
	case err == nil:
		return fmt.Errorf("%s passes", t.Test.Name)
	case !strings.Contains(text, "--- FAIL: ") && !strings.Contains(text, "panic: "):
		return fmt.Errorf("%s does not end: %w\n%s", t.Test.Name, err, text)
	case !strings.Contains(text, t.Shows):
		return fmt.Errorf("%s fails and does not say %q:\n%s", t.Test.Name, t.Shows, text)
	}
	return nil
}

// sound runs a test without a bug.
func (p *plantation) sound(t Test) error {
	text, err := p.test(t, "")
	switch {
	case err != nil:
		return fmt.Errorf("%s fails without it: %w\n%s", t.Name, err, text)
	case !strings.Contains(text, "--- PASS: "):
		return fmt.Errorf("there is no test %s in %s", t.Name, t.Pkg)
	}
	return nil
}

// test runs a test in its package's folder, with a bug chosen.
func (p *plantation) test(t Test, chosen string) (string, error) {
	parts := strings.Split(t.Name, "/")
	for i, x := range parts {
		parts[i] = "^" + x + "$"
	}
	ctx, end := context.WithTimeout(context.Background(), testTimeout)
	defer end()
	cmd := exec.CommandContext(ctx, p.binary(t.Pkg), "-test.v", "-test.short", "-test.run", strings.Join(parts, "/"))
	cmd.Dir = filepath.Join(p.root, t.Pkg)
	cmd.Env = append(os.Environ(), chosenVariable+"="+chosen)
	return p.run(cmd)
}

// run runs a command, counts its CPU time and returns what it printed.
func (p *plantation) run(cmd *exec.Cmd) (string, error) {
	text, err := cmd.CombinedOutput()
	if s := cmd.ProcessState; s != nil {
		p.cpu += s.UserTime() + s.SystemTime()
	}
	return string(text), err
}
