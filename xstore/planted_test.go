package xstore

import "testing"

// Each fault that a checker must find is found: a key is lost, or the audit at rest says that one will be.
func TestPlantedFaults(t *testing.T) {
	busy := mixture
	busy.resize = true
	for _, f := range Faults {
		modes := []Mode{Full}
		if f.Name == "old-model-with-new-table" {
			modes = append(modes, Model)
		}
		for _, mode := range modes {
			t.Run(f.Name+"/"+mode.String(), func(t *testing.T) {
				for seed := uint64(1); seed <= 40; seed++ {
					b := newBed(t, seed, 1, 2, 2)
					// Lookups that speculate hardly ever answer after a mismatch.
					o := Options{SubModels: 12, Slots: 8, Cache: mode, Trainers: 2, Speculative: f.Name != "not-found-after-mismatch", PositionHint: true}
					f.plant(&o.planted)
					b.open(busy.keys, 8, o)
					b.play(busy)
					b.settle()
					wrong := len(b.lost())
					b.x.Audit(func(string) { wrong++ })
					b.close()
					if wrong > 0 {
						t.Logf("seed %d: %d", seed, wrong)
						return
					}
				}
				t.Error("not found")
			})
		}
	}
}
