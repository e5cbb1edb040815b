package kv

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
)

// Spec describes a table.
type Spec struct {
	ID         uint8  // names the table in messages, logs and histories; unique in the cluster
	Name       string // for messages to people
	ValueBytes int    // of every record
	// Header is what rows have in front of the value; the zero value is record.LockSeq.
	Header  record.Header
	Aligned bool // spend memory so that no row of at most a line straddles one; default packed, see package record
	// Init writes the value that a record has from the start into value, which is zero. It must be a pure
	// function of the key: it runs when a block of 512 bytes is first touched, on the primary and on each backup. Nil
	// leaves zeros.
	Init func(key uint64, value []byte)
	// Mutable is the number of leading bytes of a value that transactions change: locks cover the record, but write-back
	// and log carry only these. The rest is what Init or the transaction that inserts the record wrote. 0: all.
	Mutable int
	// Constant says that no transaction writes the table: what is read of it needs no validation.
	Constant bool
	// Local says that only the machine of a record reads it: location caches leave it out.
	Local bool
	// Sequential says that records are used in the order of their keys, as those of a table that grows are:
	// neighbours share pages of the hash table, in random buckets of the page. What nobody has come to yet takes no
	// memory. It makes hot neighbours worse, which otherwise are far apart.
	Sequential bool
	// Fixed says that records are neither inserted nor deleted while the system runs; attempts fail. The hash table never
	// changes then, and a lookup on its own server need not meet others' changes in their true order.
	Fixed bool
	// Spare is the number of rows per socket of a server kept for records that are inserted while the system
	// runs. It costs address space, and memory only when used. Inserts fail when it is used up.
	Spare uint64
	Seed  uint64 // of the hash function
}

// MaxKey is the largest key of a table: eight bits for the table and the key fit 63 bits.
const MaxKey = uint64(1)<<55 - 1

// Traits is what the layers above have to know of it.
func (s Spec) Traits() store.Traits {
	return store.Traits{ID: s.ID, Name: s.Name, ValueBytes: s.ValueBytes, Mutable: s.Mutable, Constant: s.Constant, Local: s.Local, Fixed: s.Fixed, Grows: s.Spare > 0}
}

// Kind is that of hash tables with a location cache.
func (s Spec) Kind() store.Kind { return kind{} }

// Make is NewTable with a header.
func (s Spec) Make(cl *r2.Cluster, h record.Header, p Placement) (store.Table, error) {
	s.Header = h
	return NewTable(cl, s, p)
}

// Table is one table of the cluster. Its methods run on any machine; what one machine may know of another
// without asking (addresses of regions, the hash function, counts at the start) is exchanged when the
// table is made.
type Table struct {
	spec    Spec
	place   Placement
	layout  record.Layout
	cl      *r2.Cluster
	shards  [][]*shard     // by server and socket
	backups [][]*backup    // by server and distance, 0 for the next server
	records uint64         // that it had from the start
	scratch []byte         // one row
	growing *store.Growing // nil: keys that may come have no numbers
}

