package cluster

import (
	"context"
	"strings"
	"testing"
	"time"

	"drtmx/engine/txn"
	"drtmx/engine/workload/smallbank"
)

// lossy is a transaction of the user's that is as isolated as any, and wrong: its money is gone.
func lossy(tx *txn.Tx) error {
	v, err := tx.GetInt(smallbank.Savings, 7)
	if err != nil {
		return err
	}
	return tx.PutInt(smallbank.Savings, 7, v-1)
}

func TestFinishChecksWhatWaitsForRest(t *testing.T) {
	good, bad := Up(tiny()), Up(tiny())
	bad.AddTransaction("lossy", 50, lossy)
	bad.Run(200 * time.Microsecond)
	running := good.Run(200 * time.Microsecond)
	if len(running.Raw.Checks.Invariants) != 0 || !strings.Contains(running.Checks().String(), "Finish") {
		t.Errorf("while it runs: %s", running.Checks())
	}
	end := good.Finish()
	if k := end.Checks(); !k.OK() || !k.Raw.Invariants["smallbank.total"] || !k.Raw.Invariants["replicas.equal"] || strings.Contains(k.String(), "Finish") {
		t.Errorf("%s", k)
	}
	if end.Throughput != running.Throughput || len(end.Windows) == 0 {
		t.Errorf("%.0f/s in %d windows, the run had %.0f/s", end.Throughput, len(end.Windows), running.Throughput)
	}
	fails(t, "closed", func() { good.Run(time.Microsecond) })
	fails(t, "closed", func() { good.Finish() })
	if k := bad.Finish().Checks(); k.OK() || !strings.Contains(k.String(), "smallbank.total VIOLATED") {
		t.Errorf("money was lost: %s", k)
	}
}

// A fork that is finished leaves its origin as it is, and its session is one up to the drain.
func TestFinishOfAFork(t *testing.T) {
	c := Up(tiny())
	defer c.Close()
	c.Run(100 * time.Microsecond)
	f := c.Fork(Knobs{"coroutines": 1})
	f.Run(100 * time.Microsecond)
	if k := f.Finish().Checks(); !k.OK() {
		t.Errorf("%s", k)
	}
	if c.Run(100*time.Microsecond).Raw.Commits == 0 {
		t.Error("the origin stands still")
	}
}

func TestFinishEndsWithItsContext(t *testing.T) {
	c := Up(tiny())
	defer c.Close()
	c.Run(100 * time.Microsecond)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Client().WithContext(ctx).Finish(); err == nil {
		t.Error("finished after its context had ended")
	}
	c.Reset(nil)
	if k := c.Finish().Checks(); !k.OK() {
		t.Errorf("after a reset: %s", k)
	}
}

// A drain that is given up is a result whose checks are incomplete, and no cell that fails.
func TestFinishOfADrainThatIsGivenUp(t *testing.T) {
	spec := tiny()
	spec.Set["drain_ns"] = "1us"
	c := Up(spec)
	running := c.Run(200 * time.Microsecond)
	end := c.Finish()
	if k := end.Checks(); k.OK() || k.Raw.Failed() || !strings.Contains(k.String(), "undecided: the drain was given up after 0.001 ms") || !strings.Contains(end.HTML(), "the drain was given up") {
		t.Errorf("%s", k)
	}
	if end.Throughput != running.Throughput {
		t.Errorf("%.0f/s, the run had %.0f/s", end.Throughput, running.Throughput)
	}
}
