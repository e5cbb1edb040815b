package ycsb

import (
	"strings"
	"testing"

	"drtmx/engine/history"
	"drtmx/engine/protocol/nowait"
	"drtmx/engine/workload/workloadtest"
)

// TestNoWait: no-wait locking keeps every invariant too, in both modes and by both primitives. It takes keys in the
// order drawn, which is no order: who meets another one gives up.
func TestNoWait(t *testing.T) {
	commits := workloadtest.Effort(uint64(800), 400)
	if testing.Short() {
		commits = 40
	}
	for i, o := range shapes {
		for _, mode := range []nowait.Mode{nowait.Exclusive, nowait.Shared} {
			for _, prim := range []nowait.Prim{nowait.OneSided, nowait.TwoSided} {
				if !workloadtest.Soak && (i+int(mode)+int(prim))%2 == 1 { // each two of shape, mode and primitive meet, not all three
					continue
				}
				cfg := nowait.Default()
				cfg.Mode, cfg.Lock, cfg.Commit, cfg.Logging = mode, prim, prim, prim
				w, err := New(o)
				if err != nil {
					t.Fatal(err)
				}
				b := workloadtest.New(t, workloadtest.Setup{Machines: 3, Threads: 2, Coroutines: 4, Seed: uint64(i + 1), LossPPM: 10_000, Txn: cfg, Mode: history.Full}, w)
				if bad := b.Stress(commits); len(bad) > 0 {
					t.Errorf("%+v, %v %v: %s", o, mode, prim, strings.Join(bad, "\n"))
				}
				if b.Aborts == 0 {
					t.Errorf("%+v, %v %v: no abort", o, mode, prim)
				}
				b.Close()
			}
		}
	}
}
