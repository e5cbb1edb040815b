package versions

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/fabric/host"
	"drtmx/engine/history"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// A node is an old version: stamp u64 | next 48 bits, tombstone 1 bit | the bytes that updates of the table write.
const (
	nodeHead = 16
	tombBit  = uint64(1) << 63
	nextMask = uint64(1)<<48 - 1
)

// heap has the old versions of a table on one server.
type heap struct {
	base     r2.Addr
	bytes    int // of a node
	count    int
	fresh    int      // slots that were never used begin here
	free     []uint32 // the one freed last comes first
	reserved int
	private  r2.Addr // the line of all this
	retired  fifo[retired]

	// Oracles, free of time, by slot.
	seqs []uint64  // sequence of the version
	rows []r2.Addr // whose it is; 0: it was collected
}

// retired is a node with the stamp of what has superseded it.
type retired struct {
	slot uint32
	by   uint64
}

// fifo has what is to be collected in the order in which it came.
type fifo[T any] struct {
	list []T
	head int
}

func (f *fifo[T]) len() int { return len(f.list) - f.head }

func (f *fifo[T]) first() T { return f.list[f.head] }

func (f *fifo[T]) pop() { f.head++ }

func (f *fifo[T]) push(x T) {
	if f.head > 64 && f.head*2 > len(f.list) {
		f.list, f.head = f.list[:copy(f.list, f.list[f.head:])], 0
	}
	f.list = append(f.list, x)
}

// Prepare makes the heaps, when all tables are there, and begins to collect. Coroutines of the background come after those of
// clients, whose numbers in messages are their places in the thread.
func (s *Store) Prepare() {
	if s.ready {
		return
	}
	s.ready = true
	for m := range s.cl.Machines() {
		s.cl.SpawnBackground(m, 0, "versions", s.background)
	}
	for m := range s.db.Servers() {
		for _, t := range s.db.Tables() {
			if t.Constant {
				continue
			}
			h, err := s.newHeap(m, t)
			if err != nil {
				s.cl.Fail(m, fmt.Errorf("old versions of table %s: %w", t.Name, err))
				return
			}
			s.machines[m].heaps[t.ID] = h
		}
	}
}

func (s *Store) newHeap(m int, t *txn.Table) (*heap, error) {
	h := &heap{bytes: nodeHead + wire.Padded(t.Written)}
	h.count = int(s.opt.VersionBytes) / h.bytes
	var err error
	if h.base, err = s.cl.Mem(m).Alloc(host.Alloc{Name: "versions.versions", Bytes: s.opt.VersionBytes, Interleaved: true}); err == nil {
		h.private, err = s.cl.Mem(m).Reserve("versions.heap", lineBytes, 0)
	}
	return h, err
}

// Reserve takes room for one old version of a table, on the CPU of the record's primary: an install never fails. The caller holds
// the lock of the record.
func (s *Store) Reserve(c *r2.Co, t *txn.Table) bool {
	h := s.machines[c.Machine()].heaps[t.ID]
	c.Touch(h.private, 8)
	if h.room() == 0 {
		s.counts(c).Full++
		return false
	}
	h.reserved++
	return true
}

// Cancel gives back what was reserved.
func (s *Store) Cancel(c *r2.Co, t *txn.Table) {
	h := s.machines[c.Machine()].heaps[t.ID]
	c.Touch(h.private, 8)
	h.reserved--
}

// used counts the versions that are there, room the places that are not reserved.
func (h *heap) used() int { return h.fresh - len(h.free) }

func (h *heap) room() int { return max(h.count-h.used()-h.reserved, 0) }

// useReserved uses a reserved slot.
func (h *heap) useReserved(c *r2.Co) uint32 {
	c.Touch(h.private, 8)
	h.reserved--
	if n := len(h.free); n > 0 {
		slot := h.free[n-1]
		h.free = h.free[:n-1]
		return slot
	}
	h.seqs, h.rows = append(h.seqs, 0), append(h.rows, 0)
	h.fresh++
	return uint32(h.fresh - 1)
}

// release makes a slot free.
func (h *heap) release(c *r2.Co, slot uint32) {
	c.Touch(h.private, 8)
	h.free = append(h.free, slot)
	h.rows[slot] = 0
}

func (h *heap) addr(slot uint32) r2.Addr { return h.base + r2.Addr(slot)*r2.Addr(h.bytes) }

// Version is what Install puts in place.
type Version struct {
	TS    uint64
	Seq   uint64
	Value []byte // nil: a tombstone
}

