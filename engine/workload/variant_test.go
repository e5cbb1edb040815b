package workload_test

import (
	"strings"
	"testing"

	"drtmx/engine/occ"
	"drtmx/engine/replication"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
	"drtmx/engine/workload/churn"
	"drtmx/engine/workload/registers"
	"drtmx/engine/workload/workloadtest"
)

// TestPlantedBugs: each is caught, and by what it is.
func TestPlantedBugs(t *testing.T) {
	for i, bug := range []struct {
		variant occ.Variant
		presets []string
		kinds   []string // one of them must be among the complaints
	}{
		{occ.SkipVersionCheck, []string{"drtm+r", "drtm+h", "farm", "fasst"}, []string{"lost-update", "duplicate-version", "G-single", "G2"}},
		{occ.UnlockBeforeWriteBack, []string{"drtm+r", "drtm+h"}, []string{"lost-update", "duplicate-version", "G-single", "G2", "real-time"}},
		{occ.SequenceNotAdvanced, []string{"drtm+r", "drtm+h", "farm", "fasst"}, []string{"duplicate-version"}},
		{occ.CommitBeforeLog, []string{"drtm+r", "drtm+h", "farm", "fasst"}, []string{replication.Missing}},
		{occ.CASIgnoresExpected, []string{"drtm+r", "drtm+h", "farm", "fasst"}, []string{"lost-update", "duplicate-version"}},
		{occ.UnlockNotWon, []string{"drtm+r", "drtm+h", "farm", "fasst"}, []string{"lost-update", "duplicate-version"}},
		{occ.AsPublished, []string{"drtm+r", "drtm+h", "farm", "fasst"}, []string{"duplicate-version"}},
	} {
		for _, preset := range one(bug.presets, i) {
			cfg, _ := occ.Preset(preset)
			cfg.Variant = bug.variant
			t.Run(bug.variant.String()+"/"+preset, func(t *testing.T) { caught(t, cfg, bug.kinds, bank, ring) })
		}
	}
}

// cells is registers, of which half lie in one line and half straddle two.
func cells(t testing.TB) workload.Bench { return registersOf(t, registers.Options{Keys: 40}) }

// wide is registers of two lines each.
func wide(t testing.TB) workload.Bench {
	return registersOf(t, registers.Options{Keys: 40, ValueBytes: 104})
}

// sixteen is registers of sixteen lines each, of which READs are torn more often.
func sixteen(t testing.TB) workload.Bench {
	return registersOf(t, registers.Options{Keys: 40, ValueBytes: 1000})
}

func registersOf(t testing.TB, o registers.Options) workload.Bench {
	w, err := registers.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestPlantedBugsOfRegisters: what Cycle, SmallBank and TPC-C do not show, registers does, in
// a preset that has the phase at fault. Without the fault nothing is found in such runs.
func TestPlantedBugsOfRegisters(t *testing.T) {
	all := []string{"drtm+r", "drtm+h", "farm", "fasst"}
	for i, bug := range []struct {
		variant occ.Variant
		presets []string
		kinds   []string
	}{
		{occ.ValidateBeforeLock, all, []string{"G2"}},
		{occ.IgnoreLockWord, all, []string{"G2"}},
		{occ.ReadLocked, all, []string{"real-time"}},
		// A CPU takes a row in one piece: fasst has no torn rows, but reads locked ones.
		{occ.ReadTorn, all[:3], []string{"wrong-value", "unknown-version", "registers.whole"}},
		{occ.ReadTorn, all[3:], []string{"real-time"}},
		{occ.CutLog, all, []string{replication.Missing}},
		{occ.CutLogAccepted, all, []string{txn.ReplicaDiverged}},
		{occ.Correct, all, nil},
	} {
		presets := one(bug.presets, i)
		if bug.variant == occ.ReadLocked || bug.variant == occ.CutLogAccepted { // package explore has no script for them
			presets = bug.presets
		}
		for _, preset := range presets {
			cfg, _ := occ.Preset(preset)
			cfg.Variant = bug.variant
			t.Run(bug.variant.String()+"/"+preset, func(t *testing.T) {
				if bug.kinds != nil {
					caught(t, cfg, bug.kinds, cells, wide, sixteen)
					return
				}
				for seed := range workloadtest.Effort(uint64(4), 1) {
					for _, bench := range []func(testing.TB) workload.Bench{cells, wide, sixteen} {
						if _, bad := stress(t, cfg, shapes[0], seed+1, 1500, bench(t)); len(bad) > 0 {
							t.Fatalf("seed %d: %s", seed+1, strings.Join(bad, "\n"))
						}
					}
				}
			})
		}
	}
}

// slots is churn on a few keys, and longSlots with records of two lines.
func slots(t testing.TB) workload.Bench { return churnOf(t, churn.Options{Keys: 24}) }

func longSlots(t testing.TB) workload.Bench {
	return churnOf(t, churn.Options{Keys: 60, ValueBytes: 104})
}

func churnOf(t testing.TB, o churn.Options) workload.Bench {
	w, err := churn.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestPlantedBugsOfChurn: faults of inserts, deletes and reused rows, which other workloads do not show.
func TestPlantedBugsOfChurn(t *testing.T) {
	all := []string{"drtm+r", "drtm+h", "farm", "fasst"}
	for i, bug := range []struct {
		variant occ.Variant
		presets []string
		kinds   []string
	}{
		{occ.InsertUnchecked, all, []string{"G2", "G-single", "churn.pairs"}},
		// In fasst the server's CPU finds the row for every fetch: nobody remembers a location.
		{occ.StaleLocation, all[:3], []string{"churn.whole", "churn.tokens", "unknown-version", "wrong-value"}},
		{occ.IncarnationKept, all, []string{"churn.whole", "churn.tokens", "unknown-version", "wrong-value", "duplicate-version"}},
		{occ.FreedTwice, all, []string{txn.RowsBroken, "churn.whole", "churn.tokens", "unknown-version"}},
		{occ.AbsenceUnchecked, all, []string{"G2", "G-single", "churn.pairs"}},
	} {
		for _, preset := range one(bug.presets, i) {
			cfg, _ := occ.Preset(preset)
			cfg.Variant = bug.variant
			t.Run(bug.variant.String()+"/"+preset, func(t *testing.T) { caught(t, cfg, bug.kinds, slots, longSlots) })
		}
	}
}

// caught runs workloads until a complaint is of one of the kinds.
func caught(t *testing.T, cfg txn.Config, kinds []string, benches ...func(testing.TB) workload.Bench) {
	caughtOn(t, cfg, shapes[0], kinds, benches...)
}

// caughtOn is caught in a deployment.
func caughtOn(t *testing.T, cfg txn.Config, shape func(*workloadtest.Setup), kinds []string, benches ...func(testing.TB) workload.Bench) {
	var all []string
	for seed := uint64(1); seed <= 16; seed++ {
		for _, bench := range benches {
			w := bench(t)
			_, bad := stress(t, cfg, shape, seed, 1500, w)
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
