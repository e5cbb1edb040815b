package workload_test

import (
	"strings"
	"testing"

	"drtmx/engine/protocol/occ"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
	"drtmx/engine/workload/churn"
	"drtmx/engine/workload/registers"
	"drtmx/engine/workload/workloadtest"
)

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

// TestRegisters: registers show what Cycle, SmallBank and TPC-C do not. Nothing is wrong with them in any preset.
func TestRegisters(t *testing.T) {
	for _, preset := range occ.PresetNames() {
		t.Run(preset, func(t *testing.T) {
			cfg, _ := occ.Preset(preset)
			for name, bench := range map[string]func(testing.TB) workload.Bench{"cells": cells, "wide": wide, "sixteen": sixteen} { // order-free: each by itself
				t.Run(name, func(t *testing.T) {
					for seed := range workloadtest.Effort(uint64(4), 1) {
						if _, bad := stress(t, cfg, shapes[0], seed+1, 1500, bench(t)); len(bad) > 0 {
							t.Fatalf("seed %d: %s", seed+1, strings.Join(bad, "\n"))
						}
					}
				})
			}
		})
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
