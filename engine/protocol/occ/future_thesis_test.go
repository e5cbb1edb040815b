package occ

import (
	"encoding/binary"
	"errors"
	"reflect"
	"testing"

	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
)

// Speculative execution (§4.4.1): records that do not depend on each other are under
// way together until a value is used; without it they are fetched one by one.
func TestFuturesThesis(t *testing.T) {
	spec := store.Spec{ID: 1, Name: "t", ValueBytes: 8, Init: func(key uint64, v []byte) { binary.LittleEndian.PutUint64(v, 10*key) }}
	remote := []uint64{1, 2, 4, 5, 7, 8} // machines 1 and 2
	for _, c := range []struct {
		name                      string
		execution                 Prim
		cache, speculative, touch bool
		trips                     int
	}{
		{"one-sided, cached", OneSided, true, true, true, 1},
		{"one-sided, index first", OneSided, false, true, false, 2},
		{"hybrid, all missed", Hybrid, true, true, false, 1},
		{"two-sided", TwoSided, false, true, false, 1},
		{"one by one", OneSided, true, false, true, 6},
		{"one by one, two-sided", TwoSided, false, false, false, 6},
	} {
		cfg, _ := Preset("drtm+h")
		cfg.Execution, cfg.CacheEnabled, cfg.Speculative = c.execution, c.cache, c.speculative
		onClient(t, cfg, spec, 12, func(co *r2.Co, cl *txn.Client) {
			if c.touch {
				for _, k := range remote {
					cl.DB().Cache(0).Warm(cl.DB().Table(1), k)
				}
			}
			var o txn.Outcome
			cl.DB().Options().OnDone = func(_, _ int, out *txn.Outcome) { o = *out }
			err := cl.Run(0, false, func(tx *txn.Tx) error {
				var fs []txn.Future
				for _, k := range remote {
					fs = append(fs, tx.Fetch(1, k))
				}
				co.Compute(1000) // what does not need them
				sum := int64(0)
				for _, f := range fs {
					v, err := f.Int()
					if err != nil {
						return err
					}
					sum += v
				}
				if sum != 270 {
					t.Errorf("%s: the sum is %d", c.name, sum)
				}
				v, err := fs[0].Update()
				if err == nil {
					binary.LittleEndian.PutUint64(v, 11)
				}
				return err
			})
			if err != nil {
				t.Fatal(c.name, err)
			}
			trips := int(o.RoundTrips[metrics.PhaseOther] + o.RoundTrips[txn.Execution])
			if trips != c.trips {
				t.Errorf("%s: %d round trips of execution, want %d", c.name, trips, c.trips)
			}
			if err := cl.Run(0, false, func(tx *txn.Tx) error {
				if v, err := tx.Fetch(1, 1).Await(); err != nil || v[0] != 11 {
					t.Errorf("%s: after the update %v, %v", c.name, v, err)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Futures that nobody awaits are read all the same, do no harm to the attempt that
// follows a rollback, and say what is wrong with them when they are awaited.
func TestFuturesAbandoned(t *testing.T) {
	spec := store.Spec{ID: 1, Name: "t", ValueBytes: 8, Init: func(key uint64, v []byte) { v[0] = byte(key) }}
	for _, prim := range []Prim{OneSided, TwoSided, Hybrid} {
		cfg, _ := Preset("drtm+h")
		cfg.Execution = prim
		onClient(t, cfg, spec, 12, func(co *r2.Co, cl *txn.Client) {
			waited := false
			cl.DB().Options().OnDone = func(_, _ int, o *txn.Outcome) { waited = o.RoundTrips[txn.Execution] > 0 }
			for i := range 3 {
				err := cl.Run(0, false, func(tx *txn.Tx) error {
					for k := range uint64(9) {
						tx.Fetch(1, k)
					}
					return tx.Rollback()
				})
				if !errors.Is(err, txn.ErrRollback) {
					t.Fatal(err)
				}
				if sent := prim == OneSided || i > 0 && prim == Hybrid; waited != sent {
					t.Errorf("%v: READs under way %v, waited for them %v", prim, sent, waited)
				}
				reads := 0
				err = cl.Run(0, false, func(tx *txn.Tx) error {
					a := tx.Fetch(1, 4)
					tx.Fetch(1, 5)
					tx.Fetch(1, 4)
					v, err := tx.Read(1, 2)
					if err != nil || v[0] != 2 {
						t.Errorf("%v: %v, %v", prim, v, err)
					}
					if v, err = a.Await(); err != nil || v[0] != 4 {
						t.Errorf("%v: %v, %v", prim, v, err)
					}
					reads = reflect.ValueOf(tx).Elem().FieldByName("set").Len()
					return nil
				})
				if err != nil || reads != 3 {
					t.Errorf("%v: %d records, %v", prim, reads, err)
				}
			}
			err := cl.Run(0, false, func(tx *txn.Tx) error {
				_, err := tx.Fetch(9, 1).Await()
				return err
			})
			if err == nil {
				t.Errorf("%v: table 9 exists", prim)
			}
			err = cl.Run(0, false, func(tx *txn.Tx) error {
				_, err := tx.Fetch(1, 1<<40).Await()
				return err
			})
			if !errors.Is(err, txn.ErrNotFound) {
				t.Errorf("%v: %v", prim, err)
			}
		})
	}
}

// RNIC atomics are not atomic with the CPU's, so with one-sided locking a machine locks
// its own records through its RNIC, which costs local transactions round trips (§4.3.2);
// two-sided, they take CPU instructions.
func TestLocalLocksThesis(t *testing.T) {
	spec := store.Spec{ID: 1, Name: "t", ValueBytes: 8}
	latency := map[Prim]r2.Time{}
	for _, lock := range []Prim{OneSided, TwoSided} {
		cfg, _ := Preset("drtm+h")
		cfg.Lock, cfg.Commit, cfg.Replicas = lock, lock, 1
		onClient(t, cfg, spec, 12, func(co *r2.Co, cl *txn.Client) {
			var o txn.Outcome
			cl.DB().Options().OnDone = func(_, _ int, out *txn.Outcome) { o = *out }
			if err := cl.Run(0, false, func(tx *txn.Tx) error {
				_, err := tx.Update(1, 3)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			latency[lock] = o.End - o.Begin
			trips := 0
			for _, n := range o.RoundTrips {
				trips += int(n)
			}
			if want := map[Prim]int{OneSided: 1, TwoSided: 0}[lock]; trips != want {
				t.Errorf("%v: %d round trips of a local transaction, want %d", lock, trips, want)
			}
		})
	}
	if one, two := latency[OneSided], latency[TwoSided]; one < two+1000*r2.Nanosecond {
		t.Errorf("a local transaction takes %d ps with locks of the RNIC, %d with locks of the CPU", one, two)
	}
}
