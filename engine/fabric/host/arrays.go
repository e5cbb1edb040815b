package host

import (
	"fmt"
	"unsafe"

	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// array is an array of message buffers in a memory. A RECV queue goes round all of its buffers, each a page from the next or a good part of
// one, for messages of a line or three: so the host keeps the beginnings of the buffers together, and a buffer's own bytes only where an
// access went beyond. Addresses, and with them all that is charged, are those of the array.
type array struct {
	from, to     space.Addr
	stride, head uint64 // bytes from one buffer to the next, and of a beginning
	heads        []byte
	long         []uint64 // by buffer: its bytes are in Memory.buf, at their address
	longs        int      // how many are
}

// hasArray marks a page's socket when the page has bytes of an array of buffers.
const hasArray = 0x20

// Array says that count buffers of stride bytes lie at from, above all other arrays, not yet touched, and that most accesses are to the first
// head bytes of one. What it holds is as in any other memory, until Reuse.
func (m *Memory) Array(from space.Addr, stride, count, head int) error {
	head = (head + space.LineBytes - 1) &^ (space.LineBytes - 1)
	if head >= stride || count == 0 {
		return nil
	}
	n := uint64(count * head)
	heads, err := space.Reserve(n)
	if err == nil {
		err = space.Commit(heads, false)
	}
	if err != nil {
		return fmt.Errorf("memory of machine %d: %d bytes for the beginnings of buffers: %w", m.Machine, n, err)
	}
	s := array{from: from, to: from + space.Addr(count*stride), stride: uint64(stride), head: uint64(head), heads: heads, long: make([]uint64, (count+63)/64)}
	m.arrays = append(m.arrays, s)
	m.firstArray = append(m.firstArray, make([]uint16, len(m.home)-len(m.firstArray))...)
	for p := s.from >> space.HugeShift; p <= (s.to-1)>>space.HugeShift; p++ {
		if m.home[p]&hasArray == 0 {
			m.home[p] |= hasArray
			m.firstArray[p] = uint16(len(m.arrays) - 1)
		}
	}
	return nil
}

// Reuse says that the bytes of the buffer at a are of no more use: they are undefined until they are written.
func (m *Memory) Reuse(a space.Addr) {
	if m.home[a>>space.HugeShift]&hasArray == 0 {
		return
	}
	if s := m.arrayOf(a, a+1); s != nil && s.longs > 0 {
		i := uint64(a-s.from) / s.stride
		if bit := uint64(1) << (i & 63); s.long[i>>6]&bit != 0 {
			s.long[i>>6] &^= bit
			s.longs--
		}
	}
}

// arrayOf is the first array that any of the bytes from a to end are of, or nil.
func (m *Memory) arrayOf(a, end space.Addr) *array {
	if a>>space.HugeShift >= space.Addr(len(m.firstArray)) {
		return nil
	}
	for i := int(m.firstArray[a>>space.HugeShift]); i < len(m.arrays) && m.arrays[i].from < end; i++ {
		if s := &m.arrays[i]; a < s.to {
			return s
		}
	}
	return nil
}

// short is where the bytes from a to end are if they are of one beginning, else nil.
func (s *array) short(a, end space.Addr) []byte {
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

// inArray are the bytes from a to end, some of which are of s, and some perhaps of arrays behind it.
func (m *Memory) inArray(s *array, a, end space.Addr) []byte {
	if b := s.short(a, end); b != nil {
		return b
	}
	for ; s != nil; s = m.arrayOf(s.to, end) {
		s.lengthen(m.buf, max(a, s.from), min(end, s.to))
		if s.to >= end {
			break
		}
	}
	return m.buf[a:end:end]
}

// lengthen has the buffers that have bytes from a to end in buf.
func (s *array) lengthen(buf []byte, a, end space.Addr) {
	for i := uint64(a-s.from) / s.stride; i <= uint64(end-1-s.from)/s.stride; i++ {
		if bit := uint64(1) << (i & 63); s.long[i>>6]&bit == 0 {
			s.long[i>>6] |= bit
			s.longs++
			copy(buf[s.from+space.Addr(i*s.stride):], s.heads[i*s.head:(i+1)*s.head])
		}
	}
}

// lose makes the bytes of an array zero.
func (s *array) lose() {
	space.Forget(s.heads)
	clear(s.long)
	s.longs = 0
}

// Ahead asks the host for n lines from a on, wherever they are.
func (m *Memory) Ahead(a space.Addr, n int) {
	if m.home[a>>space.HugeShift]&hasArray != 0 {
		if s := m.arrayOf(a, a+1); s != nil {
			if b := s.short(a, a+1); b != nil {
				n = min(n, int(s.head)>>space.LineShift)
				sim.PrefetchLines(unsafe.Pointer(&b[0]), n)
				return
			}
		}
	}
	sim.PrefetchLines(unsafe.Pointer(&m.buf[a]), n)
}
