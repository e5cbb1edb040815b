package xstore

import "testing"

// Each fault that a checker must find is found: a key is lost, or the audit at rest says that one will be.
func TestPlantedFaults(t *testing.T) {
	busy := mixture
	busy.resize = true
	for _, f := range []struct {
		name  string
		plant func(*planted)
		mode  Mode
		exact bool // lookups do not speculate
	}{
		{"no incarnation check", func(p *planted) { p.noIncarnation = true }, Full, false},
		{"right link not followed", func(p *planted) { p.noRightLink = true }, Full, false},
		{"not found answered after a mismatch", func(p *planted) { p.missAnswered = true }, Full, true},
		{"table not refreshed", func(p *planted) { p.keepTable = true }, Full, false},
		{"old model with new table", func(p *planted) { p.oldModel = true }, Full, false},
		{"old model with new table", func(p *planted) { p.oldModel = true }, Model, false},
		{"one sub-model of a straddling leaf retrained", func(p *planted) { p.oneSubModel = true }, Full, false},
	} {
		t.Run(f.name+"/"+f.mode.String(), func(t *testing.T) {
			for seed := uint64(1); seed <= 40; seed++ {
				b := newBed(t, seed, 1, 2, 2)
				o := Options{SubModels: 12, Slots: 8, Cache: f.mode, Trainers: 2, Speculative: !f.exact, PositionHint: true}
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
