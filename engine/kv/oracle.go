package kv

import (
	"slices"

	"drtmx/engine/fabric/host"
	"drtmx/engine/r2"
)

// The functions of this file are for checks and displays: they charge nothing, and they do not bring blocks into
// being, so a run is the same whether or not it is called.

// Find is where a record is now.
func (t *Table) Find(key uint64) (Location, bool) {
	s, j, initial := t.shardOf(key)
	if t.spec.Tree {
		return s.findTree(key, j, initial)
	}
	mem := t.cl.Mem(s.machine)
	place := s.slotOf(s.hashOf(key, j, initial))
	for node, depth := place, 0; ; depth++ {
		a := s.nodeAddr(node)
		if !mem.Materialized(a) {
			// No operation came this far down the chain, so from here on it is as at the start.
			return s.location(homeRef(j)), initial && (depth == 0 || slices.Index(s.membersOf(place), j) >= depth*s.slots)
		}
		b := s.nodeNow(node)
		for i := range s.slots {
			if s.key(b, i) == key|valid {
				return s.location(s.ref(b[s.slotLine(i):], i)), true
			}
		}
		link := next(b)
		if link == 0 {
			return Location{}, false
		}
		node = uint64(link - 1)
	}
}

// nodeNow is a node as it is now, valid until the next call.
func (s *shard) nodeNow(node uint64) []byte {
	b := s.initialNode(node)
	copyMaterialized(b, s.table.cl.Mem(s.machine), s.nodeAddr(node))
	return b
}

// Row copies the row of a record as it is now on a machine, its server or one of its backups, to dst, which has
// room for RowBytes. ok is false if the record is not on its server, or the machine is neither.
func (t *Table) Row(machine int, key uint64, dst []byte) (ok bool) {
	loc, ok := t.Find(key)
	if !ok {
		return false
	}
	s, _, _ := t.shardOf(key)
	if machine == s.machine {
		t.copyRow(s, machine, loc.Addr, loc.Ref.Row(), dst)
		return true
	}
	b := t.backupOn(machine, key)
	if b == nil {
		return false
	}
	t.copyRow(s, machine, b.rowAddr(s, loc.Ref.Row()), loc.Ref.Row(), dst)
	return true
}

// RowAddr is where a machine has the row of a record, its server or one of its backups.
func (t *Table) RowAddr(machine int, key uint64) (a r2.Addr, ok bool) {
	loc, ok := t.Find(key)
	s, _, _ := t.shardOf(key)
	switch b := t.backupOn(machine, key); {
	case !ok:
		return 0, false
	case machine == s.machine:
		return loc.Addr, true
	case b != nil:
		return b.rowAddr(s, loc.Ref.Row()), true
	}
	return 0, false
}

// copyRow copies a row of a shard, which is at a on a machine.
func (t *Table) copyRow(s *shard, machine int, a r2.Addr, row uint32, dst []byte) {
	b := dst[:t.RowBytes()]
	if n := len(t.first.image); n > 0 {
		b = make([]byte, n)
	}
	clear(b)
	if uint64(row) < s.records {
		copy(b, t.first.of(s, uint64(row)))
	}
	copyMaterialized(b, t.cl.Mem(machine), a)
	whole, _ := t.rows.Whole(b)
	clear(dst[copy(dst, whole):])
}

// copyMaterialized copies those of the bytes at a whose block has come into being. Rows may reach over the
// boundaries of blocks.
func copyMaterialized(dst []byte, mem *host.Memory, a r2.Addr) {
	const granule = 8 // rows and their parts are 8-byte aligned, blocks all the more
	for i := 0; i < len(dst); i += granule {
		if mem.Materialized(a + r2.Addr(i)) {
			copy(dst[i:min(len(dst), i+granule)], mem.Bytes(a+r2.Addr(i), min(granule, len(dst)-i)))
		}
	}
}
