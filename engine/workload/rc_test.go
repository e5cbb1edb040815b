package workload_test

import (
	"testing"

	"drtmx/engine/protocol/occ"
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
