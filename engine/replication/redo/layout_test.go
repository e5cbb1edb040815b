package redo

import (
	"bytes"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/replication"
)

// Backups install what an entry carries of a header with the value, in rows of each form of tearing. An older entry that comes late changes
// nothing, and a delete installs the words alone.
func TestBackupsInstallWhatEntriesCarry(t *testing.T) {
	const wide = 5 * 8 // with it a row is longer than a line
	for _, form := range []record.Tearing{record.AsPublished, record.HeaderLast, record.LineVersions} {
		layout := record.MustLayout(record.Options{Step: 2, Tearing: form},
			record.Word{Name: "lock", Role: record.RoleLock}, record.Word{Name: "seq", Role: record.RoleStamp, Initial: record.InitialSeq},
			record.Word{Name: "wide", Role: record.RoleLogged, Words: wide / 8})
		b := newBed(t, fabric.Config{}, r2.Config{Threads: 1}, replication.Options{Replicas: 3, Layout: layout})
		change := func(op record.Op, seq uint64, fill byte) record.Update {
			u := record.Update{Table: tableID, Op: op, Key: 0, New: seq, Value: bytes.Repeat([]byte{fill}, wide+valueBytes)}
			if op == record.OpDelete {
				u.Value = u.Value[:wide]
			}
			return u
		}
		b.spawn(0, 0, func(c *r2.Co, w *Writer) {
			for _, u := range []record.Update{change(record.OpUpdate, 10, 1), change(record.OpUpdate, 8, 2), change(record.OpDelete, 12, 3)} {
				if err := send(w, replication.Awaited, false, u); err != nil {
					t.Error(err)
				}
				b.reclaim(c, w)
			}
		})
		b.run()
		row := make([]byte, b.table.RowBytes())
		for m := 1; m < machines; m++ {
			want := append(bytes.Repeat([]byte{3}, wide), bytes.Repeat([]byte{1}, valueBytes)...)
			if !b.table.Row(m, 0, row) || layout.StampOf(row) != 12 || !bytes.Equal(row[layout.Carried:], want) {
				t.Errorf("%v: machine %d has %x", form, m, row)
			}
		}
	}
}