// NewTable makes a table on the machines of a cluster. Nothing of it is touched.
func NewTable(cl *r2.Cluster, spec Spec, place Placement) (*Table, error) {
	t, err := newTable(cl, spec, place)
	if err != nil {
		return nil, err
	}
	servers := place.Partition.Servers()
	if servers > cl.Machines() {
		return nil, fmt.Errorf("table %s: %d servers, the cluster has %d machines", spec.Name, servers, cl.Machines())
	}
	for m := range servers {
		sockets := len(cl.Fabric().Machine(m).NICs)
		if err := t.addServer(m, sockets); err != nil {
			return nil, err
		}
		for _, s := range t.shards[m] {
			if err := s.allocate(cl); err != nil {
				return nil, err
			}
		}
	}
	for m := range servers {
		if err := t.addBackups(m); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// newTable checks what can be checked without a cluster.
func newTable(cl *r2.Cluster, spec Spec, place Placement) (*Table, error) {
	if spec.Header == (record.Header{}) {
		spec.Header = record.LockSeq
	}
	layout, err := record.Packed(spec.Header, spec.ValueBytes)
	if spec.Aligned {
		layout, err = record.Aligned(spec.Header, spec.ValueBytes)
	}
	if err == nil {
		err = place.Check()
	}
	if err == nil && spec.Fixed && spec.Spare > 0 {
		err = fmt.Errorf("%d spare rows of a fixed table, into which nothing is inserted: leave them out", spec.Spare)
	}
	if err == nil && (spec.Mutable < 0 || spec.Mutable > spec.ValueBytes) {
		err = fmt.Errorf("mutable bytes %d: from 0 (all) to %d, the length of a value", spec.Mutable, spec.ValueBytes)
	}
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", spec.Name, err)
	}
	t := &Table{spec: spec, place: place, layout: layout, cl: cl, scratch: make([]byte, layout.Bytes())}
	if p, ok := place.Partition.(store.Growing); ok {
		t.growing = &p
	}
	return t, nil
}

// addServer computes the geometry of a server's shards: its records are dealt to its sockets in turn.
func (t *Table) addServer(m, sockets int) error {
	t.shards = append(t.shards, make([]*shard, sockets))
	count := t.place.Partition.Count(m)
	room := count
	if t.growing != nil {
		room = t.growing.Room(m)
	}
	for k := range uint64(sockets) {
		n := uint64(sockets)
		s := newShard(t, m, int(k), (count+n-1-k)/n, (room+n-1-k)/n)
		if err := s.check(); err != nil {
			return err
		}
		s.before = t.records
		t.records += s.records
		t.shards[m][k] = s
	}
	return nil
}

// RowBytes is the length of a row: header and value.
func (t *Table) RowBytes() int { return t.layout.Bytes() }

// Header is what its rows have in front of the value.
func (t *Table) Header() record.Header { return t.layout.Header }

// Primary is the server that a key belongs to.
func (t *Table) Primary(key uint64) int { return t.place.Partition.Primary(key) }

// Backups is the number of backups of each record.
func (t *Table) Backups() int { return t.place.Replicas - 1 }

// Backup is the i-th backup of a server's records: the servers after it, in a ring.
func (t *Table) Backup(server, i int) int {
	return (server + 1 + i) % t.place.Partition.Servers()
}

func (t *Table) sockets(server int) int { return len(t.shards[server]) }

// shardOf says which shard a key belongs to, and the number of the record there if it was there from the
// start. Keys that may come have numbers behind those, or are unnumbered.
func (t *Table) shardOf(key uint64) (s *shard, j uint64, initial bool) {
	shards := t.shards[t.place.Partition.Primary(key)]
	n := uint64(len(shards))
	if i, ok := t.place.Partition.Local(key); ok {
		if n == 2 {
			return shards[i&1], i >> 1, true
		}
		return shards[i%n], i / n, true
	}
	if t.growing != nil {
		if i, ok := t.growing.Number(key); ok {
			return shards[i%n], i / n, false
		}
	}
	return shards[mix(key)%n], unnumbered, false
}

// locate is shardOf with the key's hash value in the shard.
func (t *Table) locate(key uint64) (s *shard, hash uint64) {
	s, j, initial := t.shardOf(key)
	return s, s.hashOf(key, j, initial)
}

// unnumbered is the number of a key that has none.
const unnumbered = ^uint64(0)

// hashOf is the hash value of a key that shardOf has found the number of.
func (s *shard) hashOf(key, j uint64, initial bool) uint64 {
	if initial || j != unnumbered {
		return s.hash(j)
	}
	return s.foreign(key)
}

// Location makes the location of a key from its compact form, as it comes in a reply.
func (t *Table) Location(key uint64, r Ref) Location {
	s, _, _ := t.shardOf(key)
	return s.location(r)
}

func (s *shard) location(r Ref) Location {
	return Location{Loc: r2.Loc{Machine: s.machine, RKey: s.rows.rkey, Addr: s.rowAddr(r.Row())}, Ref: r}
}
