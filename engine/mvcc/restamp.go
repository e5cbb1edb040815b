package mvcc

import (
	"errors"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
)

// Restamp puts the scheme of new options in force, while no transaction is under way and nothing is on the network. The stamps
// of another scheme mean nothing to it, so that all versions become as old as can be: present ones get stamp 0, which
// every snapshot sees, and older ones are given up. Tuple timestamps and guards stay: only schemes that read clocks raise
// them, and clocks go on. It takes no virtual time.
func (s *Store) Restamp(o timestamp.Options) error {
	if err := s.eachRow(func(m int, t *txn.Table, row r2.Addr, primary bool) {
		mem := s.cl.Mem(m)
		mem.Change(row+chainAt, 16)
		if clear(mem.Bytes(row+versionAt, 8)); primary {
			clear(mem.Bytes(row+chainAt, 8))
			if tail := tailOf(t); tail.Slots() > 0 {
				at, n := row+r2.Addr(tail.Slot(0)), tail.RowBytes()-tail.Slot(0)
				mem.Change(at, n)
				clear(mem.Bytes(at, n))
			}
		}
	}); err != nil {
		return err
	}
	for _, m := range s.machines {
		for _, h := range m.heaps {
			if h != nil {
				h.fresh, h.free, h.seqs, h.rows, h.retired = 0, h.free[:0], h.seqs[:0], h.rows[:0], fifo[retired]{}
			}
		}
		for i := m.tombs.head; i < len(m.tombs.list); i++ {
			m.tombs.list[i].ts = 0
		}
		m.restampReaders()
		clear(m.said)
		m.low, m.floor, m.lowest, m.begins = m.low[:0], m.floor[:0], m.lowest[:0], timestamp.Point{}
	}
	if x := s.db.Indexes(); x != nil {
		x.Restamp()
	}
	s.db.Restamped()
	if !o.Versions() { // what is not said with ts.scheme=none stays
		o = s.opt.Timestamps
		o.Scheme = timestamp.None
	}
	s.opt.Timestamps = o
	return s.use()
}

// Follow takes in options: at once, or by Restamp where Changes says so. A nil store has none.
func (s *Store) Follow(o timestamp.Options) error {
	switch {
	case s == nil:
		return nil
	case s.Changes(o):
		return s.Restamp(o)
	}
	s.Set(o)
	return nil
}

// NeedsReset says why options cannot come into force: rows are laid out when the database is opened. s is nil where they have
// no versions.
func (s *Store) NeedsReset(o timestamp.Options) (knob, why string) {
	if s == nil && o.Versions() {
		return "ts.scheme", "the records of this system have no versions"
	}
	return "", ""
}

// errPlace says why the rows of a table cannot be found.
var errPlace = errors.New("its store does not say where rows are: reset to change ts.scheme")

// eachRow calls f with the rows of the records that some transaction wanted to write, on their primaries and backups.
func (s *Store) eachRow(f func(machine int, t *txn.Table, row r2.Addr, primary bool)) (err error) {
	for _, t := range s.db.Tables() {
		if t.Constant {
			continue
		}
		placed, ok := t.Store.(store.Placed)
		if !ok {
			return fmt.Errorf("table %s: %w", t.Name, errPlace)
		}
		s.db.EachTouched(t.ID, func(key uint64) {
			m := t.Store.Primary(key)
			if row, ok := placed.RowAddr(m, key); ok {
				f(m, t, row, true)
			}
			for _, b := range s.db.Protocol().Backups(m) {
				if row, ok := placed.RowAddr(b, key); ok {
					f(b, t, row, false)
				}
			}
		})
	}
	return nil
}

// unstamped is the scheme of ts.scheme=none, where records have versions all the same: all have stamp 0, and no snapshot reads
// old ones.
type unstamped struct{}

func (unstamped) Traits() timestamp.Traits                              { return timestamp.Traits{} }
func (unstamped) Begin(*r2.Co, *timestamp.Txn)                          {}
func (unstamped) Saw(*timestamp.Txn, timestamp.Stamp)                   {}
func (unstamped) Over(*timestamp.Txn, timestamp.Stamp, timestamp.Stamp) {}
func (unstamped) Draw(_ *r2.Co, x *timestamp.Txn) error                 { x.TS, x.Drawn = 0, true; return nil }
func (unstamped) Wait(*r2.Co, *timestamp.Txn)                           {}
func (unstamped) Done(*r2.Co, *timestamp.Txn, *timestamp.Session)       {}
func (unstamped) Void(*r2.Co, *timestamp.Txn)                           {}
func (unstamped) Low(_ *r2.Co, p *timestamp.Point)                      { p.Words = p.Words[:0] }
func (unstamped) Bound() (ns int64, ok bool)                            { return 0, false }
func (unstamped) Point(*r2.Co, *timestamp.Session, timestamp.Freshness, *timestamp.Point) error {
	return errors.New("a snapshot without timestamps: set ts.scheme")
}
