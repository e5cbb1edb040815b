package record

import "fmt"

// Rings is where the log rings of one backup lie: one per (source machine, source thread), in one
// registered region.
type Rings struct {
	Machines, Threads int    // sources
	Bytes             uint64 // of one ring
}

// Check reports an impossible geometry.
func (r Rings) Check() error {
	if r.Machines < 1 || r.Threads < 1 {
		return fmt.Errorf("log rings for %d machines x %d threads: both must be at least 1", r.Machines, r.Threads)
	}
	if r.Bytes < 2*MaxEntryBytes || r.Bytes%MaxEntryBytes != 0 {
		return fmt.Errorf("log ring of %d bytes: must be a multiple of %d, at least %d", r.Bytes, MaxEntryBytes, 2*MaxEntryBytes)
	}
	return nil
}

// Total is the size of the region in bytes.
func (r Rings) Total() uint64 { return uint64(r.Machines*r.Threads) * r.Bytes }

// Offset is where the ring of a source starts in the region.
func (r Rings) Offset(machine, thread int) uint64 {
	return uint64(machine*r.Threads+thread) * r.Bytes
}

// Ring is the source's private account of one of its rings. Positions count bytes since the start of the
// run and never wrap; an entry at position p lies at p modulo the ring's size. Entries start on a line,
// so that two of them never share one, and do not wrap: an entry that would not fit before the end of the
// ring starts at its beginning. Head and tail thus obey head <= tail <= head + size.
type Ring struct {
	size       uint64
	head, tail uint64
	open       []span // in ring order, from first to the end; grows to the most that were ever open
	first      int
}

// span is one entry that was reserved and not yet passed by the head.
type span struct {
	start, end uint64
	released   bool
}

// NewRing returns the account of an empty ring.
func (r Rings) NewRing() Ring { return Ring{size: r.Bytes} }

// Reserve finds room for an entry of n bytes and returns its position. When the ring is full ok is false and
// nothing changes: the caller has to see to it that entries are reclaimed, and try again.
func (r *Ring) Reserve(n int) (pos uint64, ok bool) {
	if n < 1 || n > MaxEntryBytes {
		panic(fmt.Sprintf("record: log entry of %d bytes, must be 1 to %d", n, MaxEntryBytes))
	}
	pos = r.tail
	if left := r.size - pos%r.size; uint64(n) > left {
		pos += left
	}
	end := pos + uint64(alignUp(n, LineBytes))
	if end > r.head+r.size {
		return 0, false
	}
	r.push(span{start: pos, end: end})
	r.tail = end
	return pos, true
}

// push appends to the open spans. When the array is full and at least half of it is passed, it moves the open
// ones to the front instead of growing, so that a ring in use stops allocating.
func (r *Ring) push(s span) {
	if len(r.open) == cap(r.open) && r.first >= (cap(r.open)+1)/2 && r.first > 0 {
		r.open = r.open[:copy(r.open, r.open[r.first:])]
		r.first = 0
	}
	r.open = append(r.open, s)
}

// Release says that the backup is done with the entry at pos. Entries may be released in any order; the
// head passes an entry when all before it are released too. It reports whether such an entry was open.
func (r *Ring) Release(pos uint64) bool {
	for i := r.first; i < len(r.open); i++ {
		if r.open[i].start != pos || r.open[i].released {
			continue
		}
		r.open[i].released = true
		r.advance()
		return true
	}
	return false
}

func (r *Ring) advance() {
	for r.first < len(r.open) && r.open[r.first].released {
		r.head = r.open[r.first].end
		r.first++
	}
	if r.first == len(r.open) {
		// Nothing is open: the next entry goes to the beginning of the ring, whose
		// lines are more likely to be in the backup's cache than those ahead.
		r.open, r.first = r.open[:0], 0
		r.tail = (r.tail + r.size - 1) / r.size * r.size
		r.head = r.tail
	}
}

// Offset is where a position lies within the ring.
func (r *Ring) Offset(pos uint64) uint64 { return pos % r.size }

// Open is the number of entries reserved and not yet passed by the head.
func (r *Ring) Open() int { return len(r.open) - r.first }

// Used is the number of bytes from head to tail.
func (r *Ring) Used() uint64 { return r.tail - r.head }
