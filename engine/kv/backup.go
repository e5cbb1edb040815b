package kv

import (
	"fmt"

	"drtmx/engine/fabric/host"
	"drtmx/engine/r2"
)

// backup is a server's rows on one of its backups, with the same numbers as on the primary. The index in which the
// backup finds them is private: charged, and not in bytes.
type backup struct {
	host   int
	shards []*shard
	rows   []region
	index  []r2.Addr // reserved: what finding a row by its key touches,
	nodes  space     // or, of a table with trees, this
}

func (t *Table) addBackups(server int) error {
	t.backups = append(t.backups, nil)
	for i := range t.Backups() {
		b := &backup{host: t.Backup(server, i), shards: t.shards[server]}
		sockets := len(t.cl.Fabric().Machine(b.host).NICs)
		for k, s := range b.shards {
			name := fmt.Sprintf("kv.%s.%d.of%d", t.spec.Name, k, server)
			rows, err := newRegion(t.cl, b.host, host.Alloc{
				Name: name, Bytes: s.rowBytes(), Socket: k % sockets, Fill: s.rowFiller(),
			}, host.LocalWrite|host.RemoteWrite)
			if err != nil {
				return err
			}
			b.rows = append(b.rows, rows)
			if t.spec.Tree {
				continue
			}
			index, err := t.cl.Mem(b.host).Reserve(name+".index", s.chains*uint64(s.bytes), k%sockets)
			if err != nil {
				return err
			}
			b.index = append(b.index, index)
		}
		if t.spec.Tree {
			var err error
			if b.nodes, err = reserveNodes(t.cl, b.host, fmt.Sprintf("kv.%s.of%d.tree", t.spec.Name, server), b.shards[0].tree.nodes.nodes); err != nil {
				return err
			}
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

// LogRow is the row of a record in a log entry: 0 for where it has been from the start, else one more than the
// row's number.
func (t *Table) LogRow(key uint64, at Ref) uint32 {
	if _, j, initial := t.shardOf(key); initial && uint32(j) == at.Row() {
		return 0
	}
	return at.Row() + 1
}

// BackupAddr is where the backup on a machine keeps a record whose log entry says row: the start of the row. ok
// is false when the machine is no backup of the key or has no such row. The lookup is charged to c, which runs on that machine.
func (t *Table) BackupAddr(c *r2.Co, machine int, key uint64, row uint32) (a r2.Addr, ok bool) {
	b := t.backupOn(machine, key)
	if b == nil {
		return 0, false
	}
	s, j, initial := t.shardOf(key)
	if t.spec.Tree {
		b.backupTree(c, s, key)
	} else {
		b.touch(c, s, s.hashOf(key, j, initial))
	}
	if row == 0 {
		return b.rowAddr(s, uint32(j)), initial
	}
	return b.rowAddr(s, row-1), row <= s.rowEnd
}

// CopyAt is where the backup on a machine keeps the copy of a row.
func (t *Table) CopyAt(machine int, key uint64, at Ref) (r2.Loc, bool) {
	b := t.backupOn(machine, key)
	if b == nil {
		return r2.Loc{}, false
	}
	s, _, _ := t.shardOf(key)
	return r2.Loc{Machine: machine, RKey: b.rows[s.socket].rkey, Addr: b.rowAddr(s, at.Row())}, true
}

// AheadBackup asks the host for what BackupAddr, and then the access to the row, will need.
func (t *Table) AheadBackup(machine int, key uint64, row uint32) {
	b := t.backupOn(machine, key)
	if b == nil {
		return
	}
	if s, j, initial := t.shardOf(key); initial && row == 0 {
		if !t.spec.Tree {
			t.cl.AheadBytes(machine, b.bucketAddr(s, s.slotOf(s.hash(j))), lineBytes)
		}
		t.cl.AheadBytes(machine, b.rowAddr(s, uint32(j)), t.rows.ImageBytes())
	}
}

// touch charges the lookup in the backup's own hash table: the first line of a bucket is often enough, or, where the row is not in it, that
// and the line of a slot.
func (b *backup) touch(c *r2.Co, s *shard, hash uint64) {
	a := b.bucketAddr(s, s.slotOf(hash))
	for _, at := range s.backupLines {
		c.Touch(a+at, lineBytes)
	}
}

// bucketAddr is where the backup has its bucket of a place.
func (b *backup) bucketAddr(s *shard, place uint64) r2.Addr {
	return b.index[s.socket] + r2.Addr(place*uint64(s.bytes))
}

func (b *backup) rowAddr(s *shard, row uint32) r2.Addr {
	return b.rows[s.socket].base + r2.Addr(uint64(row)*uint64(s.table.rows.Stride))
}
