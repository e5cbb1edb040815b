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

// TestEstimateOfSnapshots: what a run with versions of records takes of memory is what its estimate says, within a factor of three. The
// tables are small: of large ones the estimate has the pages that a guess of the throughput touches.
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
			if rss > 3*e.MemoryBytes || 3*rss < e.MemoryBytes || e.MaxMemoryBytes < e.MemoryBytes {
				t.Errorf("estimated %d bytes, at most %d, resident %d", e.MemoryBytes, e.MaxMemoryBytes, rss)
			}
			if e.MemoryBytes <= without {
				t.Errorf("versions that are kept for longer take no more: %d bytes, %d before", e.MemoryBytes, without)
			}
			without = e.MemoryBytes
		})
	}
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
