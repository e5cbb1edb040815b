package workload_test

import (
	"testing"
	"time"

	"drtmx/engine/sim"
	"drtmx/engine/txn"
	"drtmx/engine/workload/cycle"
	"drtmx/engine/workload/smallbank"
)

func TestFirst(t *testing.T) {
	for _, p := range txn.PresetNames() {
		cfg, _ := txn.Preset(p)
		t.Run(p+"/smallbank", func(t *testing.T) {
			w, err := smallbank.New(smallbank.Options{Customers: 200})
			if err != nil {
				t.Fatal(err)
			}
			b, err := newBed(small(cfg), w)
			if err != nil {
				t.Fatal(err)
			}
			defer b.close()
			at := time.Now()
			if err := b.run(5 * sim.Millisecond); err != nil {
				t.Fatal(err)
			}
			check(t, b)
			t.Logf("commits %d rollbacks %d attempts %d ringfull %d wall %v", b.commits, b.rollbacks, b.attempts, w.DB().RingFull(), time.Since(at))
		})
		t.Run(p+"/cycle", func(t *testing.T) {
			w, err := cycle.New(cycle.Options{Keys: 32})
			if err != nil {
				t.Fatal(err)
			}
			b, err := newBed(small(cfg), w)
			if err != nil {
				t.Fatal(err)
			}
			defer b.close()
			at := time.Now()
			if err := b.run(5 * sim.Millisecond); err != nil {
				t.Fatal(err)
			}
			check(t, b)
			t.Logf("commits %d rollbacks %d attempts %d wall %v", b.commits, b.rollbacks, b.attempts, time.Since(at))
		})
	}
}
