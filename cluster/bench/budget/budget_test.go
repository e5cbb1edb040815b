package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The program is this test binary when a variable says so.
func TestMain(m *testing.M) {
	if os.Getenv("BUDGET_AS_PROGRAM") == "1" {
		main()
	}
	os.Exit(m.Run())
}

// budgeted runs the program in a module of two packages, of which one works for a while and the other may fail.
func budgeted(t *testing.T, budgets string, args ...string) (out string, ok bool) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{ // order-free: files of their own
		"go.mod":         "module m\n\ngo 1.26\n",
		"budgets.txt":    budgets,
		"lazy/l_test.go": "package l\nimport (\"os\"; \"testing\")\nfunc TestLazy(t *testing.T) { if os.Getenv(\"LAZY_FAILS\") != \"\" { t.Error(\"as asked\") } }\n",
		"busy/b_test.go": "package b\nimport (\"testing\"; \"time\")\nfunc TestBusy(t *testing.T) { for at := time.Now(); time.Since(at) < 600*time.Millisecond; {} }\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{"-budgets", "budgets.txt"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "BUDGET_AS_PROGRAM=1")
	text, err := cmd.CombinedOutput()
	return string(text), err == nil
}

func TestBudgets(t *testing.T) {
	const plenty, tight = "yardstick 100\ndefault 60\n", "yardstick 100\ndefault 60\nbusy 0.0001\n"
	out, ok := budgeted(t, plenty, "./...")
	if !ok || !strings.Contains(out, "ok  \tm/busy") || !strings.Contains(out, " 60 busy\n") || !strings.Contains(out, " 2 packages") {
		t.Errorf("within the budget: %v\n%s", ok, out)
	}
	if strings.Index(out, " 60 busy\n") > strings.Index(out, " 60 lazy\n") {
		t.Errorf("the longest is not first:\n%s", out)
	}
	if out, ok = budgeted(t, tight, "./..."); ok || !strings.Contains(out, "busy  over twice its budget") || !strings.Contains(out, "budget: more than twice the budget: [busy]") {
		t.Errorf("over the budget: %v\n%s", ok, out)
	}
	t.Setenv("LAZY_FAILS", "1")
	if out, ok = budgeted(t, plenty, "./..."); ok || !strings.Contains(out, "FAIL\tm/lazy") || !strings.Contains(out, " 2 packages") {
		t.Errorf("a test that fails: %v\n%s", ok, out)
	}
}

// On a machine that is half as fast everything may take twice as long. Packages without a line have the default.
func TestScale(t *testing.T) {
	b, err := parseBudgets("# head\nyardstick 100 # ms\n\ndefault 60\nengine 10\n")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	at := func(pkg string, user, system, stick int) measured {
		return measured{filepath.Join(root, pkg), time.Duration(user) * time.Second, time.Duration(system) * time.Second, time.Duration(stick) * time.Millisecond}
	}
	for _, c := range []struct {
		name string
		list []measured
		want []string
	}{
		{"within", []measured{at("engine", 12, 8, 100), at("engine/sim", 120, 0, 100)}, nil},
		{"system time counts", []measured{at("engine", 12, 9, 100), at("engine/sim", 1, 0, 100)}, []string{"engine"}},
		{"default", []measured{at("engine", 1, 0, 100), at("engine/sim", 121, 0, 100)}, []string{"engine/sim"}},
		{"slow", []measured{at("engine", 39, 0, 200), at("engine/sim", 1, 0, 200)}, nil},
		{"fast", []measured{at("engine", 11, 0, 50), at("engine/sim", 61, 0, 50)}, []string{"engine/sim", "engine"}},
		{"one slow yardstick", []measured{at("engine", 21, 0, 900), at("engine/sim", 1, 0, 100), at("", 1, 0, 100)}, []string{"engine"}},
	} {
		var w bytes.Buffer
		if over := b.print(&w, c.list); !slices.Equal(over, c.want) {
			t.Errorf("%s: over are %v, want %v\n%s", c.name, over, c.want, &w)
		}
	}
}

func TestBudgetsAreRead(t *testing.T) {
	for text, want := range map[string]string{ // order-free: each is read by itself
		"yardstick 100\ndefault 60\nengine\n":      `line 3: "engine" is not a name and a number`,
		"yardstick 100\ndefault 60\nengine x\n":    "line 3: x is not a positive number",
		"yardstick 100\ndefault NaN\n":             "line 2: NaN is not a positive number",
		"yardstick 100\ndefault 60\na 1\nb 2\na 3": "line 5: a second line for a",
		"yardstick 100\nyardstick 100\n":           "line 2: a second line for yardstick",
		"default 60\n":                             "a line is missing: yardstick and default are required",
	} {
		if _, err := parseBudgets(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	text, err := os.ReadFile("budgets.txt")
	if err != nil {
		t.Fatal(err)
	}
	b, err := parseBudgets(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for name := range b.of { // order-free: each by itself
		if files, _ := filepath.Glob(filepath.Join("../../..", name, "*_test.go")); len(files) == 0 {
			t.Errorf("budgets.txt: %s has no tests", name)
		}
	}
}

// The yardstick is the same computation each time.
func TestYardstick(t *testing.T) {
	if a, b := work(1000), work(1000); a != b || a == work(1001) {
		t.Errorf("%x, %x", a, b)
	}
}
