package nowait

import (
	"encoding/binary"
	"strings"
	"testing"

	"drtmx/engine/coordinator"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/txn/txntest"
)

// small is a table of short records.
var small = store.Spec{ID: 1, Name: "t", ValueBytes: 16, Init: func(key uint64, v []byte) { binary.LittleEndian.PutUint64(v, 10*key) }}

const keys = 60

// onClient runs body on one coroutine of machine 0 of a small cluster.
func onClient(t testing.TB, cfg txn.Config, spec store.Spec, body func(cl *txn.Client)) {
	t.Helper()
	onCluster(t, r2.Config{Threads: 1}, txn.Options{Config: cfg}, spec, body)
}

func onScaled(t testing.TB, scale txn.Scale, cfg txn.Config, spec store.Spec, body func(cl *txn.Client)) {
	t.Helper()
	onCluster(t, r2.Config{Threads: 1}, txn.Options{Config: cfg, Scale: scale}, spec, body)
}

func onCluster(t testing.TB, frame r2.Config, o txn.Options, spec store.Spec, body func(cl *txn.Client)) {
	t.Helper()
	if bad := run(t, frame, o, spec, body); len(bad) > 0 {
		t.Error(strings.Join(bad, "\n"))
	}
}

// run is onCluster that returns what the checkers find at the end.
func run(t testing.TB, frame r2.Config, o txn.Options, spec store.Spec, body func(cl *txn.Client)) (bad []string) {
	t.Helper()
	return txntest.Run(t, frame, o, spec, store.Stripes(txntest.Machines, keys), func(_ *r2.Co, cl *txn.Client) { body(cl) })
}

// choices are both primitives in both modes.
func choices() []Config {
	var out []Config
	for _, mode := range []Mode{Exclusive, Shared} {
		for _, prim := range []Prim{OneSided, TwoSided} {
			c := Default()
			c.Mode, c.Lock, c.Speculative = mode, prim, true
			out = append(out, c)
		}
	}
	return out
}

func write(keys ...uint64) func(*txn.Tx) error {
	return func(tx *txn.Tx) error {
		for _, k := range keys {
			if _, err := tx.Update(1, k); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestLongLogEntry: what no log entry carries is refused in one line, nothing stays locked, and the next transaction works.
func TestLongLogEntry(t *testing.T) {
	for _, cfg := range choices() {
		onClient(t, cfg, store.Spec{ID: 1, Name: "t", ValueBytes: 400, Aligned: true}, func(cl *txn.Client) {
			if err := cl.Run(0, false, write(0, 1, 2, 3, 4, 5, 6, 9, 12, 15)); err == nil || !strings.Contains(err.Error(), "log entry") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v %v: error %v, want one about the log entry", cfg.Mode, cfg.Lock, err)
			}
			if err := cl.Run(0, false, write(1, 2)); err != nil {
				t.Errorf("%v %v: the next transaction: %v", cfg.Mode, cfg.Lock, err)
			}
		})
	}
}

// TestManyRecords: what does not fit into one message goes in several, and a record that fits into
// none is refused.
func TestManyRecords(t *testing.T) {
	for _, cfg := range choices() {
		cfg.Replicas = 1
		spec := store.Spec{ID: 1, Name: "t", ValueBytes: 200}
		body := func(tx *txn.Tx) error {
			var refs []txn.Ref
			for k := range uint64(30) {
				refs = append(refs, txn.Ref{Table: 1, Key: k})
			}
			if err := tx.Prefetch(refs...); err != nil {
				return err
			}
			return write(3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)(tx)
		}
		onCluster(t, r2.Config{Threads: 1, MaxMessage: 512}, txn.Options{Config: cfg}, spec, func(cl *txn.Client) {
			for range 3 {
				if err := cl.Run(0, false, body); err != nil {
					t.Errorf("%v %v: %v", cfg.Mode, cfg.Lock, err)
				}
			}
		})
		if cfg.Lock != TwoSided {
			continue
		}
		onCluster(t, r2.Config{Threads: 1, MaxMessage: 256}, txn.Options{Config: cfg}, store.Spec{ID: 1, Name: "t", ValueBytes: 300}, func(cl *txn.Client) {
			if err := cl.Run(0, false, write(1)); err == nil || !strings.Contains(err.Error(), "use the one-sided primitive") {
				t.Errorf("%v: error %v", cfg.Mode, err)
			}
		})
	}
}

// TestNoAllocation: in steady state a transaction allocates nothing.
func TestNoAllocation(t *testing.T) {
	for _, cfg := range choices() {
		onClient(t, cfg, small, func(cl *txn.Client) {
			cl.DB().Book().Close() // the checker's own memory grows
			key := uint64(0)
			body := func(tx *txn.Tx) error {
				for i := range uint64(3) {
					v, err := tx.GetInt(1, key+i)
					if err != nil {
						return err
					}
					if err := tx.PutInt(1, key+i, v+1); err != nil {
						return err
					}
				}
				_, err := tx.GetInt(1, key+3)
				return err
			}
			once := func() {
				key = (key + 3) % 50
				if err := cl.Run(0, false, body); err != nil {
					t.Error(err)
				}
			}
			for range 500 {
				once()
			}
			if n := testing.AllocsPerRun(200, once); n > 0 {
				t.Errorf("%v %v: %.1f allocations per transaction", cfg.Mode, cfg.Lock, n)
			}
		})
	}
}

// TestScale: each cost changes how long a transaction takes, and those that are longer make it longer.
func TestScale(t *testing.T) {
	run := func(scale txn.Scale) (took r2.Time) {
		onScaled(t, scale, Default(), small, func(cl *txn.Client) {
			var o txn.Outcome
			cl.DB().Options().OnDone = func(_, _ int, out *txn.Outcome) { o = *out }
			if err := cl.Run(0, false, write(1, 2, 4)); err != nil {
				t.Fatal(err)
			}
			took = o.End - o.Begin
		})
		return took
	}
	as := run(nil)
	for _, cost := range coordinator.LockingCosts() {
		longer := run(func(name string, amount int) int {
			if name == cost.Name {
				return 2 * amount
			}
			return amount
		})
		// What is not on the way of a transaction that is alone changes nothing.
		off := cost.Name == coordinator.CostReclaim || cost.Name == coordinator.CostServeLog || cost.Name == txn.CostBackoff || cost.Name == coordinator.CostFullLog
		if off && longer != as || !off && longer <= as {
			t.Errorf("twice %s: %d ps, as it is %d", cost.Name, longer, as)
		}
	}
}

// BenchmarkTransaction is one transaction of three records after the other, on the host.
func BenchmarkTransaction(b *testing.B) {
	for _, cfg := range choices() {
		b.Run(cfg.Mode.String()+"/"+cfg.Lock.String(), func(b *testing.B) {
			onClient(b, cfg, small, func(cl *txn.Client) {
				cl.DB().Book().Close()
				body := write(1, 2, 3)
				b.ReportAllocs()
				b.ResetTimer()
				for range b.N {
					if err := cl.Run(0, false, body); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}
