package kv

import (
	"errors"
	"fmt"

	"drtmx/engine/membership"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
)

// MaxKey is the largest key of a table: eight bits for the table and the key fit 63 bits.
const MaxKey = uint64(1)<<55 - 1

// Table is one table of the cluster. Its methods run on any machine; what one machine may know of another
// without asking (addresses of regions, the hash function, counts at the start) is exchanged when the
// table is made.
type Table struct {
	spec      Spec
	*bucket   // of its hash tables
	placement Placement
	copies    membership.Placement
	rows      record.Rows
	cl        *r2.Cluster
	shards    [][]*shard     // by server and socket
	backups   [][]*backup    // by server and distance, 0 for the next server
	records   uint64         // that it had from the start
	first     firstRow       // of what looks at rows between events
	growing   *store.Growing // nil: keys that may come have no numbers
	rpcFind   uint8          // of a table with trees that other machines read
}

func (k kind) newTable(cl *r2.Cluster, l record.Layout, spec Spec, place Placement) (*Table, error) {
	t, err := newTable(cl, k.bucket(), l, spec, place)
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
		if spec.Tree {
			if err := t.addTree(m); err != nil {
				return nil, err
			}
		}
	}
	if spec.Tree && !spec.Local {
		t.rpcFind = cl.Handle("kv.find."+spec.Name, t.serveFind)
	}
	for m := range servers {
		if err := t.addBackups(m); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// newTable checks what can be checked without a cluster.
func newTable(cl *r2.Cluster, b *bucket, l record.Layout, spec Spec, place Placement) (*Table, error) {
	rows, err := store.RowsOf(spec, l)
	if err == nil {
		err = place.Check()
	}
	if err == nil && spec.Fixed && spec.Spare > 0 {
		err = fmt.Errorf("%d spare rows of a fixed table, into which nothing is inserted: leave them out", spec.Spare)
	}
	if err == nil && spec.Order != nil && !spec.Tree {
		err = errors.New("an order, and no tree that has it: set Tree, or leave Order out")
	}
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", spec.Name, err)
	}
	t := &Table{spec: spec, bucket: b, placement: place, copies: place.Copies(membership.First), rows: rows, cl: cl, first: newFirstRow(rows)}
	if p, ok := place.Partition.(store.Growing); ok {
		t.growing = &p
	}
	return t, nil
}

// addServer computes the geometry of a server's shards: its records are dealt to its sockets in turn.
func (t *Table) addServer(m, sockets int) error {
	t.shards = append(t.shards, make([]*shard, sockets))
	count := t.placement.Partition.Count(m)
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
func (t *Table) RowBytes() int { return t.rows.Bytes() }

// Rows is the geometry of its rows.
func (t *Table) Rows() *record.Rows { return &t.rows }

// Primary is the server that a key belongs to.
func (t *Table) Primary(key uint64) int { return t.placement.Partition.Primary(key) }

// Backups is the number of backups of each record.
func (t *Table) Backups() int { return t.placement.Replicas - 1 }

// Backup is the i-th backup of a server's records.
func (t *Table) Backup(server, i int) int { return t.copies.Holder(server, 1+i) }

func (t *Table) sockets(server int) int { return len(t.shards[server]) }

// shardOf says which shard a key belongs to, and the number of the record there if it was there from the
// start. Keys that may come have numbers behind those, or are unnumbered.
func (t *Table) shardOf(key uint64) (s *shard, j uint64, initial bool) {
	shards := t.shards[t.placement.Partition.Primary(key)]
	n := uint64(len(shards))
	if i, ok := t.placement.Partition.Local(key); ok {
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
