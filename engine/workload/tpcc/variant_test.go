package tpcc

import (
	"strings"
	"testing"

	"drtmx/engine/occ"
	"drtmx/engine/replication"
	"drtmx/engine/workload/workloadtest"
)

// TestIgnoredAborts: the released code's switch loses updates, and both checkers
// say so: that of the history and the consistency conditions.
func TestIgnoredAborts(t *testing.T) {
	for _, preset := range occ.PresetNames() {
		t.Run(preset, func(t *testing.T) {
			cfg, _ := occ.Preset(preset)
			cfg.Variant = occ.IgnoreAborts
			o := tiny()
			o.NewOrderOnly = true
			b, _ := workloadtest.Open(t, 0, cfg, New, o)
			bad := strings.Join(b.Stress(500), "\n")
			if b.Attempts != b.Commits+b.Rollbacks {
				t.Errorf("%d attempts, %d commits, %d rollbacks: nothing should abort", b.Attempts, b.Commits, b.Rollbacks)
			}
			for _, want := range []string{"tpcc.", "duplicate-version"} {
				if !strings.Contains(bad, want) {
					t.Errorf("no complaint of %s in:\n%s", want, bad)
				}
			}
		})
	}
}

// TestPlantedBugs: faults of the protocol show in the history and in the
// conditions of all five transactions.
func TestPlantedBugs(t *testing.T) {
	for _, bug := range []struct {
		variant occ.Variant
		kinds   []string // all of them must be among the complaints
	}{
		{occ.SkipVersionCheck, []string{"tpcc.", "duplicate-version"}},
		{occ.CommitBeforeLog, []string{replication.Missing}},
		{occ.CASIgnoresExpected, []string{"tpcc.", "duplicate-version", "lost-update"}},
	} {
		cfg, _ := occ.Preset("drtm+h")
		cfg.Variant, cfg.MaxAttempts = bug.variant, 500
		b, _ := workloadtest.Open(t, 0, cfg, New, tiny())
		bad := strings.Join(b.Stress(1_000), "\n")
		for _, want := range bug.kinds {
			if !strings.Contains(bad, want) {
				t.Errorf("%s: no complaint of %s in:\n%s", bug.variant, want, bad)
			}
		}
	}
}
