// Package array is a store whose tables are arrays: record i of a server is at row i, so where a record is follows from its
// key, so no lookups are needed. Records are neither inserted nor deleted.
package array

import (
	"fmt"

	"drtmx/engine/fabric/host"
	"drtmx/engine/membership"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
)

// Kind is that of arrays.
var Kind store.Kind = kind{}

type kind struct{}

func (kind) Name() string { return "array" }
func (kind) Doc() string  { return "arrays, for records that are there from the start" }

// Make allocates the rows of each server, and of each of its backups.
func (kind) Make(cl *r2.Cluster, s store.Spec, l record.Layout, p store.Placement) (store.Table, error) {
	if !s.Fixed {
		return nil, fmt.Errorf("records that come and go: an array has those of the start, whose description says Fixed")
	}
	rows, err := store.RowsOf(s, l)
	if err != nil {
		return nil, err
	}
	t := &Table{spec: s, cl: cl, rows: rows, placement: p}
	holders := p.Copies(membership.First)
	for m := range p.Partition.Servers() {
		var copies []region
		for i := range p.Replicas {
			r, err := t.allocate(m, holders.Holder(m, i))
			if err != nil {
				return nil, fmt.Errorf("table %s: %w", s.Name, err)
			}
			copies = append(copies, r)
		}
		t.copies = append(t.copies, copies)
	}
	return t, nil
}

// Table is an array of records on each server.
type Table struct {
	spec      store.Spec
	cl        *r2.Cluster
	rows      record.Rows
	placement store.Placement
	copies    [][]region // by server; the primary's, then those of its backups
}

// region is the rows of a server in the memory of one machine.
type region struct {
	machine int
	base    r2.Addr
	rkey    uint32
}

// allocate makes room for the rows of a server.
func (t *Table) allocate(server, machine int) (region, error) {
	n, mem := max(1, t.placement.Partition.Count(server)), t.cl.Mem(machine)
	bytes := n * uint64(t.rows.Stride)
	a, err := mem.Alloc(host.Alloc{Name: "array." + t.spec.Name, Bytes: bytes})
	if err != nil {
		return region{}, err
	}
	row := make([]byte, t.RowBytes())
	for i := range t.placement.Partition.Count(server) {
		clear(row)
		t.rows.Layout.Init(row)
		if t.spec.Init != nil {
			t.spec.Init(t.placement.Partition.Key(server, i), t.rows.Layout.Value(row))
		}
		t.rows.Image(mem.Bytes(a+r2.Addr(i*uint64(t.rows.Stride)), t.rows.ImageBytes()), row)
	}
	return region{machine, a, mem.Register(a, bytes, host.LocalWrite|host.RemoteRead|host.RemoteWrite|host.RemoteAtomic).RKey}, nil
}

// RowBytes is the length of a row.
func (t *Table) RowBytes() int { return t.rows.Bytes() }

// Rows is the geometry of its rows.
func (t *Table) Rows() *record.Rows { return &t.rows }

// Primary is the server that a key belongs to.
func (t *Table) Primary(key uint64) int { return t.placement.Partition.Primary(key) }

// Known reports whether there is such a record.
func (t *Table) Known(key uint64) bool {
	_, ok := t.placement.Partition.Local(key)
	return ok
}

// Find is where a record is.
func (t *Table) Find(key uint64) (store.Location, bool) {
	i, ok := t.placement.Partition.Local(key)
	return t.Location(key, store.NewRef(uint32(i), 0)), ok
}

// Location is that of a row.
func (t *Table) Location(key uint64, r store.Ref) store.Location {
	at := t.copies[t.Primary(key)][0]
	return store.Location{Loc: r2.Loc{Machine: at.machine, RKey: at.rkey, Addr: t.row(at, r)}, Ref: r}
}

func (t *Table) row(at region, r store.Ref) r2.Addr {
	return at.base + r2.Addr(uint64(r.Row())*uint64(t.rows.Stride))
}

// Gap is where a key would be that is not there. None ever comes, so the version of the first row's lock will do.
func (t *Table) Gap(key uint64) r2.Loc { return t.Location(key, 0).Loc }

// LookupLocal computes where a record is.
func (t *Table) LookupLocal(_ *r2.Co, key uint64) (store.Location, bool, error) {
	loc, ok := t.Find(key)
	return loc, ok, nil
}

// found is a search that has ended before it begins.
type found struct {
	loc store.Location
	ok  bool
}

// Next says where the record is.
func (f found) Next(*r2.Co) (store.Location, store.State, error) {
	if !f.ok {
		return store.Location{}, store.Missing, nil
	}
	return f.loc, store.Found, nil
}

// Search needs no READ.
func (t *Table) Search(_ *r2.Co, key uint64, _ store.Search) store.Search {
	loc, ok := t.Find(key)
	return found{loc, ok}
}

// Insert is refused.
func (t *Table) Insert(*r2.Co, uint64, []byte, uint64) (store.Change, error) {
	return store.Change{}, store.ErrFixed
}

// Remove is refused.
func (t *Table) Remove(*r2.Co, uint64, store.Ref) (store.Change, error) {
	return store.Change{}, store.ErrFixed
}

// Free has nothing to do: no record was removed.
func (t *Table) Free(*r2.Co, uint64, store.Ref) {}

// LogRow is 0: the key tells the row.
func (t *Table) LogRow(uint64, store.Ref) uint32 { return 0 }

// BackupAddr is where the backup on a machine keeps a record.
func (t *Table) BackupAddr(_ *r2.Co, machine int, key uint64, _ uint32) (r2.Addr, bool) {
	i, ok := t.placement.Partition.Local(key)
	for _, at := range t.copies[t.Primary(key)][1:] {
		if at.machine == machine {
			return t.row(at, store.NewRef(uint32(i), 0)), ok
		}
	}
	return 0, false
}

// CopyAt is where a machine has its copy of a row.
func (t *Table) CopyAt(machine int, key uint64, at store.Ref) (r2.Loc, bool) {
	for _, r := range t.copies[t.Primary(key)] {
		if r.machine == machine {
			return r2.Loc{Machine: machine, RKey: r.rkey, Addr: t.row(r, at)}, true
		}
	}
	return r2.Loc{}, false
}

// AheadBackup asks for nothing.
func (t *Table) AheadBackup(int, uint64, uint32) {}

// Row copies the row of a record as it is now on a machine.
func (t *Table) Row(machine int, key uint64, dst []byte) bool {
	i, ok := t.placement.Partition.Local(key)
	for _, at := range t.copies[t.Primary(key)] {
		if at.machine == machine && ok {
			image := append([]byte(nil), t.cl.Mem(machine).Bytes(t.row(at, store.NewRef(uint32(i), 0)), t.rows.ImageBytes())...)
			row, _ := t.rows.Whole(image)
			copy(dst, row)
			return true
		}
	}
	return false
}

// Audit has nothing to look at.
func (t *Table) Audit(func(string)) {}

// Lines is the memory of the row.
func (t *Table) Lines(key uint64, f func(machine int, a r2.Addr, n int)) {
	if loc, ok := t.Find(key); ok {
		f(loc.Machine, loc.Addr, t.rows.ImageBytes())
	}
}
