package fabric

import (
	"fmt"
	"unsafe"

	"drtmx/engine/sim"
)

// slots is an array of message buffers in a memory. A RECV queue goes round all of its buffers, each a page from the next or a good part of
// one, for messages of a line or three: so the host keeps the beginnings of the buffers together, and a buffer's own bytes only where an
// access went beyond. Addresses, and with them all that is charged, are those of the array.
type slots struct {
	from, to     Addr
	stride, head uint64 // bytes from one buffer to the next, and of a beginning
	heads        []byte
	long         []uint64 // by buffer: its bytes are in Memory.buf, at their address
	longs        int      // how many are
}

// slotted marks a page's socket when the page has bytes of an array of buffers.
const slotted = 0x20

// Slots says that count buffers of stride bytes lie at from, above all other arrays, not yet touched, and that most accesses are to the first
// head bytes of one. What it holds is as in any other memory, until Reuse.
func (m *Memory) Slots(from Addr, stride, count, head int) error {
	head = (head + lineBytes - 1) &^ (lineBytes - 1)
	if head >= stride || count == 0 {
		return nil
	}
	n := uint64(count * head)
	heads, err := reserveSpace(n)
	if err == nil {
		err = commitSpace(heads, false)
	}
	if err != nil {
		return fmt.Errorf("memory of machine %d: %d bytes for the beginnings of buffers: %w", m.machine, n, err)
	}
	s := slots{from: from, to: from + Addr(count*stride), stride: uint64(stride), head: uint64(head), heads: heads, long: make([]uint64, (count+63)/64)}
	m.slots = append(m.slots, s)
	m.firstSlots = append(m.firstSlots, make([]uint16, len(m.home)-len(m.firstSlots))...)
	for p := s.from >> hugeShift; p <= (s.to-1)>>hugeShift; p++ {
		if m.home[p]&slotted == 0 {
			m.home[p] |= slotted
			m.firstSlots[p] = uint16(len(m.slots) - 1)
		}
	}
	return nil
}

// Reuse says that the bytes of the buffer at a are of no more use: they are undefined until they are written.
func (m *Memory) Reuse(a Addr) {
	if m.home[a>>hugeShift]&slotted == 0 {
		return
	}
	if s := m.slotsOf(a, a+1); s != nil && s.longs > 0 {
		i := uint64(a-s.from) / s.stride
		if bit := uint64(1) << (i & 63); s.long[i>>6]&bit != 0 {
			s.long[i>>6] &^= bit
			s.longs--
		}
	}
}

// slotsOf is the first array that any of the bytes from a to end are of, where a is in a slotted page, or nil.
func (m *Memory) slotsOf(a, end Addr) *slots {
	for i := int(m.firstSlots[a>>hugeShift]); i < len(m.slots) && m.slots[i].from < end; i++ {
		if s := &m.slots[i]; a < s.to {
			return s
		}
	}
	return nil
}

// short is where the bytes from a to end are if they are of one beginning, else nil.
func (s *slots) short(a, end Addr) []byte {
	if a < s.from || end > s.to {
		return nil
	}
	i := uint64(a-s.from) / s.stride
	off := uint64(a-s.from) - i*s.stride
	if n := uint64(end - a); off+n <= s.head && s.long[i>>6]>>(i&63)&1 == 0 {
		off += i * s.head
		return s.heads[off : off+n : off+n]
	}
	return nil
}

// inSlots are the bytes from a to end, some of which are of an array.
func (m *Memory) inSlots(s *slots, a, end Addr) []byte {
	if b := s.short(a, end); b != nil {
		return b
	}
	first, last := uint64(max(a, s.from)-s.from)/s.stride, uint64(min(end, s.to)-1-s.from)/s.stride
	for i := first; i <= last; i++ {
		if bit := uint64(1) << (i & 63); s.long[i>>6]&bit == 0 {
			s.long[i>>6] |= bit
			s.longs++
			copy(m.buf[s.from+Addr(i*s.stride):], s.heads[i*s.head:(i+1)*s.head])
		}
	}
	if s.to < end { // the next array's too
		if next := m.slotsOf(s.to, end); next != nil {
			m.inSlots(next, s.to, end)
		}
	}
	return m.buf[a:end:end]
}

// lose makes the bytes of an array zero.
func (s *slots) lose() {
	forgetSpace(s.heads)
	clear(s.long)
	s.longs = 0
}

// Ahead asks the host for n lines from a on, wherever they are.
func (m *Memory) Ahead(a Addr, n int) {
	if m.home[a>>hugeShift]&slotted != 0 {
		if s := m.slotsOf(a, a+1); s != nil {
			if b := s.short(a, a+1); b != nil {
				n = min(n, int(s.head)>>lineShift)
				sim.PrefetchLines(unsafe.Pointer(&b[0]), n)
				return
			}
		}
	}
	sim.PrefetchLines(unsafe.Pointer(&m.buf[a]), n)
}
