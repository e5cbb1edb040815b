package tpcc

import (
	"testing"

	"drtmx/engine/protocol/occ"
	"drtmx/engine/sim"
	"drtmx/engine/txn"
	"drtmx/engine/workload/workloadtest"
)

// TestCheckOnline: condition 1 holds at every moment of a run, whoever is in flight and
// with whatever primitives, and a cent that gets lost is seen long before the drain.
func TestCheckOnline(t *testing.T) {
	for i, preset := range occ.PresetNames() {
		t.Run(preset, func(t *testing.T) {
			cfg, _ := occ.Preset(preset)
			bed, b := workloadtest.Open(t, i, cfg, New, tiny())
			defer bed.Close()
			var free, held, changed int
			for range 2_000 {
				if err := bed.Run(sim.Microsecond); err != nil {
					t.Fatal(err)
				}
				for w := range b.warehouses {
					if ytd, _, ok := b.takings(w); !ok {
						held++
					} else if free++; ytd != b.initialWarehouseYTD() {
						changed++
					}
				}
				for _, inv := range b.CheckOnline() {
					if inv.Name != "tpcc.1" || !inv.OK {
						t.Fatalf("%+v", inv)
					}
				}
			}
			t.Logf("warehouses were free %d times, %d of them changed, and held %d times", free, changed, held)
			if changed == 0 || held == 0 {
				t.Errorf("a path was never taken: free %d, changed %d, held %d", free, changed, held)
			}
			if err := b.AddTransaction("rogue", 10, func(tx *txn.Tx) error {
				return change(tx, Warehouse, 0, func(v []byte) { put48(v[wYTD:], i48(v[wYTD:])+1) })
			}); err != nil {
				t.Fatal(err)
			}
			for range 5_000 {
				if list := b.CheckOnline(); len(list) == 1 && !list[0].OK {
					return
				}
				if err := bed.Run(sim.Microsecond); err != nil {
					t.Fatal(err)
				}
			}
			t.Errorf("a warehouse that takes cents of nobody is not seen: %d commits by type %v", bed.Commits, bed.ByType)
		})
	}
}
