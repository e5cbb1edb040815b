package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// row is a line of the table.
type row struct {
	what     string
	value    float64
	text     string // the value as a reader wants it
	required string
	ok       bool
	absent   bool // could not be measured here
}

func (r row) missed() bool { return !r.ok && !r.absent }

// table is Markdown.
func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| what | measured | required |\n|---|---|---|\n")
	for _, r := range rows {
		mark := ""
		if r.missed() {
			mark = " (missed)"
		}
		fmt.Fprintf(&b, "| %s | %s | %s%s |\n", r.what, r.text, r.required, mark)
	}
	return b.String()
}

// describe names the machine.
func describe() string {
	s := fmt.Sprintf("%s, %d cores, %s/%s, %s", processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	if load, ok := loadAverage(); ok {
		s += ", load " + load + " at the start"
	}
	return s
}

func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "processor unknown"
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "processor unknown"
}

func loadAverage() (string, bool) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "", false
	}
	first, _, ok := strings.Cut(string(text), " ")
	return first, ok
}

// verdict is a line of the peers' comparison.
var verdict = regexp.MustCompile(`(?m)^(\w+) / (\S+): (?:([\d.]+), at most ([\d.]+): .*|not measured)$`)

// comparePeers runs the comparison with other simulators. It exits with 1 when a
// ratio is too large, which is in its lines as well.
func comparePeers(ctx context.Context) ([]row, error) {
	fmt.Fprintln(os.Stderr, "other simulators on the same model")
	cmd := exec.CommandContext(ctx, "go", "run", "drtmx/engine/sim/peers/run")
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	os.Stderr.Write(text)
	rows := peerRows(text)
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || len(rows) == 0) {
		return nil, fmt.Errorf("other simulators: %w", err)
	}
	return rows, nil
}

func peerRows(text []byte) []row {
	var rows []row
	for _, m := range verdict.FindAllSubmatch(bytes.ReplaceAll(text, []byte("\r"), nil), -1) {
		r := row{what: fmt.Sprintf("closed tandem, CPU time of a visit: our %s / %s", style(string(m[1])), m[2])}
		if len(m[3]) == 0 {
			r.text, r.absent = "not measured here", true
		} else {
			bound, _ := strconv.ParseFloat(string(m[4]), 64) // digits by the pattern
			r.value, _ = strconv.ParseFloat(string(m[3]), 64)
			r.text, r.required, r.ok = string(m[3]), "at most "+string(m[4]), r.value <= bound
		}
		rows = append(rows, r)
	}
	return rows
}

func style(s string) string {
	if s == "process" {
		return "coroutines"
	}
	return s
}
