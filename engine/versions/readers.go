package versions

import (
	"encoding/binary"

	"drtmx/engine/fabric/host"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// Readers of records, for a scheme whose writers depend on those that have read what they overwrite (timestamp.Traits.Readers). Stamps of
// different workers are not comparable, so a record cannot have one timestamp of all that have read it. It has the largest
// number of each slot: a transaction that depends on that one depends on those before it.
//
//	a reader    enters its stamp where another scheme raises a timestamp: before it checks that what it read is still so
//	            (OCC), or before it releases the lock (2PL)
//	a writer    gets the readers that are entered when it has the lock (Under); a reader that enters later fails its check. They come
//	            back with the acknowledgement of its versions, and go to the oracle with its other dependencies
//	a gap       has readers as records do, those that have found nothing; an insert gets them once its row is found (Fill)
//
// The transactions that one depends on have had their locks before it had its own. So no two wait for each other at the oracle.
// A reader is forgotten when all snapshots to come have it.

// readers are those of a record or a gap, the largest stamp of each slot.
type readers struct {
	now  []timestamp.Stamp
	held []timestamp.Stamp // what a writer has got, or will get: entered before it had the lock
}

// reader is one that is to be forgotten.
type reader struct {
	at    r2.Addr
	stamp uint64
}

const (
	readerLines = 1 << 12 // the first ones of readers, by hash
	readersMost = 1 << 13 // bytes of the readers of one record
)

// openReaders makes room for them, when they are first wanted.
func (s *Store) openReaders() error {
	for _, m := range s.machines[:s.db.Servers()] {
		if m.readers != nil {
			continue
		}
		var err error
		if m.readerLines, err = s.cl.Mem(m.id).Alloc(host.Alloc{Name: "versions.readers", Bytes: readerLines*lineBytes + readersMost, Interleaved: true}); err != nil {
			return err
		}
		m.readers, m.passed = map[r2.Addr]*readers{}, make([][]timestamp.Stamp, s.cl.Threads(m.id))
	}
	return nil
}

// readersAt latches the readers of a record or a gap; nil: it has none. What follows is of that instant, until more is charged.
func (m *machine) readersAt(c *r2.Co, at r2.Addr) *readers {
	c.LocalFAA(m.readerLine(at), 1)
	return m.readers[at]
}

func (m *machine) readerLine(at r2.Addr) r2.Addr {
	return m.readerLines + r2.Addr(spread(at)%readerLines*lineBytes)
}

// charge is for looking through n stamps.
func (m *machine) chargeReaders(c *r2.Co, at r2.Addr, n int) {
	c.Touch(m.readerLine(at), min(8+8*n, readersMost))
}

// newReaders gives a record or a gap an empty list.
func (m *machine) newReaders(at r2.Addr) *readers {
	x := &readers{}
	if n := len(m.spareReaders); n > 0 {
		x, m.spareReaders = m.spareReaders[n-1], m.spareReaders[:n-1]
	}
	m.readers[at] = x
	return x
}

func (m *machine) dropReaders(at r2.Addr, x *readers) {
	x.now, x.held = x.now[:0], x.held[:0]
	delete(m.readers, at)
	m.spareReaders = append(m.spareReaders, x)
}

// enter adds a reader.
func (s *Store) enter(c *r2.Co, at r2.Addr, stamp uint64) {
	m := s.machines[c.Machine()]
	x := m.readersAt(c, at)
	if x == nil {
		x = m.newReaders(at)
	}
	m.add(at, &x.now, timestamp.Stamp(stamp))
	m.chargeReaders(c, at, len(x.now))
}

// add keeps the larger stamp of a slot.
func (m *machine) add(at r2.Addr, list *[]timestamp.Stamp, stamp timestamp.Stamp) {
	if keepLargest(list, stamp) {
		m.entered.push(reader{at, uint64(stamp)})
	}
}

// keepLargest reports that the slot had none yet.
func keepLargest(list *[]timestamp.Stamp, stamp timestamp.Stamp) (first bool) {
	for i, x := range *list {
		if x.Slot() == stamp.Slot() {
			(*list)[i] = max(x, stamp)
			return false
		}
	}
	*list = append(*list, stamp)
	return true
}

// holdReaders gives a writer that has the lock of a row those that are entered.
func (s *Store) holdReaders(c *r2.Co, row r2.Addr) {
	m := s.machines[c.Machine()]
	x := m.readersAt(c, row)
	if x == nil {
		return
	}
	if len(x.held) == 0 { // an attempt before may have got some, and aborted
		x.held, x.now = x.now, x.held
	}
	for _, stamp := range x.now {
		keepLargest(&x.held, stamp)
	}
	x.now = x.now[:0]
	m.chargeReaders(c, row, len(x.held))
}

// Fill gives an insert those that have found nothing in its gap, when lookups find its row.
func (s *Store) Fill(c *r2.Co, t *txn.Table, key uint64, at store.Ref) {
	if s == nil || !s.traits.Readers {
		return
	}
	m, row := s.machines[c.Machine()], t.Store.Location(key, at).Addr
	gap := m.readersAt(c, s.guard(m, t, key))
	x := m.readers[row]
	switch {
	case gap == nil || len(gap.now) == 0:
		if x != nil { // of a record before it
			m.dropReaders(row, x)
		}
		return
	case x == nil:
		x = m.newReaders(row)
	}
	x.now, x.held = x.now[:0], x.held[:0]
	for _, stamp := range gap.now {
		m.add(row, &x.held, stamp)
	}
	m.chargeReaders(c, row, 2*len(x.held))
}

// passReaders puts those that a writer has got with what its handler answers. Its version has no readers yet, but for some whose
// check will fail.
func (s *Store) passReaders(c *r2.Co, row r2.Addr) {
	m := s.machines[c.Machine()]
	x := m.readersAt(c, row)
	if x == nil {
		return
	}
	for _, stamp := range x.held {
		keepLargest(&m.passed[c.Thread()], stamp)
	}
	n := len(x.held)
	if x.held = x.held[:0]; len(x.now) == 0 {
		m.dropReaders(row, x)
	}
	m.chargeReaders(c, row, n)
}

// Passed has the answer to a commit bring its transaction the readers of what it has overwritten here, and returns their bytes.
func (s *Store) Passed(c *r2.Co, rep []byte) (n int) {
	if s == nil || !s.traits.Readers {
		return 0
	}
	list := &s.machines[c.Machine()].passed[c.Thread()]
	for _, stamp := range *list {
		binary.LittleEndian.PutUint64(rep[n:], uint64(stamp))
		n += 8
	}
	*list = (*list)[:0]
	return n
}

// After has a transaction come after the readers that an answer brings.
func (s *Store) After(x *timestamp.Txn, rep []byte) {
	for ; len(rep) >= 8; rep = rep[8:] {
		s.scheme.Saw(x, timestamp.Stamp(wire.Get64(rep)))
	}
}

// moveReaders makes those of a record that is taken out of its table those of its gap.
func (s *Store) moveReaders(c *r2.Co, x *tomb) {
	m := s.machines[c.Machine()]
	from := m.readersAt(c, x.row)
	if from == nil {
		return
	}
	gap := s.guard(m, x.table, x.key)
	to := m.readers[gap]
	if to == nil {
		to = m.newReaders(gap)
	}
	for _, list := range [...][]timestamp.Stamp{from.held, from.now} {
		for _, stamp := range list {
			m.add(gap, &to.now, stamp)
		}
	}
	m.dropReaders(x.row, from)
	m.chargeReaders(c, gap, len(to.now))
}

// forgetReaders drops those that every snapshot has from now on.
func (s *Store) forgetReaders(c *r2.Co, m *machine) {
	for m.entered.len() > 0 && s.needless(m, m.entered.first().stamp) {
		r := m.entered.first()
		m.entered.pop()
		x := m.readersAt(c, r.at)
		if x == nil {
			continue
		}
		slot := timestamp.Stamp(r.stamp).Slot()
		for _, list := range [...]*[]timestamp.Stamp{&x.now, &x.held} {
			if left := s.forgetReader(m, list, slot); left != 0 {
				m.entered.push(reader{r.at, uint64(left)})
			}
		}
		if len(x.now)+len(x.held) == 0 {
			m.dropReaders(r.at, x)
		}
	}
}

// forgetReader drops that of a slot, or returns it.
func (s *Store) forgetReader(m *machine, list *[]timestamp.Stamp, slot int) (left timestamp.Stamp) {
	for i, x := range *list {
		if x.Slot() != slot {
			continue
		}
		if !s.needless(m, uint64(x)) {
			return x
		}
		last := len(*list) - 1
		(*list)[i] = (*list)[last]
		*list = (*list)[:last]
		return 0
	}
	return 0
}

// restampReaders forgets all: their stamps mean nothing to another scheme.
func (m *machine) restampReaders() {
	for at, x := range m.readers { // order-free: all go
		m.dropReaders(at, x)
	}
	m.entered = fifo[reader]{}
}
