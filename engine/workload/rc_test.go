package workload_test

import (
	"strings"
	"testing"

	"drtmx/engine/protocol/occ"
	"drtmx/engine/workload"
	"drtmx/engine/workload/workloadtest"
)

func readCommitted(preset string) occ.Config {
	cfg, _ := occ.Preset(preset)
	cfg.ReadCommitted = true
	return cfg
}

// TestReadCommittedIsFound: what a transaction reads under cc=rc is of different moments, and the checker says so.
func TestReadCommittedIsFound(t *testing.T) {
	for _, preset := range occ.PresetNames() {
		for _, kind := range []string{"G-single", "G2"} {
			t.Run(kind+"/"+preset, func(t *testing.T) { caught(t, readCommitted(preset), []string{kind}, cells) })
		}
		t.Run("pairs/"+preset, func(t *testing.T) { caught(t, readCommitted(preset), []string{"churn.pairs"}, slots) })
	}
}

// TestReadCommittedIsNoWorse: it is read committed. Values are whole, nothing that was not committed is read, no update is lost.
func TestReadCommittedIsNoWorse(t *testing.T) {
	for i, preset := range occ.PresetNames() {
		for _, seed := range workloadtest.Effort([]uint64{0, 1, 2, 3}, []uint64{uint64(i)}) {
			for _, bench := range []func(testing.TB) workload.Bench{bank, ring, cells, wide, sixteen, slots, longSlots} {
				w := bench(t)
				_, bad := stress(t, readCommitted(preset), shapes[seed%uint64(len(shapes))], seed+1, 1500, w)
				for _, text := range bad {
					if kind, _, _ := strings.Cut(text, ":"); kind != "G-single" && kind != "G2" && kind != "real-time" && kind != "churn.pairs" {
						t.Errorf("%s on %s, seed %d: %s", w.Name(), preset, seed+1, text)
					}
				}
			}
		}
	}
}
