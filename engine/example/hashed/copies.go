package hashed

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
)

// LogRow is the number of the row, shifted by one.
func (t *Table) LogRow(_ uint64, at store.Ref) uint32 { return at.Row() + 1 }

// BackupAddr is where a backup has a row. Entries of fixed tables name none: there it is that of the start.
func (t *Table) BackupAddr(_ *r2.Co, machine int, key uint64, row uint32) (r2.Addr, bool) {
	if row == 0 {
		_, n := t.bucket(key)
		row = uint32(n)*slots + 1
	}
	loc, ok := t.CopyAt(machine, key, store.NewRef(row-1, 0))
	return loc.Addr, ok && machine != t.copies[t.Primary(key)][0].Machine
}

// CopyAt is where a machine has its copy of a row.
func (t *Table) CopyAt(machine int, key uint64, at store.Ref) (r2.Loc, bool) {
	for _, r := range t.copies[t.Primary(key)] {
		if r.Machine == machine {
			return r2.Loc{Machine: machine, RKey: r.RKey, Addr: t.rowAddr(r, at.Row())}, true
		}
	}
	return r2.Loc{}, false
}

// AheadBackup asks for nothing.
func (t *Table) AheadBackup(int, uint64, uint32) {}

// Row copies the row of a record as it is now on a machine.
func (t *Table) Row(machine int, key uint64, dst []byte) bool {
	loc, ok := t.Find(key)
	at, has := t.CopyAt(machine, key, loc.Ref)
	if !ok || !has {
		return false
	}
	copy(dst, t.rowNow(at))
	return true
}

func (t *Table) rowNow(at r2.Loc) []byte {
	image := append([]byte(nil), t.cl.Mem(at.Machine).Bytes(at.Addr, t.rows.ImageBytes())...)
	row, _ := t.rows.Whole(image)
	return row
}

// Audit looks at all slots.
func (t *Table) Audit(bad func(text string)) {
	for m, n := range t.buckets {
		at := t.copies[m][0]
		mem := t.cl.Mem(at.Machine)
		for b := range n {
			line := mem.Bytes(at.Addr+r2.Addr(b*record.LineBytes), record.LineBytes)
			if v := binary.LittleEndian.Uint64(line); v%2 != 0 {
				bad(fmt.Sprintf("bucket %d of machine %d is locked, its version is %d", b, at.Machine, v))
			}
			t.auditSlots(at, uint32(b), line, bad)
		}
	}
}

// auditSlots looks at the slots of a bucket: a key is in one, and a free row that was used is free by its layout too.
func (t *Table) auditSlots(at region, bucket uint32, line []byte, bad func(text string)) {
	seen := map[uint64]bool{}
	for i := range slots {
		loc := at.Loc
		loc.Addr = t.rowAddr(at, bucket*slots+uint32(i))
		word := t.rows.Layout.IncarnationOf(t.rowNow(loc))
		switch e := binary.LittleEndian.Uint64(line[8+8*i:]); {
		case e == 0:
			if record.Incarnation(word) > 0 && !t.rows.Layout.Free(word) {
				bad(fmt.Sprintf("free row %d of machine %d holds a record: %#x", bucket*slots+uint32(i), at.Machine, word))
			}
		case e&reserved == reserved:
			if t.rows.Layout.Reusable(word) {
				bad(fmt.Sprintf("row %d of machine %d is lost: neither free nor of a record", bucket*slots+uint32(i), at.Machine))
			}
		case seen[keyIn(e)]:
			bad(fmt.Sprintf("key %d is in two slots of bucket %d of machine %d", keyIn(e), bucket, at.Machine))
		default:
			seen[keyIn(e)] = true
		}
	}
}

// Lines are those of the bucket and of the row.
func (t *Table) Lines(key uint64, f func(machine int, a r2.Addr, n int)) {
	if loc, ok := t.Find(key); ok {
		f(loc.Machine, t.Gap(key).Addr, record.LineBytes)
		f(loc.Machine, loc.Addr, t.rows.ImageBytes())
	}
}

// Needs is a bucket for each record, and nothing of clients.
func (kind) Needs() store.Memory { return store.Memory{Index: record.LineBytes} }

// Caches remember nothing.
func (kind) Caches(*r2.Cluster, []store.Table, uint64, uint64) (store.Caches, error) {
	return noCaches{}, nil
}

type noCaches struct{}

func (noCaches) Of(int) store.Cache     { return noCache{} }
func (noCaches) Each(func(store.Cache)) {}
func (noCaches) Resize(uint64) error    { return nil }

type noCache struct{}

func (noCache) Get(*r2.Co, store.Table, uint64) (store.Location, bool) {
	return store.Location{}, false
}
func (noCache) Put(*r2.Co, store.Table, uint64, store.Ref) {}
func (noCache) Invalidate(*r2.Co, store.Table, uint64)     {}
func (noCache) Fill(func(table uint8, key uint64) bool)    {}
func (noCache) Warm(store.Table, uint64)                   {}
func (noCache) Line(store.Table, uint64) (r2.Addr, int)    { return 0, 0 }
func (noCache) Stats() store.CacheStats                    { return store.CacheStats{} }
