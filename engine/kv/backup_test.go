package kv

import (
	"testing"

	"drtmx/engine/r2"
	"drtmx/engine/record"
)

func TestBackupsAreTheNextServersWithTheSameRows(t *testing.T) {
	const keys = 500
	b := newBed(t, 3, 1, 1)
	tb := b.table(keys, 24, 0, 3)
	if tb.Backups() != 2 || tb.Backup(2, 0) != 0 || tb.Backup(2, 1) != 1 {
		t.Fatalf("%d backups, of server 2: %d and %d", tb.Backups(), tb.Backup(2, 0), tb.Backup(2, 1))
	}
	for m := range 3 {
		b.do(m, func(c *r2.Co) {
			for key := range uint64(keys) {
				a, ok := tb.BackupAddr(c, m, key, 0)
				if ok != (tb.Primary(key) != m) {
					t.Errorf("key %d of server %d: backup on %d %v", key, tb.Primary(key), m, ok)
				}
				if !ok {
					continue
				}
				if row := c.Load(a, tb.RowBytes()); record.LockSeq.StampOf(row) != record.InitialSeq || !holds(record.LockSeq.Value(row), key) {
					t.Errorf("key %d on backup %d: row %x", key, m, row)
				}
			}
		})
	}
}

func TestBackupOfOneReplicaIsNobody(t *testing.T) {
	b := newBed(t, 2, 1, 1)
	tb := b.table(10, 8, 0, 1)
	b.do(0, func(c *r2.Co) {
		if _, ok := tb.BackupAddr(c, 0, 9, 0); ok {
			t.Error("a table without backups has one")
		}
	})
}

// The oracle sees rows as they are whether or not their pages came into being, also where a row lies on two pages of
// which one did.
func TestOracleSeesThroughPages(t *testing.T) {
	const keys = 1000
	b := newBed(t, 1, 1, 1)
	tb := b.table(keys, 24, 10, 1)
	row := make([]byte, tb.RowBytes())
	check := func(when string) {
		for key := range uint64(keys) {
			if !tb.Row(0, key, row) || record.LockSeq.StampOf(row) != record.InitialSeq || !holds(record.LockSeq.Value(row), key) {
				t.Fatalf("%s: key %d, row %x", when, key, row)
			}
		}
	}
	check("nothing touched")
	mem := b.cl.Mem(0)
	loc, _ := tb.Find(2 * 200)
	if mem.Materialized(loc.Addr) {
		t.Fatal("the oracle brought a page into being")
	}
	mem.Bytes(loc.Addr, 1)
	check("one page touched")
	b.do(0, func(c *r2.Co) {
		for key := range uint64(keys) {
			if loc, ok, err := tb.LookupLocal(c, key); !ok || err != nil {
				t.Errorf("key %d: %v, %v", key, ok, err)
			} else if found, ok := tb.Find(key); !ok || found != loc {
				t.Errorf("key %d is at %+v, the oracle finds %+v", key, loc, found)
			}
		}
	})
	check("index touched")
}
