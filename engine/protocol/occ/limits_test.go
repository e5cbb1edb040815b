package occ

import (
	"strings"
	"testing"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/txn/txntest"
)

// onClient runs body on one coroutine of machine 0 of a small cluster.
func onClient(t testing.TB, cfg Config, spec store.Spec, keys uint64, body func(c *r2.Co, cl *txn.Client)) {
	t.Helper()
	onCluster(t, r2.Config{Threads: 1}, cfg, spec, keys, body)
}

func onCluster(t testing.TB, frame r2.Config, cfg Config, spec store.Spec, keys uint64, body func(c *r2.Co, cl *txn.Client)) {
	t.Helper()
	onParts(t, frame, cfg, spec, store.Stripes(3, keys), body)
}

func onParts(t testing.TB, frame r2.Config, cfg Config, spec store.Spec, parts store.Partition, body func(c *r2.Co, cl *txn.Client)) {
	t.Helper()
	o := txn.Options{Config: cfg, Costs: txn.Costs{Execution: 678, Validation: 185, Logging: 134, Commit: 87}}
	if bad := txntest.Run(t, frame, o, spec, parts, body); len(bad) > 0 {
		t.Error(strings.Join(bad, "\n"))
	}
}

// TestRefusals: what no message carries is refused in one line, nothing stays locked, and the next one works.
func TestRefusals(t *testing.T) {
	fasst, _ := Preset("fasst")
	h, _ := Preset("drtm+h")
	together := fasst
	together.CommitTogether = true
	spec := store.Spec{ID: 1, Name: "t", ValueBytes: 400, Aligned: true}
	write := func(keys ...uint64) func(*txn.Tx) error {
		return func(tx *txn.Tx) error {
			for _, k := range keys {
				if _, err := tx.Update(1, k); err != nil {
					return err
				}
			}
			return nil
		}
	}
	for _, c := range []struct {
		name string
		cfg  Config
		body func(*txn.Tx) error
		want string
	}{
		{"log entry", h, write(0, 1, 2, 3, 4, 5, 6, 9, 12, 15), "log entry"},
		{"commit message", together, write(1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 34), "two-sided commit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			onClient(t, c.cfg, spec, 60, func(co *r2.Co, cl *txn.Client) {
				if err := cl.Run(0, false, c.body); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("error %v, want %q in one line", err, c.want)
				}
				if err := cl.Run(0, false, write(1, 2)); err != nil {
					t.Errorf("the next transaction: %v", err)
				}
			})
		})
	}
}

// TestLogEntryFitsMessage: a log entry that no message carries is refused before
// anything is locked, however it would be sent.
func TestLogEntryFitsMessage(t *testing.T) {
	for _, prim := range []Prim{OneSided, TwoSided} {
		cfg, _ := Preset("drtm+h")
		cfg.Logging = prim
		onCluster(t, r2.Config{Threads: 1, MaxMessage: 256}, cfg, store.Spec{ID: 1, Name: "t", ValueBytes: 16}, 60, func(_ *r2.Co, cl *txn.Client) {
			write := func(n uint64) func(tx *txn.Tx) error {
				return func(tx *txn.Tx) error {
					for key := range n {
						if _, err := tx.Update(1, key); err != nil {
							return err
						}
					}
					return nil
				}
			}
			if err := cl.Run(0, false, write(12)); err == nil || !strings.Contains(err.Error(), "log entry") {
				t.Errorf("%s: error %v, want one about the log entry", prim, err)
			}
			if err := cl.Run(0, false, write(3)); err != nil {
				t.Errorf("%s: the next transaction: %v", prim, err)
			}
		})
	}
}

// TestNoAllocation: in steady state a transaction allocates nothing.
func TestNoAllocation(t *testing.T) {
	for _, preset := range PresetNames() {
		cfg, _ := Preset(preset)
		onClient(t, cfg, store.Spec{ID: 1, Name: "t", ValueBytes: 8}, 60, func(co *r2.Co, cl *txn.Client) {
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
				t.Errorf("%s: %.1f allocations per transaction", preset, n)
			}
		})
	}
}

// TestAnnouncedInsertNotMade: a record that the body announces as one to insert and
// then leaves alone is a record that was read.
func TestAnnouncedInsertNotMade(t *testing.T) {
	for _, preset := range PresetNames() {
		cfg, _ := Preset(preset)
		cfg.MaxAttempts = 3
		onClient(t, cfg, store.Spec{ID: 1, Name: "t", ValueBytes: 24}, 60, func(c *r2.Co, cl *txn.Client) {
			err := cl.Run(0, false, func(tx *txn.Tx) error {
				if err := tx.Inserts(txn.Ref{Table: 1, Key: 0}, txn.Ref{Table: 1, Key: 3}); err != nil { // of the own machine
					return err
				}
				_, err := tx.Insert(1, 0)
				return err
			})
			if err != nil {
				t.Errorf("%s: %v", preset, err)
			}
			row := make([]byte, 16+24)
			if cl.DB().Row(1, 3, row); record.LockSeq.StampOf(row) != record.InitialSeq || record.LockSeq.LockOf(row) != 0 {
				t.Errorf("%s: the record that was left alone has sequence %d and lock %x", preset, record.LockSeq.StampOf(row), record.LockSeq.LockOf(row))
			}
		})
	}
}

// TestHybridReadsRingAlone: of a hybrid phase only the RPCs share doorbells, as Table 4-1
// has it for the two primitives.
func TestHybridReadsRingAlone(t *testing.T) {
	doorbells := map[Prim]uint64{}
	for _, prim := range []Prim{OneSided, Hybrid} {
		cfg, _ := Preset("drtm+h")
		cfg.Execution = prim
		onClient(t, cfg, store.Spec{ID: 1, Name: "t", ValueBytes: 16}, 60, func(c *r2.Co, cl *txn.Client) {
			body := func(tx *txn.Tx) error { // records of one other machine
				return tx.Prefetch(txn.Ref{Table: 1, Key: 1}, txn.Ref{Table: 1, Key: 4}, txn.Ref{Table: 1, Key: 7})
			}
			for range 2 { // the first fills the location cache
				before := c.Cluster().Fabric().Counts().Doorbells
				if err := cl.Run(0, false, body); err != nil {
					t.Error(err)
				}
				doorbells[prim] = c.Cluster().Fabric().Counts().Doorbells - before
			}
		})
	}
	if doorbells[Hybrid] != doorbells[OneSided] || doorbells[Hybrid] < 3 {
		t.Errorf("doorbells by primitive: %v, want as many for both", doorbells)
	}
}
