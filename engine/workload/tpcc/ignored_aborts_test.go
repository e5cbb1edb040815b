package tpcc

import (
	"strings"
	"testing"

	"drtmx/engine/protocol/occ"
	"drtmx/engine/workload/workloadtest"
)

// TestIgnoredAborts: the released code's switch loses updates, and both checkers
// say so: that of the history and the consistency conditions.
func TestIgnoredAborts(t *testing.T) {
	for _, preset := range occ.PresetNames() {
		t.Run(preset, func(t *testing.T) {
			cfg, _ := occ.Preset(preset)
			cfg.IgnoresAborts = true
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
