// Package hashed is a store of records that come and go, whose tables have both halves: machines change them by one-sided requests, or
// the CPU of a record's server does.
//
// A server has buckets of one line, which no READ tears: a version, and for each of seven rows the key and the incarnation that it
// has, or 0. The version is odd while the bucket is locked for a change, and is what a key's gap is.
//
// Left out: what a full bucket would overflow into, caches of locations, and trees. RNICs and CPUs do not exclude each other, so that
// a table is to be changed by one half; either may look records up.
package hashed

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/fabric/host"
	"drtmx/engine/membership"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
)

// Kind is that of hash tables.
var Kind store.Kind = kind{}

type kind struct{}

func (kind) Name() string         { return "hashed" }
func (kind) Doc() string          { return "hash tables with buckets of one line" }
func (kind) Halves() store.Halves { return store.Served | store.OneSided }

const (
	slots    = 7              // of a bucket
	keyBits  = 48             // of an entry, which has one more than the key; the incarnation is above
	reserved = 1<<keyBits - 1 // a row that is no record's, and not free
	attempts = 10_000         // of changing a bucket
	spin     = 40             // cycles between two of a CPU
)

// Make allocates the tables of each server, and the rows of its backups.
func (kind) Make(cl *r2.Cluster, s store.Spec, l record.Layout, p store.Placement) (store.Table, error) {
	rows, err := store.RowsOf(s, l)
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", s.Name, err)
	}
	t := &Table{spec: s, cl: cl, rows: rows, partition: p.Partition}
	holders := p.Copies(membership.First)
	for m := range p.Partition.Servers() {
		t.buckets = append(t.buckets, max(1, p.Partition.Count(m)+s.Spare))
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

// Table is one table. Record j of the start is in the first row of bucket j of its server.
type Table struct {
	spec      store.Spec
	cl        *r2.Cluster
	rows      record.Rows
	partition store.Partition
	buckets   []uint64   // by server
	copies    [][]region // by server: of the primary, and of its backups
}

// region is the buckets of a server and then its rows. Backups use rows alone.
type region struct {
	r2.Loc
	rows r2.Addr
}

func (t *Table) allocate(server, machine int) (region, error) {
	n, mem := t.buckets[server], t.cl.Mem(machine)
	index := n * record.LineBytes
	bytes := index + n*slots*uint64(t.rows.Stride)
	a, err := mem.Alloc(host.Alloc{Name: "hashed." + t.spec.Name, Bytes: bytes})
	if err != nil {
		return region{}, err
	}
	at := region{rows: a + r2.Addr(index)}
	row := make([]byte, t.rows.Bytes())
	for j := range t.partition.Count(server) {
		key := t.partition.Key(server, j)
		clear(row)
		if t.rows.Layout.Init(row); t.spec.Init != nil {
			t.spec.Init(key, t.rows.Layout.Value(row))
		}
		t.rows.Image(mem.Bytes(t.rowAddr(at, uint32(j*slots)), t.rows.ImageBytes()), row)
		binary.LittleEndian.PutUint64(mem.Bytes(a+r2.Addr(j*record.LineBytes+8), 8), entryOf(key, 0))
	}
	rkey := mem.Register(a, bytes, host.LocalWrite|host.RemoteRead|host.RemoteWrite|host.RemoteAtomic).RKey
	at.Loc = r2.Loc{Machine: machine, RKey: rkey, Addr: a}
	return at, nil
}

// entryOf is what a bucket has of a key whose row is in an incarnation.
func entryOf(key uint64, incarnation uint16) uint64 { return uint64(incarnation)<<keyBits | (key + 1) }

func keyIn(entry uint64) uint64 { return entry&(1<<keyBits-1) - 1 }

// bucket is where a key's bucket is, and its number.
func (t *Table) bucket(key uint64) (at r2.Loc, n uint64) {
	m := t.Primary(key)
	n, ok := t.partition.Local(key)
	if !ok {
		n = key * 0x9e3779b97f4a7c15 >> 20 % t.buckets[m]
	}
	at = t.copies[m][0].Loc
	at.Addr += r2.Addr(n * record.LineBytes)
	return at, n
}

func (t *Table) rowAddr(at region, row uint32) r2.Addr {
	return at.rows + r2.Addr(uint64(row)*uint64(t.rows.Stride))
}

// RowBytes, Rows, Primary and Known say what is where.
func (t *Table) RowBytes() int          { return t.rows.Bytes() }
func (t *Table) Rows() *record.Rows     { return &t.rows }
func (t *Table) Primary(key uint64) int { return t.partition.Primary(key) }

// Known reports whether a key was there from the start.
func (t *Table) Known(key uint64) bool {
	_, ok := t.partition.Local(key)
	return ok
}

// Location is that of a row.
func (t *Table) Location(key uint64, r store.Ref) store.Location {
	at := t.copies[t.Primary(key)][0]
	return store.Location{Loc: r2.Loc{Machine: at.Machine, RKey: at.RKey, Addr: t.rowAddr(at, r.Row())}, Ref: r}
}

// Gap is the version of the key's bucket.
func (t *Table) Gap(key uint64) r2.Loc {
	at, _ := t.bucket(key)
	return at
}

// look is a bucket as it was at a moment.
type look struct {
	version uint32
	slot    int // with the key; -1: none
	empty   int // slot; -1: none
	ref     store.Ref
}

func (t *Table) look(line []byte, n, key uint64) look {
	x := look{version: binary.LittleEndian.Uint32(line), slot: -1, empty: -1}
	for i := range slots {
		switch entry := binary.LittleEndian.Uint64(line[8+8*i:]); {
		case entry == 0 && x.empty < 0:
			x.empty = i
		case keyIn(entry) == key && entry&reserved != reserved && entry != 0:
			x.slot, x.ref = i, store.NewRef(uint32(n)*slots+uint32(i), uint16(entry>>keyBits))
		}
	}
	return x
}

// locate is the location that a look has found, or the gap. Where the bucket is locked for a change, a validation has to find out what came of it.
func (t *Table) locate(key uint64, x look) (store.Location, bool) {
	if x.slot >= 0 {
		return t.Location(key, x.ref), true
	}
	gap := store.Location{Loc: t.Gap(key), Ref: store.Ref(x.version)}
	if x.version%2 != 0 {
		gap.Ref |= store.Unsettled
	}
	return gap, false
}

// LookupLocal loads the bucket.
func (t *Table) LookupLocal(c *r2.Co, key uint64) (store.Location, bool, error) {
	at, n := t.bucket(key)
	loc, ok := t.locate(key, t.look(c.Load(at.Addr, record.LineBytes), n, key))
	return loc, ok, nil
}

// search is a READ of a bucket.
type search struct {
	t    *Table
	key  uint64
	line r2.Buf
}

// Search READs the bucket.
func (t *Table) Search(c *r2.Co, key uint64, _ store.Search) store.Search {
	at, _ := t.bucket(key)
	return &search{t, key, c.Read(at, record.LineBytes)}
}

// Next looks into the bucket.
func (s *search) Next(*r2.Co) (store.Location, store.State, error) {
	_, n := s.t.bucket(s.key)
	loc, ok := s.t.locate(s.key, s.t.look(s.line.B, n, s.key))
	if !ok {
		return loc, store.Missing, nil
	}
	return loc, store.Found, nil
}

// Find is where a record is now.
func (t *Table) Find(key uint64) (store.Location, bool) {
	at, n := t.bucket(key)
	return t.locate(key, t.look(t.cl.Mem(at.Machine).Bytes(at.Addr, record.LineBytes), n, key))
}
