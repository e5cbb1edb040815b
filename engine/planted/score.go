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

// patience is how long one test may take: a bug that hangs it is not caught.
const patience = time.Minute

// plantation runs tests with bugs planted.
type plantation struct {
	root, dir string // of the module; of what is built
	out       io.Writer
	verbose   bool
	overlay   string
	passes    map[string]error // tests that ran without a bug, by package and name
	cpu       time.Duration
}

// score plants each bug and returns how many were caught.
func (p *plantation) score(bugs []Bug) (caught int, err error) {
	if err := p.edit(bugs); err != nil {
		return 0, err
	}
	p.passes = map[string]error{}
	built := map[string]bool{}
	for _, b := range bugs {
		if !built[b.Pkg] {
			if err := p.build(b.Pkg); err != nil {
				return caught, err
			}
			built[b.Pkg] = true
		}
		if err := p.try(b); err != nil {
			fmt.Fprintf(p.out, "planted: %s is not caught: %v\n  %s\n", b.Name, err, b.Says)
			continue
		}
		caught++
		if p.verbose {
			fmt.Fprintf(p.out, "planted: %s is caught by %s %s\n", b.Name, b.Pkg, b.Test)
		}
	}
	return caught, nil
}

// edit writes the overlay.
func (p *plantation) edit(bugs []Bug) error {
	sources, err := plant(p.root, bugs)
	if err == nil {
		p.overlay, err = writeOverlay(p.root, p.dir, sources)
	}
	return err
}

// only builds the tests of some packages with all bugs in them, for who looks for a test that catches one.
func (p *plantation) only(bugs []Bug, pkgs []string) error {
	if err := p.edit(bugs); err != nil {
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

// try plants one bug; an error says why it is not caught.
func (p *plantation) try(b Bug) error {
	key := b.Pkg + " " + b.Test
	if _, ran := p.passes[key]; !ran {
		p.passes[key] = p.sound(b)
	}
	if err := p.passes[key]; err != nil {
		return err
	}
	text, err := p.test(b, b.Name)
	switch {
	case err == nil:
		return fmt.Errorf("%s passes", b.Test)
	case !strings.Contains(text, "--- FAIL: ") && !strings.Contains(text, "panic: "):
		return fmt.Errorf("%s does not end: %w\n%s", b.Test, err, text)
	case !strings.Contains(text, b.Shows):
		return fmt.Errorf("%s fails and does not say %q:\n%s", b.Test, b.Shows, text)
	}
	return nil
}

// sound runs the test of a bug without it.
func (p *plantation) sound(b Bug) error {
	text, err := p.test(b, "")
	switch {
	case err != nil:
		return fmt.Errorf("%s fails without it: %w\n%s", b.Test, err, text)
	case !strings.Contains(text, "--- PASS: "):
		return fmt.Errorf("there is no test %s in %s", b.Test, b.Pkg)
	}
	return nil
}

// test runs the test of a bug in its package's folder, with a bug chosen.
func (p *plantation) test(b Bug, chosen string) (string, error) {
	parts := strings.Split(b.Test, "/")
	for i, x := range parts {
		parts[i] = "^" + x + "$"
	}
	ctx, end := context.WithTimeout(context.Background(), patience)
	defer end()
	cmd := exec.CommandContext(ctx, p.binary(b.Pkg), "-test.v", "-test.short", "-test.run", strings.Join(parts, "/"))
	cmd.Dir = filepath.Join(p.root, b.Pkg)
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
