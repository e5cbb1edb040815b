package replication

import (
	"bytes"
	"fmt"

	"drtmx/engine/membership"
	"drtmx/engine/record"
	"drtmx/engine/store"
)

// Diverged is the kind of anomaly of a record at rest whose backup has not what its primary has.
const Diverged = "replica-diverged"

// Row is a record at rest as its primary has it.
type Row struct {
	Store   store.Table
	Name    string // of the table
	Key     uint64
	Machine int
	Bytes   []byte
}

// Copies say where the copies of records are, and compare them: the part of a Scheme that all have.
type Copies struct {
	placement membership.Placement
	other     []byte // the row of a backup
}

// CopiesOf are those of a scheme with these options.
func CopiesOf(o Options) Copies {
	return Copies{placement: o.Members.Placement(membership.First, o.Replicas)}
}

// Backups are the machines that have copies of the records of a primary.
func (c *Copies) Backups(primary int) []int { return c.placement.Backups(primary) }

// Audit compares the copies of a record with its row.
func (c *Copies) Audit(r Row, bad func(text string)) {
	if len(c.other) < len(r.Bytes) {
		c.other = make([]byte, len(r.Bytes))
	}
	h, other := &r.Store.Rows().Layout, c.other[:len(r.Bytes)]
	for _, b := range c.placement.Backups(r.Machine) {
		if !r.Store.Row(b, r.Key, other) || !bytes.Equal(replicated(h, r.Bytes), replicated(h, other)) {
			bad(fmt.Sprintf("key %d of table %s has stamp %d on machine %d, %d on its backup %d", r.Key, r.Name, h.StampOf(r.Bytes), r.Machine, h.StampOf(other), b))
		}
	}
}

// replicated is what backups have of a row. A tombstone has no value: a backup may hear of the deletion first, and then
// not put in what was there before.
func replicated(h *record.Layout, row []byte) []byte {
	if h.Tomb(h.StampOf(row)) {
		return row[h.Own:h.Bytes]
	}
	return row[h.Own:]
}
