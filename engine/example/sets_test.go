package example

import (
	"errors"
	"strings"
	"testing"

	"drtmx/engine/example/ordered"
	"drtmx/engine/experiment"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/txn/txntest"
)

// A protocol that has to know what transactions touch refuses workloads that do not say so.
func TestSetsAreDemanded(t *testing.T) {
	for _, x := range []struct {
		set  experiment.Knobs
		want string
	}{
		{experiment.Knobs{"workload": "cycle"}, "workload = cycle: cc=ordered has to know all records of a transaction beforehand, and the transactions of workload cycle do not declare them; use a workload whose transactions do, as smallbank, or another cc"},
		{experiment.Knobs{"workload": "script", "workload.script": "r1; w0 f1"}, "workload = script: cc=ordered has to know all records of a transaction beforehand, and step f1 of workload.script depends on what a transaction finds"},
		{experiment.Knobs{"workload": "script"}, ""},
		{experiment.Knobs{"workload": "smallbank"}, ""},
		{experiment.Knobs{"workload": "registers"}, ""},
		{experiment.Knobs{"workload": "ycsb"}, ""},
		{experiment.Knobs{"workload": "micro-read"}, ""}, // no transactions
	} {
		spec, err := experiment.Spec{}.With(x.set)
		if err == nil {
			spec, err = spec.With(experiment.Knobs{"cc": "ordered"})
		}
		if err == nil {
			_, err = experiment.Resolve(spec)
		}
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v: %v, want %q", x.set, err, x.want)
		}
	}
}

// A body touches what it has declared, as it has declared it, and an attempt that does otherwise fails and leaves nothing locked.
func TestSetsAreHeld(t *testing.T) {
	ref := func(key uint64, write bool) txn.Ref { return txn.Ref{Table: 1, Key: key, Write: write} }
	declared := func(then func(tx *txn.Tx) error, refs ...txn.Ref) func(tx *txn.Tx) error {
		return func(tx *txn.Tx) error { return errors.Join(tx.Declare(refs...), then(tx)) }
	}
	read := func(key uint64) func(*txn.Tx) error {
		return func(tx *txn.Tx) error { _, err := tx.Read(1, key); return err }
	}
	add := func(key uint64) func(*txn.Tx) error { return func(tx *txn.Tx) error { return tx.AddInt(1, key, 1) } }
	for name, x := range map[string]struct { // order-free: each by itself
		body func(tx *txn.Tx) error
		want string
	}{
		"nothing declared":       {read(3), "key 3 of table t is none of the declared records: name all that the body touches in Tx.Declare"},
		"another one":            {declared(read(4), ref(3, true)), "key 4 of table t is none of the declared records"},
		"another one, announced": {declared(func(tx *txn.Tx) error { tx.Prefetch(ref(4, false)); return read(4)(tx) }, ref(3, true)), "key 4 of table t is none"},
		"a write of a read one":  {declared(add(3), ref(3, false)), "write of key 3 of table t, which Tx.Declare says is only read: declare it with Write"},
		"twice":                  {declared(declared(read(3), ref(4, false)), ref(3, false)), "records declared twice: name all of them in one Tx.Declare"},
		"no table":               {declared(read(3), txn.Ref{Table: 9}), "table 9 does not exist"},
		"no record":              {declared(read(1000), ref(1000, false)), "key 1000 of table t: key not found"},
		"read and written":       {declared(add(3), ref(3, false), ref(3, true), ref(4, false)), ""},
		"nothing":                {declared(func(*txn.Tx) error { return nil }), ""},
	} {
		spec := store.Spec{ID: 1, Name: "t", ValueBytes: 16, Fixed: true, Init: func(uint64, []byte) {}}
		o := txn.Options{Config: ordered.Config{Settings: txn.Settings{}.WithDefaults(), PollNS: 1_000}}
		bad := txntest.Run(t, r2.Config{Threads: 1}, o, spec, store.Stripes(txntest.Machines, 60), func(_ *r2.Co, cl *txn.Client) {
			err := cl.Run(0, false, x.body)
			if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
				t.Errorf("%s: %v, want %q", name, err, x.want)
			}
			if err := cl.Run(0, false, declared(add(3), ref(3, true))); err != nil {
				t.Errorf("%s: the next transaction: %v", name, err)
			}
		})
		if len(bad) > 0 {
			t.Errorf("%s: %v", name, bad)
		}
	}
}
