package rococo

import (
	"errors"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/txn/audit"
)

// What inserts a record gives it a new row, or, where the record was deleted and snapshots may still need what was there, the
// row of its tombstone. Pieces and bodies need no locks, but the collector of tombstones knows nothing of claims:
// a transaction that writes over one holds the row's lock word, so that it is not taken out meanwhile.

// Lock words of a tombstone: it is being taken out, or written over.
const (
	collected   = 1
	reinserting = 2
)

// insertedRow is the row of a record that is being inserted, and what it follows in the history.
type insertedRow struct {
	loc    store.Location
	seq    uint64 // of its first version
	tomb   bool   // there was a tombstone, which is locked
	before uint64 // version of what was there, as the history has it
}

// next is the version, as the history has it, of the record that follows on before.
func (b *insertedRow) next(before uint64) uint64 {
	if b.tomb {
		return audit.UpdatedVersion(before, b.seq)
	}
	return audit.ReinsertedVersion(before, b.seq)
}

// insertRow inserts the row of a missing record.
func (s *server) insertRow(c *r2.Co, t *txn.Table, key uint64) (b insertedRow, err error) {
	for {
		own := s.buffer(c, t.RowBytes)[:s.p.H.Own]
		clear(own)
		x, err := t.Store.Insert(c, key, own, store.AnyVersion)
		switch {
		case err == nil:
			t.Audit.NoteInsert(c.Machine(), key, x.Ref)
			return insertedRow{loc: t.Store.Location(key, x.Ref), seq: s.p.H.FirstStamp(x.Ref.Incarnation()), before: t.Audit.AbsentAtGap(c.Machine(), key, x.Before)}, nil
		case s.p.MV == nil || !errors.Is(err, store.ErrExists):
			return b, fmt.Errorf("insert of key %d of table %s: %w", key, t.Name, err)
		}
		if b, err = s.lockTomb(c, t, key); err != nil || b.tomb {
			return b, err
		}
	}
}

// lockTomb locks the tombstone that a record has left. There is none if it was taken out just now.
func (s *server) lockTomb(c *r2.Co, t *txn.Table, key uint64) (b insertedRow, err error) {
	loc, ok, err := t.Store.LookupLocal(c, key)
	if err != nil || !ok {
		return b, err
	}
	if c.LocalCAS(loc.Addr, 0, reinserting) != 0 { // the collector takes a few accesses
		c.Sleep(r2.Time(tombPollNS) * 1000)
		return b, nil
	}
	seq := c.Load64(loc.Addr + r2.Addr(s.p.H.Stamp))
	switch {
	case loc.Stale(seq):
	case s.p.H.Tomb(seq):
		return insertedRow{loc: loc, seq: record.NextVersion(seq), tomb: true, before: t.Audit.Version(c.Machine(), key, loc.Ref, seq)}, nil
	default:
		err = fmt.Errorf("insert of key %d of table %s: %w", key, t.Name, store.ErrExists)
	}
	s.p.MV.Unlock(c, loc.Addr, reinserting)
	return b, err
}

// tombPollNS is after which a tombstone is looked at again that is being taken out.
const tombPollNS = 200

// born lets go of a record that was inserted.
func (s *server) born(c *r2.Co, b *insertedRow) {
	if b.tomb {
		s.p.MV.Unlock(c, b.loc.Addr, reinserting)
	}
}
