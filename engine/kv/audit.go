package kv

import (
	"fmt"
	"slices"

	"drtmx/engine/r2"
)

// Audit looks at the rows of a table at rest. Every row is of one record that the index has, or free, or used up;
// a free row holds no record, on no replica. Rows of records that were never inserted or deleted are not looked at.
func (t *Table) Audit(bad func(text string)) {
	for _, shards := range t.shards {
		for _, s := range shards {
			if s.nextRow > uint32(s.records) || len(s.freeRows) > 0 {
				s.audit(bad)
			}
		}
	}
}

func (s *shard) audit(bad func(text string)) {
	say := func(format string, args ...any) {
		bad(fmt.Sprintf("table %s of machine %d: ", s.table.spec.Name, s.machine) + fmt.Sprintf(format, args...))
	}
	taken := map[uint32]uint64{} // key by row, of the slots
	each := s.eachSlot
	if x := s.tree; x != nil {
		each = s.eachEntry
		if err := x.Audit(); err != nil {
			say("tree: %v", err)
		}
	}
	each(func(key uint64, r Ref) {
		if other, ok := taken[r.Row()]; ok {
			say("row %d is of keys %d and %d", r.Row(), other, key)
		}
		taken[r.Row()] = key
	})
	free := slices.Clone(s.freeRows)
	slices.Sort(free)
	for i, row := range free {
		if i > 0 && free[i-1] == row {
			say("row %d is free twice", row)
		}
		if key, ok := taken[row]; ok {
			say("row %d is free and of key %d", row, key)
		}
		s.auditFree(row, say)
	}
	layout := &s.table.rows.Layout
	for row := uint32(s.records); row < s.nextRow; row++ {
		_, used := taken[row]
		if _, ok := slices.BinarySearch(free, row); !ok && !used && layout.Reusable(layout.IncarnationOf(s.rowAt(s.machine, s.rowAddr(row), row))) {
			say("row %d is lost: neither free nor of a record", row)
		}
	}
}

// auditFree looks whether a free row holds a record.
func (s *shard) auditFree(row uint32, say func(format string, args ...any)) {
	layout := &s.table.rows.Layout
	own := layout.IncarnationOf(s.rowAt(s.machine, s.rowAddr(row), row))
	if !layout.Free(own) {
		say("free row %d holds a record, its sequence is %#x", row, own)
	}
	for _, b := range s.table.backups[s.machine] {
		// An insert that was taken back is not logged, so a backup may be behind, but not ahead. That a tombstone was collected is
		// not logged either.
		copied := s.rowAt(b.host, b.rowAddr(s, row), row)
		if seq := layout.IncarnationOf(copied); layout.LiveCopy(seq, layout.StampOf(copied)) || seq > own {
			say("free row %d has sequence %#x on backup %d, %#x on its primary", row, seq, b.host, own)
		}
	}
}

// rowAt is a row, which is at a on a machine.
func (s *shard) rowAt(machine int, a r2.Addr, row uint32) []byte {
	b := make([]byte, s.table.RowBytes())
	s.table.copyRow(s, machine, a, row, b)
	return b
}

// fillBytes is the block in which memory comes into being, see fabric.Alloc.
const fillBytes = 512

// eachSlot calls f with the slots of all nodes that have come into being. The others have the records from the
// start, in their own rows.
func (s *shard) eachSlot(f func(key uint64, r Ref)) {
	mem := s.table.cl.Mem(s.machine)
	for node := uint64(0); node < s.nodeEnd; node++ {
		a := s.nodeAddr(node)
		if !mem.Materialized(a) {
			node += (uint64(fillBytes-a%fillBytes)+uint64(s.bytes)-1)/uint64(s.bytes) - 1 // nor is the rest of its block
			continue
		}
		b := s.nodeNow(node)
		for i := range s.slots {
			if key := s.key(b, i); key&valid != 0 {
				f(key&^valid, s.ref(b[s.slotLine(i):], i))
			}
		}
	}
}
