package kv

import (
	"fmt"

	"drtmx/engine/fabric"
	"drtmx/engine/r2"
)

// backup is a server's rows on one of its backups. Rows of records that were there from the start have the
// same number as on the primary. Others get rows as they arrive with the log; the index of those lives in
// the backup's private memory.
type backup struct {
	host   int
	shards []*shard
	rows   []region
	index  []r2.Addr // reserved: what finding a row by its key touches
	added  []probeTable
	next   []uint32
	free   [][]uint32
}

func (t *Table) addBackups(server int) error {
	t.backups = append(t.backups, nil)
	for i := range t.Backups() {
		b := &backup{host: t.Backup(server, i), shards: t.shards[server]}
		sockets := len(t.cl.Fabric().Machine(b.host).NICs)
		for k, s := range b.shards {
			name := fmt.Sprintf("kv.%s.%d.of%d", t.spec.Name, k, server)
			rows, err := newRegion(t.cl, b.host, fabric.Alloc{
				Name: name, Bytes: s.rowBytes(), Socket: k % sockets, Fill: s.rowPage,
			}, fabric.LocalWrite)
			if err != nil {
				return err
			}
			b.rows = append(b.rows, rows)
			b.index = append(b.index, t.cl.Mem(b.host).Reserve(name+".index", s.chains*nodeBytes, k%sockets))
			b.added = append(b.added, probeTable{})
			b.next = append(b.next, uint32(s.n))
			b.free = append(b.free, nil)
		}
		t.backups[server] = append(t.backups[server], b)
	}
	return nil
}

// backupOn finds the backup of a key on a machine, or nil.
func (t *Table) backupOn(machine int, key uint64) *backup {
	for _, b := range t.backups[t.Primary(key)] {
		if b.host == machine {
			return b
		}
	}
	return nil
}

// BackupAddr is where the backup on a machine keeps a record: the start of its row. ok is false when the machine
// is no backup of the key or the record never arrived there. The lookup is charged to c, which runs on that
// machine.
func (t *Table) BackupAddr(c *r2.Co, machine int, key uint64) (a r2.Addr, ok bool) {
	b := t.backupOn(machine, key)
	if b == nil {
		return 0, false
	}
	s, hash := t.locate(key)
	b.touch(c, s, hash)
	return t.backupRow(b, key)
}

func (t *Table) backupRow(b *backup, key uint64) (r2.Addr, bool) {
	s, j, initial := t.shardOf(key)
	if initial {
		return b.rowAddr(s, uint32(j)), true
	}
	hash := s.foreign(key)
	i := b.added[s.socket].find(hash, key)
	if i < 0 {
		return 0, false
	}
	return b.rowAddr(s, uint32(b.added[s.socket].slots[i].value)), true
}

// BackupInsert is BackupAddr for a record that may be new: it gets a row.
func (t *Table) BackupInsert(c *r2.Co, machine int, key uint64) (r2.Addr, error) {
	if a, ok := t.BackupAddr(c, machine, key); ok {
		return a, nil
	}
	b := t.backupOn(machine, key)
	if b == nil {
		return 0, fmt.Errorf("table %s key %d: machine %d is not its backup", t.spec.Name, key, machine)
	}
	s, hash := t.locate(key)
	k := s.socket
	row := b.next[k]
	if n := len(b.free[k]); n > 0 {
		row, b.free[k] = b.free[k][n-1], b.free[k][:n-1]
	} else if row == s.rowEnd {
		return 0, fmt.Errorf("table %s key %d: backup %w", t.spec.Name, key, ErrFull)
	} else {
		b.next[k]++
	}
	b.added[k].add(hash, key, uint64(row))
	return b.rowAddr(s, row), nil
}

// BackupDelete gives the row of a deleted record back. The rows of records that were there from the start
// are kept for them.
func (t *Table) BackupDelete(c *r2.Co, machine int, key uint64) {
	b := t.backupOn(machine, key)
	if b == nil {
		return
	}
	s, hash := t.locate(key)
	b.touch(c, s, hash)
	k := s.socket
	if i := b.added[k].find(hash, key); i >= 0 {
		b.free[k] = append(b.free[k], uint32(b.added[k].slots[i].value))
		b.added[k].remove(i)
	}
}

// touch charges the lookup in the backup's own hash table, whose first line is often enough.
func (b *backup) touch(c *r2.Co, s *shard, hash uint64) {
	c.Touch(b.index[s.socket]+r2.Addr(s.place(hash)*nodeBytes), lineBytes)
}

func (b *backup) rowAddr(s *shard, row uint32) r2.Addr {
	return b.rows[s.socket].base + r2.Addr(uint64(row)*uint64(s.table.layout.Stride))
}
