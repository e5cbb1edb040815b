package versions

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// tomb is a deleted record that is not collected yet.
type tomb struct {
	table *txn.Table
	key   uint64
	row   r2.Addr
	seq   uint64
	ts    uint64
}

// background is what a machine does from time to time: it says what its snapshots may still need, and collects what no snapshot
// needs any more.
func (s *Store) background(c *r2.Co) {
	m := s.machines[c.Machine()]
	c.Phase(metrics.PhaseOther, r2.Mode{Outstanding: true, Doorbell: true, Passive: true})
	for {
		c.Sleep(r2.Time(s.opt.GCNS) * r2.Nanosecond)
		if s.cl.Draining() {
			continue
		}
		c.Reset()
		if s.opt.Versions() {
			s.announce(c, m)
		}
		if m.id < s.db.Servers() {
			s.collect(c, m)
		}
	}
}

// announce tells all servers the lowest point that a snapshot of the machine may have from now on.
func (s *Store) announce(c *r2.Co, m *machine) {
	low := s.lowest(c, m)
	for server := range s.db.Servers() {
		if server == m.id {
			s.hear(m, m.id, low)
			continue
		}
		req := c.Request()
		for _, w := range low {
			req = binary.LittleEndian.AppendUint64(req, w)
		}
		c.Call(server, s.rpcLow, req)
	}
}

// lowest is the least of what snapshots of the machine read at, or may read at that begin later.
func (s *Store) lowest(c *r2.Co, m *machine) []uint64 {
	s.scheme.Low(c, &m.begins)
	m.floor = highest(m.floor, m.begins.Words)
	m.lowest = append(m.lowest[:0], m.floor...)
	for _, thread := range m.sessions {
		for _, x := range thread {
			if x != nil && x.running {
				m.lowest = least(m.lowest, x.point.Words)
			}
		}
	}
	return m.lowest
}

// highest and least are so by component; what one of them does not have is as nothing.
func highest(a, b []uint64) []uint64 {
	for i, w := range b {
		if i == len(a) {
			a = append(a, w)
		}
		a[i] = max(a[i], w)
	}
	return a
}

func least(a, b []uint64) []uint64 {
	a = a[:min(len(a), len(b))]
	for i := range a {
		a[i] = min(a[i], b[i])
	}
	return a
}

// serveLow takes the lowest point of another machine.
func (s *Store) serveLow(c *r2.Co, from r2.Peer, req, _ []byte) int {
	m := s.machines[c.Machine()]
	m.heard = m.heard[:0]
	for ; len(req) >= 8; req = req[8:] {
		m.heard = append(m.heard, wire.Get64(req))
	}
	s.hear(m, from.Machine, m.heard)
	return 0
}

// hear notes the lowest point of a machine. Announcements may overtake each other.
func (s *Store) hear(m *machine, of int, low []uint64) {
	if m.said[of] == nil {
		m.said[of] = []uint64{}
	}
	m.said[of] = highest(m.said[of], low)
	m.low = m.low[:0]
	for i, said := range m.said {
		switch {
		case said == nil:
			m.low = m.low[:0]
			return
		case i == 0:
			m.low = append(m.low, said...)
		default:
			m.low = least(m.low, said)
		}
	}
}

// needless says that every snapshot of the cluster sees what has a stamp.
func (s *Store) needless(m *machine, stamp uint64) bool {
	if !s.opt.Versions() {
		return true // there are none
	}
	return len(m.low) > 0 && visible(stamp, m.low)
}

// Missable says that a snapshot which is under way, or begins from now on, may lack what has a stamp.
func (s *Store) Missable(stamp timestamp.Stamp) bool {
	for m := range s.db.Servers() {
		if low := s.machines[m].low; len(low) > 0 && timestamp.Visible(stamp, low) {
			return false
		}
	}
	return true
}

// Bound is how stale a read of a snapshot that begins now is at most.
func (s *Store) Bound() (ns int64, ok bool) { return s.scheme.Bound() }

// collect frees the old versions that no snapshot needs, and then tombstones.
func (s *Store) collect(c *r2.Co, m *machine) {
	for _, t := range s.db.Tables() {
		h := m.heaps[t.ID]
		for h != nil && h.retired.len() > 0 && s.needless(m, h.retired.first().by) {
			slot := h.retired.first().slot
			h.retired.pop()
			h.release(c, slot)
			m.stats.Freed++
		}
	}
	s.collectEntries(c, m)
	s.forgetReaders(c, m)
	for n := m.tombs.len(); n > 0 && s.needless(m, m.tombs.first().ts); n-- {
		x := m.tombs.first()
		m.tombs.pop()
		if !s.removeTombstone(c, &x) {
			m.tombs.push(x)
		}
	}
}

// collectEntries has indexes forget the entries that no snapshot can ask for any more.
func (s *Store) collectEntries(c *r2.Co, m *machine) {
	if x := s.db.Indexes(); x != nil {
		x.Collect(c, func(stamp uint64) bool { return s.needless(m, stamp) })
	}
}

// removeTombstone takes a tombstone out of its table. It is false if its lock is held.
func (s *Store) removeTombstone(c *r2.Co, x *tomb) bool {
	if c.Load64(x.row+s.at.seq) != x.seq {
		return true // a record again, and the tombstone is an old version
	}
	word, won := s.host.TryLockRow(c, x.row)
	if !won {
		return false
	}
	loc, ok := s.look(c, x.table, x.key)
	if seq := c.Load64(x.row + s.at.seq); seq != x.seq || !ok || loc.Addr != x.row {
		s.Unlock(c, x.row, word)
		return true
	}
	s.keepClaims(c, x) // before an insert finds the gap
	change, err := x.table.Store.Remove(c, x.key, loc.Ref)
	if err != nil {
		c.Fail(fmt.Errorf("versions: the tombstone of key %d of table %s cannot be taken out: %w", x.key, x.table.Name, err))
		return true
	}
	x.table.Audit.NoteCollection(c.Machine(), x.key, change, x.seq)
	s.keepClaims(c, x) // of snapshots that do not wait for the lock, and have claimed the row meanwhile
	x.table.Store.Free(c, x.key, loc.Ref)
	s.host.RowRemoved(c, x.row)
	s.Released(c, x.row)
	return true
}

// keepClaims gives the gap of a tombstone that is collected what was known of who has read it: an insert may come there.
func (s *Store) keepClaims(c *r2.Co, x *tomb) {
	if s.traits.Readers {
		s.moveReaders(c, x)
		return
	}
	s.ClaimGap(c, x.table, x.key, c.Load64(x.row+s.at.tuple))
}
