package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"drtmx/engine/experiment"
)

// TestEstimateOfSnapshots: what a run with versions of records takes of memory is what its estimate says, within a factor of three, and
// versions that are kept for longer take more. The tables are small.
func TestEstimateOfSnapshots(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the command; not in short mode")
	}
	base := experiment.Knobs{"preset": "fasst", "workload": "smallbank", "nodes": 3, "threads": 4, "coroutines": 8, "workload.accounts": 5_000, "check": "sampled", "ts.scheme": "dst", "duration_ns": 5_000_000}
	without := int64(0)
	for _, staleness := range []int{0, 100_000_000} {
		t.Run(fmt.Sprint(staleness), func(t *testing.T) {
			set := maps.Clone(base)
			set["ts.staleness_ns"] = staleness
			e := estimated(t, set, 3)
			if e.MemoryBytes <= without {
				t.Errorf("versions that are kept for longer take no more: %d bytes, %d before", e.MemoryBytes, without)
			}
			without = e.MemoryBytes
		})
	}
}

// TestEstimateOfLargeTables: of large tables a run over kernel TCP touches little, and its estimate says how much, within a factor of two.
// Without versions the rows are short; with old versions in them (ts.inline) they are long.
func TestEstimateOfLargeTables(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the command; not in short mode")
	}
	base := experiment.Knobs{"preset": "fasst", "profile": "vale", "nodes": 3, "threads": 4, "coroutines": 8, "check": "off", "duration_ns": 5_000_000}
	for name, more := range map[string]experiment.Knobs{ // order-free: each is a run of its own
		"smallbank":          {"workload": "smallbank"},
		"smallbank versions": {"workload": "smallbank", "ts.scheme": "dst", "ts.inline": 3},
		"ycsb versions":      {"workload": "ycsb", "workload.keys": 1_000_000, "ts.scheme": "dst", "ts.inline": 3},
	} {
		t.Run(name, func(t *testing.T) {
			set := maps.Clone(base)
			maps.Copy(set, more)
			if e := estimated(t, set, 2); e.MaxMemoryBytes < 5*e.MemoryBytes {
				t.Errorf("the tables are not large: at most %d bytes, %d at the end of the run", e.MaxMemoryBytes, e.MemoryBytes)
			}
		})
	}
}

// estimated runs the command with these knobs and returns their estimate, which has to be right within a factor.
func estimated(t *testing.T, set experiment.Knobs, factor int64) experiment.Estimate {
	t.Helper()
	args := []string{"run"}
	for knob, x := range set { // order-free: settings of different knobs
		args = append(args, "--set", fmt.Sprintf("%s=%v", knob, x))
	}
	spec, err := experiment.Spec{}.With(set)
	if err != nil {
		t.Fatal(err)
	}
	e, err := experiment.EstimateOf(spec)
	if err != nil {
		t.Fatal(err)
	}
	rss := residentOf(t, args)
	t.Logf("estimated %d MB, at most %d MB; resident %d MB", e.MemoryBytes/1e6, e.MaxMemoryBytes/1e6, rss/1e6)
	if rss > factor*e.MemoryBytes || factor*rss < e.MemoryBytes || e.MaxMemoryBytes < e.MemoryBytes {
		t.Errorf("estimated %d bytes, at most %d, resident %d", e.MemoryBytes, e.MaxMemoryBytes, rss)
	}
	return e
}

// residentOf runs the command and returns its largest resident set.
func residentOf(t *testing.T, args []string) int64 {
	t.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), argsVariable+"="+string(text), "GOGC=100") // as the command runs, whatever the test runs with
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", args, err, out)
	}
	return c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
}
