package occ

import (
	"errors"
	"testing"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/sim"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/txn/txntest"
)

// TestExistsAtLast: an insert that did not look is told that the record exists when the body runs again.
func TestExistsAtLast(t *testing.T) {
	for _, preset := range PresetNames() {
		cfg, _ := Preset(preset)
		onParts(t, r2.Config{Threads: 1}, cfg, txntest.Coming(), txntest.ComingParts(), func(c *r2.Co, cl *txn.Client) {
			insert := func(tx *txn.Tx) error { _, err := tx.Insert(1, 10); return err }
			if err := cl.Run(0, false, insert); err != nil {
				t.Fatal(err)
			}
			c.Sleep(50 * sim.Microsecond)
			attempts := 0
			err := cl.Run(0, false, func(tx *txn.Tx) error { attempts++; return insert(tx) })
			if !errors.Is(err, txn.ErrExists) || attempts != 2 {
				t.Errorf("%s: after %d attempts: %v", preset, attempts, err)
			}
			// Also if the body deletes it again, so that nothing is left to insert.
			attempts = 0
			err = cl.Run(0, false, func(tx *txn.Tx) error {
				attempts++
				if err := insert(tx); err != nil {
					return err
				}
				return tx.Delete(1, 10)
			})
			if !errors.Is(err, txn.ErrExists) || attempts != 2 {
				t.Errorf("%s: inserted and deleted: after %d attempts: %v", preset, attempts, err)
			}
		})
	}
}

// TestNoRowLeft: a table without a spare row refuses an insert with the reason, and goes on.
func TestNoRowLeft(t *testing.T) {
	for _, preset := range PresetNames() {
		cfg, _ := Preset(preset)
		spec := txntest.Coming()
		spec.Spare = 1
		onParts(t, r2.Config{Threads: 1}, cfg, spec, txntest.ComingParts(), func(c *r2.Co, cl *txn.Client) {
			refused := 0
			for key := uint64(20); key < 40; key++ {
				err := cl.Run(0, false, func(tx *txn.Tx) error { _, err := tx.Insert(1, key); return err })
				if errors.Is(err, store.ErrFull) {
					refused++
				} else if err != nil {
					t.Errorf("%s: key %d: %v", preset, key, err)
				}
			}
			if refused < 10 || refused == 20 {
				t.Errorf("%s: %d of 20 inserts refused", preset, refused)
			}
			if err := cl.Run(0, false, func(tx *txn.Tx) error { return tx.Delete(1, 3) }); err != nil {
				t.Errorf("%s: %v", preset, err)
			}
		})
	}
}

// TestFreeRowsKeepTheirLocks: nobody who remembers where a deleted record was can take its lock.
func TestFreeRowsKeepTheirLocks(t *testing.T) {
	cfg, _ := Preset("drtm+h")
	onParts(t, r2.Config{Threads: 1}, cfg, txntest.Coming(), txntest.ComingParts(), func(c *r2.Co, cl *txn.Client) {
		loc, _ := cl.DB().Table(1).Find(1)
		if err := cl.Run(0, false, func(tx *txn.Tx) error { return tx.Delete(1, 1) }); err != nil {
			t.Fatal(err)
		}
		c.Sleep(50 * sim.Microsecond)
		head := cl.DB().Cluster().Mem(loc.Machine).Bytes(loc.Addr, record.LockSeq.Bytes)
		if record.LockSeq.LockOf(head) == 0 || record.Live(record.LockSeq.StampOf(head)) || !loc.Stale(record.LockSeq.StampOf(head)) {
			t.Errorf("free row has lock %#x and sequence %#x", record.LockSeq.LockOf(head), record.LockSeq.StampOf(head))
		}
	})
}