// Install makes a version the present one of a row of c's machine, whose lock its transaction holds and for which it has
// reserved, if the row holds a version at all. A reader without a lock finds the old version in the row, or an odd
// sequence and the old version in the chain, or the new one.
func (s *Store) Install(c *r2.Co, t *txn.Table, key uint64, row r2.Addr, v Version) {
	old, tail := c.Load64(row+s.at.seq), tailOf(t)
	if tail.Slots() > 0 {
		c.Store64(row+r2.Addr(tail.End()), v.TS)
	}
	if record.Live(old) {
		s.push(c, t, row, v.TS)
	}
	c.Store64(row+s.at.seq, record.Writing(old))
	c.Store64(row+s.at.version, v.TS)
	if v.Value != nil {
		c.Store(row+s.at.value, v.Value)
	}
	c.Store64(row+s.at.seq, v.Seq)
	if s.traits.Readers {
		s.passReaders(c, row)
	}
	if s.traits.Claims {
		s.overwrite(c, row+s.at.tuple, v.TS)
	}
	if v.Value == nil {
		m := s.machines[c.Machine()]
		m.tombs.push(tomb{t, key, row, v.Seq, v.TS})
	}
}

// overwrite moves the tuple timestamp of a row to that of its new version: a snapshot may have raised it further after the lock, which
// line 2 of Figure 5-7 as it is printed forgets.
func (s *Store) overwrite(c *r2.Co, tuple r2.Addr, ts uint64) {
	if s.traits.SetsTupleBack {
		c.Store64(tuple, ts)
		return
	}
	raise(c, tuple, ts)
}

// push copies the present version of a row to the heap and links it.
func (s *Store) push(c *r2.Co, t *txn.Table, row r2.Addr, by uint64) {
	h := s.machines[c.Machine()].heaps[t.ID]
	slot := h.useReserved(c)
	b := c.Load(row, int(s.at.value)+t.Written)
	node := s.machines[c.Machine()].scratch[c.Thread()][:0]
	next := wire.Get64(b[s.at.chain:])
	if record.Tomb(wire.Get64(b[s.at.seq:])) {
		next |= tombBit
	}
	node = binary.LittleEndian.AppendUint64(node, wire.Get64(b[s.at.version:]))
	node = binary.LittleEndian.AppendUint64(node, next)
	node = append(node, b[s.at.value:]...)
	s.machines[c.Machine()].scratch[c.Thread()] = node
	h.seqs[slot], h.rows[slot] = wire.Get64(b[s.at.seq:]), row
	c.Store(h.addr(slot), node)
	c.Store64(row+s.at.chain, uint64(slot)+1)
	h.retired.push(retired{slot, by})
	s.keepInline(c, t, row, node, wire.Get64(b[s.at.seq:]))
	s.counts(c).Pushed++
}

// found is what a snapshot reads of a record.
type found struct {
	ok      bool   // there is a version, and it is no tombstone
	moved   bool   // the row is not the record's any more
	missing bool   // there is no row
	gap     uint32 // the version of the gap then
	stamp   uint64 // of it
	seq     uint64 // of it; 0: there was nothing before the row's first version
}

// VersionLost is the kind of anomaly of a snapshot that needs a version which was collected.
const VersionLost = "version-lost"

// read finds what is visible at a point in the row of a record, and copies its value.
func (s *Store) read(c *r2.Co, t *txn.Table, key uint64, loc store.Location, p []uint64, value []byte) (x found) {
	b := c.Load(loc.Addr, t.RowBytes)
	copy(value, b[s.at.value:])
	seq, stamp := wire.Get64(b[s.at.seq:]), wire.Get64(b[s.at.version:])
	if loc.Stale(seq) {
		return found{moved: true}
	}
	if record.Stable(seq) && record.Live(seq) && visible(stamp, p) {
		return found{ok: !record.Tomb(seq), stamp: stamp, seq: seq}
	}
	return s.walk(c, t, key, loc.Addr, wire.Get64(b[s.at.chain:]), p, value)
}

// walk finds what is visible at a point in a chain, of which at is the link to the first version. A chain in which a slot was used too
// early may come back to itself. So from time to time, at greater and greater distances, the walk marks where it is; at a mark it gives up, with
// what is there: the run goes on, and its checks say what has happened.
func (s *Store) walk(c *r2.Co, t *txn.Table, key uint64, row r2.Addr, at uint64, p []uint64, value []byte) (x found) {
	h := s.machines[c.Machine()].heaps[t.ID]
	defer c.Back(c.Beyond())
	known := false
	for n, mark := 1, uint32(0); at != 0; n++ {
		slot := uint32(at - 1)
		circle := n > 1 && slot == mark
		if n&(n-1) == 0 {
			mark = slot
		}
		node := c.Load(h.addr(slot), h.bytes)
		switch {
		case circle:
			s.lost(c, t, key, slot, "which is in its chain twice")
		case h.rows[slot] != row && !known:
			known = true
			s.lost(c, t, key, slot, "which was collected")
		}
		x.stamp, x.seq, at = wire.Get64(node), h.seqs[slot], wire.Get64(node[8:])
		x.ok, at = at&tombBit == 0, at&nextMask
		if circle || visible(x.stamp, p) {
			copy(value, node[nodeHead:nodeHead+t.Written])
			return x
		}
	}
	return found{}
}

func (s *Store) lost(c *r2.Co, t *txn.Table, key uint64, slot uint32, why string) {
	s.db.Note(c.Machine(), history.Anomaly{Kind: VersionLost, Text: fmt.Sprintf("a snapshot looks for an old version of key %d of table %s in slot %d, %s", key, t.Name, slot, why)})
}
