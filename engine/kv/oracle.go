package kv

import (
	"drtmx/engine/fabric"
	"drtmx/engine/r2"
)

// The functions of this file are for checks and displays: they charge nothing, and they do not bring blocks into
// being, so a run is the same whether or not somebody looks.

// Find is where a record is now.
func (t *Table) Find(key uint64) (Location, bool) {
	s, j, initial := t.shardOf(key)
	mem := t.cl.Mem(s.machine)
	_, hash := t.locate(key)
	for node := s.place(hash); ; {
		a := s.nodeAddr(node)
		if !mem.Materialized(a) {
			// Nobody came this far down the chain, so it is as at the start.
			return s.location(homeRef(j)), initial
		}
		b := mem.Bytes(a, nodeBytes)
		for i := range nodeSlots {
			if line, slot := slotAt(i); slotKey(b[line:], slot) == key|valid {
				return s.location(slotRef(b[line:], slot)), true
			}
		}
		link := next(b)
		if link == 0 {
			return Location{}, false
		}
		node = uint64(link - 1)
	}
}

// Row copies the row of a record as it is now on a machine, its server or one of its backups, to dst, which has
// room for RowBytes. ok is false if the record is not there; a backup still has the row of a deleted record, with
// a sequence that is not live.
func (t *Table) Row(machine int, key uint64, dst []byte) (ok bool) {
	s, j, initial := t.shardOf(key)
	var a r2.Addr
	if machine == s.machine {
		var loc Location
		if loc, ok = t.Find(key); !ok {
			return false
		}
		a, initial = loc.Addr, initial && loc.Ref == homeRef(j)
	} else if b := t.backupOn(machine, key); b == nil {
		return false
	} else if a, ok = t.backupRow(b, key); !ok {
		return false
	}
	clear(dst)
	if initial {
		copy(dst, s.initialRow(j))
	}
	copyMaterialized(dst[:t.layout.Bytes()], t.cl.Mem(machine), a)
	return true
}

// copyMaterialized copies those of the bytes at a whose block has come into being. Rows may reach over the
// boundaries of blocks.
func copyMaterialized(dst []byte, mem *fabric.Memory, a r2.Addr) {
	const granule = 8 // rows and their parts are 8-byte aligned, blocks all the more
	for i := 0; i < len(dst); i += granule {
		if mem.Materialized(a + r2.Addr(i)) {
			copy(dst[i:min(len(dst), i+granule)], mem.Bytes(a+r2.Addr(i), min(granule, len(dst)-i)))
		}
	}
}
