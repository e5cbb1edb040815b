package occ

import (
	"testing"

	"drtmx/engine/coordinator"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
)

// The core of a coordinator is busy with the transaction's own program too. With one-sided
// primitives the rest of it is posting.
func TestCoordinatorCycles(t *testing.T) {
	profile, err := profile.Load("val")
	if err != nil {
		t.Fatal(err)
	}
	program := coordinator.ScaledProgram(nil)
	post := r2.Time(profile.CPU.PostWQE.Time())
	remote := []uint64{1, 2, 4} // machines 1 and 2
	cfg, _ := Preset("drtm+r")
	onClient(t, cfg, store.Spec{ID: 1, Name: "t", ValueBytes: 8}, 12, func(c *r2.Co, cl *txn.Client) {
		for written := 1; written <= len(remote); written++ {
			var o txn.Outcome
			cl.DB().Options().OnDone = func(_, _ int, out *txn.Outcome) { o = *out }
			err := cl.Run(0, false, func(tx *txn.Tx) error {
				for _, k := range remote[:written] {
					if err := tx.PutInt(1, k, 7); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			n := r2.Time(written)
			for phase, want := range map[metrics.Phase]r2.Time{ // order-free: each alone
				txn.Lock:   n*2*post + onCore(program.Lock+written*program.LockRecord),
				txn.Commit: n*2*post + onCore(written*program.CommitRecord),
			} {
				if got := o.Breakdown[phase][metrics.Compute]; got != want {
					t.Errorf("%d records: %v computes %d ps, want %d", written, phase, got, want)
				}
			}
			least := onCore(program.Attempt + written*(program.Execution+program.ExecutionRecord))
			if got := o.Breakdown[txn.Execution][metrics.Compute]; got < least {
				t.Errorf("%d records: execution computes %d ps, at least %d are the program's", written, got, least)
			}
		}
	})
}

// onCore is the time of so many cycles at 2.2 GHz.
func onCore(cycles int) r2.Time { return r2.Time(cycles) * 1_000_000 / 2200 }
