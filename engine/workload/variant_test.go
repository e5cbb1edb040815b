package workload_test

import (
	"strings"
	"testing"

	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

// TestPlantedBugs: each is caught, and by what it is.
func TestPlantedBugs(t *testing.T) {
	for _, bug := range []struct {
		variant txn.Variant
		presets []string
		kinds   []string // one of them must be among the complaints
	}{
		{txn.SkipVersionCheck, []string{"drtm+r", "drtm+h", "farm", "fasst"}, []string{"lost-update", "duplicate-version", "G-single", "G2"}},
		{txn.UnlockBeforeWriteBack, []string{"drtm+r", "drtm+h"}, []string{"lost-update", "duplicate-version", "G-single", "G2", "real-time"}},
		{txn.SequenceNotAdvanced, []string{"drtm+r", "drtm+h", "farm", "fasst"}, []string{"duplicate-version"}},
		{txn.CommitBeforeLog, []string{"drtm+r", "drtm+h", "farm", "fasst"}, []string{txn.LogMissing}},
		{txn.CASIgnoresExpected, []string{"drtm+r", "drtm+h", "farm", "fasst"}, []string{"lost-update", "duplicate-version"}},
		{txn.UnlockNotWon, []string{"drtm+r", "drtm+h", "farm", "fasst"}, []string{"lost-update", "duplicate-version"}},
		{txn.AsPublished, []string{"drtm+r", "drtm+h", "farm", "fasst"}, []string{"duplicate-version"}},
	} {
		for _, preset := range bug.presets {
			cfg, _ := txn.Preset(preset)
			cfg.Variant = bug.variant
			t.Run(bug.variant.String()+"/"+preset, func(t *testing.T) { caught(t, cfg, bug.kinds, bank, ring) })
		}
	}
}

// caught runs workloads until a complaint is of one of the kinds.
func caught(t *testing.T, cfg txn.Config, kinds []string, benches ...func(testing.TB) workload.Bench) {
	var all []string
	for seed := uint64(1); seed <= 8; seed++ {
		for _, bench := range benches {
			w := bench(t)
			_, bad := stress(t, cfg, shapes[0], seed, 1500, w)
			for _, text := range bad {
				for _, k := range kinds {
					if strings.HasPrefix(text, k+":") {
						t.Logf("%s, seed %d: %s", w.Name(), seed, text)
						return
					}
				}
			}
			all = append(all, bad...)
		}
	}
	t.Fatalf("not caught as one of %v; complaints: %s", kinds, strings.Join(all, "\n"))
}
