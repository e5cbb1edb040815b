package workload_test

import (
	"strings"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/history"
	"drtmx/engine/metrics"
	"drtmx/engine/protocol/rococo"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
	"drtmx/engine/workload/registers"
	"drtmx/engine/workload/workloadtest"
)

// few is registers of which there are so few that transactions always meet.
func few(t testing.TB, keys uint64) workload.Bench {
	w, err := registers.New(registers.Options{Keys: keys, Reads: 2, Writes: 2, Remote: registers.Anywhere})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestRococoManyEdges: messages that have room for a handful of edges, where up to forty transactions come before one: the rest
// goes in more of them.
func TestRococoManyEdges(t *testing.T) {
	commits := uint64(1_500)
	if testing.Short() {
		commits = 300
	}
	for _, cfg := range []rococo.Config{rococo.Default(), dated()} {
		n := calls{by: map[string]int{}}
		for shape := range 3 {
			o := workloadtest.Small(cfg)
			shapes[shape](&o)
			o.Message, o.Coroutines = 128, 12
			w, err := registers.New(registers.Options{Keys: 5, Reads: 4, Writes: 1, Remote: registers.Anywhere})
			if err != nil {
				t.Fatal(err)
			}
			b := workloadtest.New(t, o, w)
			n.b = b
			b.Cluster.Observe(n)
			if bad := b.Stress(commits); len(bad) > 0 {
				t.Fatalf("shape %d, timestamps %q:\n%s", shape, cfg.Timestamps.Scheme, strings.Join(bad, "\n"))
			}
			b.Close()
		}
		for _, rpc := range []string{"rococo.more", "rococo.before"} {
			if n.by[rpc] == 0 {
				t.Errorf("timestamps %q: no %s", cfg.Timestamps.Scheme, rpc)
			}
		}
	}
}

// calls counts RPCs by name.
type calls struct {
	b  *workloadtest.Bed
	by map[string]int
}

func (calls) Phase(uint32, r2.Time, metrics.Phase) {}

func (x calls) Verb(v *r2.VerbEvent) {
	if v.Op == fabric.Send {
		x.by[x.b.Cluster.RPCName(v.RPC)]++
	}
}

// TestRococoNeverAborts: a read-write transaction commits at its first attempt, however many meet (thesis §5.3.2: conflicting
// transactions are reordered); read-only ones are what is tried again.
func TestRococoNeverAborts(t *testing.T) {
	for _, w := range []workload.Bench{few(t, 8), company(t)} {
		o := workloadtest.Small(rococo.Default())
		b := workloadtest.New(t, o, w)
		again := 0
		b.OnDone = func(o *txn.Outcome) {
			switch {
			case o.Attempts > 1 && !o.ReadOnly:
				t.Errorf("%s: a read-write transaction took %d attempts", w.Name(), o.Attempts)
			case o.Attempts > 1:
				again++
			}
		}
		if bad := b.Stress(800); len(bad) > 0 {
			t.Errorf("%s:\n%s", w.Name(), strings.Join(bad, "\n"))
		}
		if again == 0 {
			t.Errorf("%s: no read-only transaction met others", w.Name())
		}
		b.Close()
	}
}

// TestRococoMessages: one message per server and step, one to commit; and where transactions never meet, nobody is asked.
func TestRococoMessages(t *testing.T) {
	w, err := registers.New(registers.Options{Keys: 4_000, Reads: 1, Writes: 3, Remote: registers.Anywhere})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Set("mix.read-only", 0); err != nil {
		t.Fatal(err)
	}
	if err := w.Set("mix.read-one", 0); err != nil {
		t.Fatal(err)
	}
	b := workloadtest.New(t, workloadtest.Setup{Machines: 5, Threads: 1, Coroutines: 1, Seed: 3, Txn: rococo.Default(), Mode: history.Full}, w)
	one := 0
	b.OnDone = func(o *txn.Outcome) {
		switch start, commit := o.RoundTrips[txn.Execution], o.RoundTrips[txn.Commit]; {
		case start == 1 && commit == 1:
			one++
		case start != 0 || commit != 1: // the own machine's pieces start by a procedure call
			t.Errorf("%d round trips to start, %d to commit", start, commit)
		}
	}
	if bad := b.Stress(300); len(bad) > 0 {
		t.Error(strings.Join(bad, "\n"))
	}
	if one < 200 {
		t.Errorf("%d transactions of 300 had a round trip to start", one)
	}
}

// TestRococoRefuses: what a transaction in pieces must not do ends it, with a reason.
func TestRococoRefuses(t *testing.T) {
	op := txn.NewOp(txn.Op{Name: "test.immediate", Immediate: true, Writes: true, F: func(value, _, _ []byte) { value[0]++ }})
	for name, x := range map[string]struct { // order-free: each by itself
		body func(tx *txn.Tx) error
		want string
	}{
		"read": {func(tx *txn.Tx) error { _, err := tx.Read(registers.Table, 1); return err }, "outside of a piece"},
		"two immediate ones": {func(tx *txn.Tx) error {
			if _, err := tx.Apply(registers.Table, 1, op, nil); err != nil {
				return err
			}
			_, err := tx.Apply(registers.Table, 2, op, nil)
			return err
		}, "second immediate one"},
		"no such table": {func(tx *txn.Tx) error { _, err := tx.Apply(77, 1, op, nil); return err }, "does not exist"},
		"another server": {func(tx *txn.Tx) error {
			return tx.Whole(0, 0, func(tx *txn.Tx) error { _, err := tx.Read(registers.Table, 1); return err })
		}, "use pieces"},
		"whole and piece": {func(tx *txn.Tx) error {
			if _, err := tx.Apply(registers.Table, 1, op, nil); err != nil {
				return err
			}
			return tx.Whole(0, 0, func(tx *txn.Tx) error { return nil })
		}, "only one"},
		"too late": {func(tx *txn.Tx) error {
			if _, err := tx.Apply(registers.Table, 1, op, nil); err != nil {
				return err
			}
			if err := tx.Step(); err != nil {
				return err
			}
			return tx.Rollback()
		}, "after its pieces have started"},
	} {
		w, err := registers.New(registers.Options{Keys: 40})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.AddTransaction("test", 1, x.body); err != nil {
			t.Fatal(err)
		}
		for _, name := range registers.TypeNames {
			if err := w.Set("mix."+name, 0); err != nil {
				t.Fatal(err)
			}
		}
		b := workloadtest.New(t, workloadtest.Setup{Machines: 3, Threads: 1, Coroutines: 1, Seed: 1, Txn: rococo.Default(), Requests: 1}, w)
		if err := b.Run(sim.Millisecond); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", name, err, x.want)
		}
		b.Close()
	}
}
