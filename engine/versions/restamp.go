package versions

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
		mem.Change(row+s.at.chain, 16)
		if clear(mem.Bytes(row+s.at.version, 8)); primary {
			clear(mem.Bytes(row+s.at.chain, 8))
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
		o = s.opt
		o.Scheme = timestamp.None
	}
	s.setClocks(o)
	s.opt = o
	return s.use()
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
			for _, b := range s.db.Log().Backups(m) {
				if row, ok := placed.RowAddr(b, key); ok {
					f(b, t, row, false)
				}
			}
		})
	}
	return nil
}
