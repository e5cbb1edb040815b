package churn

import (
	"runtime"
	"testing"

	"drtmx/engine/history"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/sim"
	"drtmx/engine/workload/workloadtest"
)

// TestAllocations: inserts, deletes and looks at what is not there take no memory of the host once
// the system is warm, but for what histories remember of deletions. Warm it is late:
// each answer that is kept has notes of conflicts at some time.
func TestAllocations(t *testing.T) {
	for _, preset := range occ.PresetNames() {
		w, err := New(Options{Keys: 40})
		if err != nil {
			t.Fatal(err)
		}
		cfg, _ := occ.Preset(preset)
		s := workloadtest.Small(cfg)
		s.Mode = history.Off
		b := workloadtest.New(t, s, w)
		if err := b.Run(24 * sim.Millisecond); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		commits := b.Commits
		if err := b.Run(3 * sim.Millisecond); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		n := float64(after.Mallocs-before.Mallocs) / float64(b.Commits-commits)
		t.Logf("%s: %.3f allocations in each of %d transactions", preset, n, b.Commits-commits)
		if n > 0.1 {
			t.Errorf("%s: %.2f allocations in a transaction", preset, n)
		}
		b.Close()
	}
}
