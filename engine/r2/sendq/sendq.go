// Package sendq has the send queues of queue pairs as the threads that post know them: which work requests are in the RNIC's hands, which
// wait for the doorbell or for room, who waits for each, and which send buffer it gives back.
package sendq

import "drtmx/engine/fabric"

// A work request's id is a RECV's slot with RecvFlag; else the number of its
// queue pair, the coroutine that waits for it (only looking ahead wants to know) and
// the low bits of its place in the send queue.
const (
	RecvFlag  = 1 << 63
	pairShift = 32
	coShift   = 12
	PlaceMask = 1<<coShift - 1
)

// ListMax is the longest chain of work requests.
const ListMax = 8

// Entry is a work request in a send queue, in posting order.
type Entry struct {
	Co     uint16 // who posted it, by its number in its worker, with flags; 0: a reply, an acknowledgement, a repetition
	Buffer int16  // send buffer to give back, or -1
}

// Flags in Entry.Co: the coroutine waits for the request, or it is passive.
const (
	Waits   = 1 << 15
	Passive = 1 << 14
)

// Pair is a queue pair with what the worker knows of its send queue: a
// ring of entries of which the first are in the RNIC's hands and the rest
// wait for the flush or for room. There are tens of thousands, used in no
// order, so each is one line of the host's memory.
type Pair struct {
	QP         *fabric.QP
	Pend       *Pending // nil: nothing is
	more       uint32   // where rings has the ring once it is larger than first
	size       uint32   // of that ring
	ID         uint32   // in the cluster
	Head       uint32   // oldest not known to be complete
	Posted     uint32   // next to post
	Tail       uint32   // next free
	unsignaled uint16
	Depth      uint16
	first      [4]Entry
	Dirty      bool
	Buffer     fabric.MMIOBuffer // of a shared context
}

// Pending are the work requests of a queue pair that wait for the doorbell.
type Pending struct {
	WRs      []fabric.SendWR
	segments []fabric.Segment // of their gather lists
}

// Pairs are the queue pairs of a machine's threads, by id.
type Pairs struct {
	Machine int
	blocks  []*[pairBlock]Pair
	n       int
	rings   rings
	spare   []*Pending // empty
}

// pairBlock queue pairs are allocated at a time; they never move. The runtime puts smaller
// blocks off the host's lines by a word.
const pairBlock = 512

// machineShift is where an id has the machine.
const machineShift = 20

// Add is a new one.
func (s *Pairs) Add(qp *fabric.QP, depth int) *Pair {
	if s.n%pairBlock == 0 {
		s.blocks = append(s.blocks, new([pairBlock]Pair))
	}
	q := &s.blocks[s.n/pairBlock][s.n%pairBlock]
	*q = Pair{QP: qp, ID: uint32(s.Machine)<<machineShift | uint32(s.n), Depth: uint16(depth)}
	s.n++
	return q
}

// Of is the queue pair of a work request's id.
func (s *Pairs) Of(id uint64) *Pair { return s.Number(uint32(id >> pairShift)) }

// Number is the queue pair of an id of its own.
func (s *Pairs) Number(id uint32) *Pair {
	n := id & (1<<machineShift - 1)
	return &s.blocks[n/pairBlock][n%pairBlock]
}

// Waiter is the number of the coroutine that waits for a work request; false: none waits, or the id is a
// RECV's.
func Waiter(id uint64) (n uint32, ok bool) {
	n = uint32(id>>coShift) & (1<<(pairShift-coShift) - 1)
	return n - 1, n > 0 && id&RecvFlag == 0
}

// At is the entry of a place in the send queue.
func (s *Pairs) At(q *Pair, place uint32) *Entry {
	if q.size == 0 {
		return &q.first[place&uint32(len(q.first)-1)]
	}
	return s.rings.at(q.more + place&(q.size-1))
}

// grow doubles the ring.
func (s *Pairs) grow(q *Pair) {
	size := 2 * q.room()
	ring := s.rings.alloc(size)
	for i := q.Head; i != q.Tail; i++ {
		*s.rings.at(ring + i&(size-1)) = *s.At(q, i)
	}
	q.more, q.size = ring, size
}

// room is how many entries the ring holds.
func (q *Pair) room() uint32 { return max(q.size, uint32(len(q.first))) }

// Append adds a work request, of a coroutine of a number if it waits. It signals one when too many were not: their
// places in the send queue come back only with a later completion, and so do their
// buffers, of which few in each of a thousand queue pairs are all that there are (scarce).
func (s *Pairs) Append(q *Pair, wr *fabric.SendWR, e Entry, co uint32, scarce bool) {
	if q.Tail-q.Head == q.room() {
		s.grow(q)
	}
	q.unsignaled++
	if q.unsignaled >= q.Depth/4 || scarce {
		wr.Signaled = true
	}
	if wr.Signaled {
		q.unsignaled = 0
	}
	wr.ID = uint64(q.ID)<<pairShift | uint64(q.Tail&PlaceMask)
	if e.Co&Waits != 0 {
		wr.ID |= uint64(co+1) << coShift
	}
	*s.At(q, q.Tail) = e
	q.Tail++
	if q.Pend == nil {
		q.Pend = s.pending()
		q.QP.AheadPost()
	}
	q.Pend.WRs = append(q.Pend.WRs, *wr)
	if len(wr.Further) > 0 { // the list is the caller's again
		n := len(q.Pend.segments)
		q.Pend.segments = append(q.Pend.segments, wr.Further...)
		q.Pend.WRs[len(q.Pend.WRs)-1].Further = q.Pend.segments[n:]
	}
}

func (s *Pairs) pending() *Pending {
	n := len(s.spare)
	if n == 0 {
		return &Pending{WRs: make([]fabric.SendWR, 0, ListMax)}
	}
	p := s.spare[n-1]
	s.spare = s.spare[:n-1]
	return p
}

// Rung says that nothing of a queue pair waits for the doorbell. The next queue pair takes the list while it is in the host's cache.
func (s *Pairs) Rung(q *Pair) {
	q.Pend.segments = q.Pend.segments[:0]
	s.spare = append(s.spare, q.Pend)
	q.Pend = nil
}

// rings are the memory of rings that outgrew their queue pair, many at a time:
// thousands of queue pairs do, now and then for as long as a run takes.
type rings struct {
	blocks []*[ringsBlock]Entry
	used   uint32 // entries, of all blocks
}

const ringsBlock = 1 << 12

func (s *rings) at(i uint32) *Entry { return &s.blocks[i/ringsBlock][i%ringsBlock] }

// alloc allocates a ring of n entries, a power of two.
func (s *rings) alloc(n uint32) uint32 {
	at := s.used
	for uint32(len(s.blocks))*ringsBlock < at+n {
		s.blocks = append(s.blocks, new([ringsBlock]Entry))
	}
	s.used = at + n
	return at
}
