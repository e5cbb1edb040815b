package differential_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	// batch is how many programs are compiled at once.
	batch = 200
	// usual is how many of them there are where nothing else is asked for.
	usual = 100
)

// TestDifferential runs generated programs with compiled Go and in the kernel, which have to print the same. DRTMX_SOAK says how many
// programs ("1000"), or for how long ("1h"); DRTMX_SOAK_SEED is the first seed. DRTMX_SHRINK=1 makes what differs small.
func TestDifferential(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the kernel; not in short mode")
	}
	seed, rounds, programs, until := uint64(1), uint64(1), usual, time.Time{}
	if s := os.Getenv("DRTMX_SOAK_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed, programs = n, batch
	}
	if s := os.Getenv("DRTMX_SOAK"); s != "" {
		programs = batch
		if d, err := time.ParseDuration(s); err == nil {
			rounds, until = 1<<62, time.Now().Add(d)
		} else if n, err := strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("DRTMX_SOAK %q: a number of programs, or a time such as 10m", s)
		} else {
			rounds = (n + batch - 1) / batch
		}
	}
	for i := range rounds {
		if !until.IsZero() && time.Now().After(until) {
			break
		}
		compare(t, seed+i, programs)
	}
}

// compare is a batch. It logs the seed and what the programs were.
func compare(t *testing.T, seed uint64, n int) {
	t.Helper()
	var programs []*program
	for id := range n {
		if p := generate(seed, id); p.valid() {
			programs = append(programs, p)
		}
	}
	want := compiled(t, programs)
	k := withPrelude(t)
	lines, panics, without := 0, 0, 0
	for i, p := range programs {
		if address.MatchString(want[i]) { // a variable that the repair of a program left for another of its name
			without++
			continue
		}
		if strings.Contains(want[i], "panic ") {
			panics++
		}
		lines += strings.Count(want[i], "\n")
		got := k.program(t, p)
		if got.Error == "" && got.Value == want[i] {
			continue
		}
		text, _ := p.source()
		if os.Getenv("DRTMX_SHRINK") != "" {
			text = smallest(t, p, got.Error)
		}
		t.Errorf("seed %d, program %d: %s\n%s", seed, p.id, firstDifference(want[i], got), text)
		if got.Error == kernelEnded {
			_ = k.end()
			k = withPrelude(t)
		}
	}
	if err := k.end(); err != nil {
		t.Error(err)
	}
	t.Logf("seed %d: %d programs, of which %d panic and %d print addresses; %d lines printed", seed, len(programs), panics, without, lines)
	if panics == 0 || lines < 10*len(programs) {
		t.Errorf("seed %d: %d programs print %d lines, and %d panic: too few", seed, len(programs), lines, panics)
	}
}

var address = regexp.MustCompile(`\b0x[0-9a-f]{6,}`)

// firstDifference says what a program should have printed, and what it did.
func firstDifference(want string, got answer) string {
	if got.Error != "" {
		return "refused: " + got.Error
	}
	a, b := strings.Split(want, "\n"), strings.Split(got.Value, "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return fmt.Sprintf("Go prints %q, the kernel %q", a[i], append(b, "nothing")[min(i, len(b))])
		}
	}
	return fmt.Sprintf("the kernel prints more: %q", b[len(a):])
}

// compiled runs programs with Go: what they print.
func compiled(t testing.TB, programs []*program) []string {
	t.Helper()
	var b strings.Builder
	b.WriteString("package main\nimport (\"encoding/json\"; \"fmt\"; \"os\")\n" + prelude)
	b.WriteString("func main() {\n\tvar all []string\n")
	for _, p := range programs {
		fmt.Fprintf(&b, "\tall = append(all, run%d())\n", p.id)
	}
	b.WriteString("\tif err := json.NewEncoder(os.Stdout).Encode(all); err != nil { panic(err) }\n}\n")
	for _, p := range programs {
		text, _ := p.source()
		b.WriteString(text)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", "-pgo=off", "main.go")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\nof %s", err, stderr.String(), b.String())
	}
	var all []string
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// withPrelude is a kernel that can run generated programs.
func withPrelude(t testing.TB) *kernel {
	t.Helper()
	k := start(t)
	for _, cell := range []string{`import "fmt"`, prelude} {
		if a := k.run(t, cell); a.Error != "" {
			t.Fatal(a.Error)
		}
	}
	return k
}

// program runs a generated program.
func (k *kernel) program(t testing.TB, p *program) answer {
	t.Helper()
	text, _ := p.source()
	return k.run(t, fmt.Sprintf("%srun%d()", text, p.id))
}
