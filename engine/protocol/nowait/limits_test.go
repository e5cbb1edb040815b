package nowait

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"drtmx/engine/coordinator"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/txn/txntest"

	"pgregory.net/rapid"
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

// TestRefusals: what a transaction cannot do is refused in one line, nothing
// stays locked, and the next one works.
func TestRefusals(t *testing.T) {
	for _, cfg := range choices() {
		for _, c := range []struct {
			name string
			ro   bool
			body func(*txn.Tx) error
			want string
		}{
			{"log entry", false, write(0, 1, 2, 3, 4, 5, 6, 9, 12, 15), "log entry"},
			{"no table", false, func(tx *txn.Tx) error { _, err := tx.Read(9, 1); return err }, "table 9 does not exist: the tables are 1 t"},
			{"no key", false, func(tx *txn.Tx) error { write(1)(tx); _, err := tx.Read(1, 1000); return err }, "key not found"},
			{"no such wide key", false, write(4, 1<<60+1), "key 1152921504606846977 of table t: key not found"},
			{"no key of 56 bits", false, write(4, 1<<55+4), "key not found"},
			{"read-only", true, write(1), "read-only"},
			{"rollback", false, func(tx *txn.Tx) error { write(1)(tx); return tx.Rollback() }, txn.ErrRollback.Error()},
			{"dropped rollback", false, func(tx *txn.Tx) error { write(1)(tx); tx.Rollback(); return nil }, txn.ErrRollback.Error()},
			{"own error", false, func(tx *txn.Tx) error { write(1)(tx); return errors.New("mine") }, "mine"},
			{"never awaited", false, func(tx *txn.Tx) error { tx.Fetch(1, 1); tx.Fetch(1, 2); return errors.New("mine") }, "mine"},
		} {
			t.Run(cfg.Mode.String()+"/"+cfg.Lock.String()+"/"+c.name, func(t *testing.T) {
				onClient(t, cfg, store.Spec{ID: 1, Name: "t", ValueBytes: 400, Aligned: true}, func(cl *txn.Client) {
					if err := cl.Run(0, c.ro, c.body); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
						t.Errorf("error %v, want %q in one line", err, c.want)
					}
					if err := cl.Run(0, false, write(1, 2)); err != nil {
						t.Errorf("the next transaction: %v", err)
					}
				})
			})
		}
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

// TestReadYourWrites: a transaction sees its own writes, others only the
// committed.
func TestReadYourWrites(t *testing.T) {
	for _, cfg := range choices() {
		onClient(t, cfg, small, func(cl *txn.Client) {
			err := cl.Run(0, false, func(tx *txn.Tx) error {
				f := tx.Fetch(1, 7)
				for _, k := range []uint64{5, 6} { // of another machine, and of the own one
					if err := tx.PutInt(1, k, 42); err != nil {
						return err
					}
					if v, err := tx.GetInt(1, k); v != 42 || err != nil {
						t.Errorf("own write reads %d, %v", v, err)
					}
				}
				if v, err := f.Int(); v != 70 || err != nil {
					t.Errorf("record 7 reads %d, %v", v, err)
				}
				_, err := f.Update()
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			err = cl.Run(0, true, func(tx *txn.Tx) error {
				for _, k := range []uint64{5, 6} {
					if v, err := tx.GetInt(1, k); v != 42 || err != nil {
						t.Errorf("read back %d, %v", v, err)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestInsertMutableConstant: what a table declares of its values is held to; of a constant one
// nothing is locked.
func TestInsertMutableConstant(t *testing.T) {
	for _, cfg := range choices() {
		constant, partly := small, small
		constant.Constant, partly.Mutable = true, 8
		onClient(t, cfg, constant, func(cl *txn.Client) {
			locks := cl.DB().Locks().All
			for _, key := range []uint64{3, 4} { // of the own machine, and of another
				err := cl.Run(0, true, func(tx *txn.Tx) error {
					v, err := tx.GetInt(1, key)
					if err == nil && v != int64(10*key) {
						t.Errorf("constant record %d reads %d", key, v)
					}
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
			if n := cl.DB().Locks().All - locks; n != 0 {
				t.Errorf("%d locks for constant records", n)
			}
		})
		onClient(t, cfg, partly, func(cl *txn.Client) {
			err := cl.Run(0, false, func(tx *txn.Tx) error {
				for _, key := range []uint64{3, 4} {
					v, err := tx.Update(1, key)
					if err != nil {
						return err
					}
					if len(v) != 8 {
						t.Errorf("%d bytes to write, want the mutable 8", len(v))
					}
					v[0] = 99
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		onClient(t, cfg, small, func(cl *txn.Client) {
			err := cl.Run(0, false, func(tx *txn.Tx) error {
				if err := tx.Inserts(txn.Ref{Table: 1, Key: 3}, txn.Ref{Table: 1, Key: 4}, txn.Ref{Table: 1, Key: 5}); err != nil {
					return err
				}
				for _, key := range []uint64{3, 4} { // and not 5
					v, err := tx.Insert(1, key)
					if err != nil {
						return err
					}
					v[15] = 7
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			value := make([]byte, 16)
			for _, key := range []uint64{3, 4} {
				if free, ok := cl.DB().Value(1, key, value); !free || !ok || value[15] != 7 {
					t.Errorf("inserted record %d is %v, free %v", key, value, free)
				}
			}
		})
	}
}

// growing is small with room for records that are not there from the start: those from keys on.
func growing() store.Spec {
	spec := small
	spec.Spare = 8
	return spec
}

// TestInsertDelete: a transaction sees what it has inserted and deleted itself, and others what is
// committed.
func TestInsertDelete(t *testing.T) {
	for _, cfg := range choices() {
		onClient(t, cfg, growing(), func(cl *txn.Client) {
			const here, there = keys + 60, keys + 61 // of the own machine, and of another
			insert := func(tx *txn.Tx, key, v uint64) error {
				value, err := tx.Insert(1, key)
				if err == nil {
					binary.LittleEndian.PutUint64(value, v)
				}
				return err
			}
			for round := range uint64(4) { // from the second on in rows that were used before
				err := cl.Run(0, false, func(tx *txn.Tx) error {
					for _, key := range []uint64{here, there} {
						if _, err := tx.Read(1, key); round%2 == 0 && !errors.Is(err, txn.ErrNotFound) {
							t.Errorf("round %d: %d is not missing: %v", round, key, err)
						}
						if err := insert(tx, key, round); err != nil {
							return err
						}
						if v, err := tx.GetInt(1, key); v != int64(round) || err != nil {
							t.Errorf("own insert reads %d, %v", v, err)
						}
						if err := insert(tx, key, 9); !errors.Is(err, txn.ErrExists) {
							t.Errorf("a second insert: %v", err)
						}
					}
					return tx.Delete(1, 1)
				})
				if err != nil {
					t.Fatal(err)
				}
				err = cl.Run(0, false, func(tx *txn.Tx) error {
					if _, err := tx.Read(1, 1); !errors.Is(err, txn.ErrNotFound) {
						t.Errorf("a deleted record: %v", err)
					}
					if err := insert(tx, 1, 5); err != nil {
						return err
					}
					for _, key := range []uint64{here, there} {
						if v, err := tx.GetInt(1, key); v != int64(round) || err != nil {
							t.Errorf("an inserted record reads %d, %v", v, err)
						}
						if err := tx.Delete(1, key); err != nil {
							return err
						}
						if _, err := tx.Read(1, key); !errors.Is(err, txn.ErrNotFound) {
							t.Errorf("own delete reads %v", err)
						}
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestRowsAgainstMap: see txntest.AgainstMap.
func TestRowsAgainstMap(t *testing.T) {
	txntest.AgainstMap(t, func(t *rapid.T) txn.Config {
		cfg := rapid.SampledFrom(choices()).Draw(t, "choice")
		cfg.CacheEnabled = rapid.Bool().Draw(t, "cache")
		return cfg
	})
}

// TestDeletedInsert: an insert that did not look is told that the record exists, also if the body deletes it again.
func TestDeletedInsert(t *testing.T) {
	for _, cfg := range choices() {
		onClient(t, cfg, growing(), func(cl *txn.Client) {
			for _, key := range []uint64{keys + 60, keys + 61} {
				insert := func(tx *txn.Tx) error { _, err := tx.Insert(1, key); return err }
				both := func(tx *txn.Tx) error {
					if err := insert(tx); err != nil {
						return err
					}
					return tx.Delete(1, key)
				}
				if err := cl.Run(0, false, both); err != nil {
					t.Errorf("%d inserted and deleted: %v", key, err)
				}
				if err := cl.Run(0, false, insert); err != nil {
					t.Fatal(err)
				}
				if err := cl.Run(0, false, both); !errors.Is(err, txn.ErrExists) {
					t.Errorf("%d, which exists, inserted and deleted: %v", key, err)
				}
			}
		})
	}
}

// TestNoGapLeft: no lock of a gap is left behind, which would be found at rest.
func TestNoGapLeft(t *testing.T) {
	for _, cfg := range choices() {
		bad := run(t, r2.Config{Threads: 1}, txn.Options{Config: cfg}, growing(), func(cl *txn.Client) {
			cl.Run(0, false, func(tx *txn.Tx) error { _, err := tx.Read(1, keys+1); return err })
		})
		if len(bad) > 0 {
			t.Errorf("%v %v: %q", cfg.Mode, cfg.Lock, bad)
		}
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
