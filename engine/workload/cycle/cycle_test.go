package cycle

import (
	"encoding/binary"
	"strings"
	"testing"

	"drtmx/engine/history"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/txn"
	"drtmx/engine/workload/workloadtest"
)

// TestRing: what makes of the ring anything else is noticed, and torn values are.
func TestRing(t *testing.T) {
	const keys = 20
	link := func(tx *txn.Tx, from, to uint64) error {
		v, err := tx.Update(Table, from)
		if err == nil {
			fill(v, to)
		}
		return err
	}
	for _, x := range []struct {
		what string
		want string // of the complaint; empty: none
		body func(tx *txn.Tx) error
	}{
		{"a short cut", "the ring from key 0 has", func(tx *txn.Tx) error { return link(tx, 0, 0) }},
		{"a tail", "steps from key 0 the ring is at", func(tx *txn.Tx) error { return link(tx, 7, 7) }},
		{"no key", "leads to key 99 of 20", func(tx *txn.Tx) error { return link(tx, 0, 99) }},
		{"parts of two", "parts of two versions", func(tx *txn.Tx) error {
			v, err := tx.Update(Table, 0)
			if err == nil {
				binary.LittleEndian.PutUint64(v[8:], 1<<40)
			}
			return err
		}},
		{"the same again", "", func(tx *txn.Tx) error { _, err := tx.Update(Table, 3); return err }},
	} {
		w, err := New(Options{Keys: keys, ValueBytes: 16})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.AddTransaction("rogue", 1, x.body); err != nil {
			t.Fatal(err)
		}
		if err := w.Set("mix.rotate", 0); err != nil {
			t.Fatal(err)
		}
		cfg, _ := occ.Preset("drtm+h")
		bed := workloadtest.New(t, workloadtest.Setup{Machines: 3, Threads: 1, Coroutines: 1, Txn: cfg, Mode: history.Full, Requests: 1}, w)
		bed.Verdict()
		if inv := w.Check()[0]; inv.OK != (x.want == "") || !strings.Contains(inv.Text, x.want) {
			t.Errorf("%s: %+v, want %q", x.what, inv, x.want)
		}
		bed.Close()
	}
}

// TestWhole: a torn value that a committed rotation has seen is noticed.
func TestWhole(t *testing.T) {
	w, err := New(Options{Keys: 4, ValueBytes: 16})
	if err != nil {
		t.Fatal(err)
	}
	err = w.AddTransaction("tear", 1, func(tx *txn.Tx) error {
		v, err := tx.Update(Table, 0)
		if err == nil {
			binary.LittleEndian.PutUint64(v[8:], 1<<40)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	cfg, _ := occ.Preset("drtm+h")
	bed := workloadtest.New(t, workloadtest.Setup{Machines: 3, Threads: 1, Coroutines: 1, Txn: cfg, Mode: history.Full, Requests: 20}, w)
	if bad := strings.Join(bed.Verdict(), "\n"); !strings.Contains(bad, "cycle.whole: ") {
		t.Errorf("%d commits by type %v, and no complaint of torn values:\n%s", bed.Commits, bed.ByType, bad)
	}
}

// TestBadOptions names what is wrong with them.
func TestBadOptions(t *testing.T) {
	for want, o := range map[string]Options{"3 keys": {Keys: 3}, "12 bytes": {ValueBytes: 12}, "4 bytes": {ValueBytes: 4}} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", o, err, want)
		}
	}
}
