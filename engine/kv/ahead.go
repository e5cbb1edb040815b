package kv

import "drtmx/engine/r2"

// A simulated access to a large table is a miss of the host's caches, and a lookup is some of them, one after
// the other. Who knows which records it will need asks for all of them first. Nothing here has an effect on
// results.

// AheadLocal asks the host for what LookupLocal and a load of the row will need: the first node of the chain and
// the row that a record has from the start.
func (t *Table) AheadLocal(c *r2.Co, key uint64) {
	s, j, initial := t.shardOf(key)
	if !initial {
		return
	}
	if !t.spec.Fixed {
		c.AheadBytes(s.nodeAddr(s.place(s.hash(j))), nodeBytes)
	}
	c.AheadBytes(s.rowAddr(uint32(j)), t.layout.Bytes())
}

// AheadBackup asks for what BackupAddr and a store to the row will need.
func (t *Table) AheadBackup(c *r2.Co, machine int, key uint64) {
	b := t.backupOn(machine, key)
	s, j, initial := t.shardOf(key)
	if b == nil || !initial {
		return
	}
	c.AheadBytes(b.indexAddr(s, s.hash(j)), lineBytes)
	c.AheadBytes(b.rowAddr(s, uint32(j)), t.layout.Bytes())
}
