// Package payload holds the bytes of SENDs and WRITEs between the moment the RNIC reads them and the moment they land.
package payload

// Store has them in slabs by size.
type Store struct {
	slabs [classes]slab
}

const (
	classes = 27 // 64 B << 26 = 4 GB
	first   = 6
)

type slab struct {
	bytes []byte
	free  []uint32
}

func class(n uint32) int {
	c := 0
	for n > 1<<(first+c) {
		c++
	}
	return c
}

// Alloc gives room for n bytes and its number.
func (p *Store) Alloc(n uint32) (uint32, []byte) {
	c := class(n)
	s := &p.slabs[c]
	size := 1 << (first + c)
	if len(s.free) == 0 {
		had := len(s.bytes) / size
		add := max(1, min(had, 1<<20/size))
		s.bytes = append(s.bytes, make([]byte, add*size)...)
		for i := had + add - 1; i >= had; i-- {
			s.free = append(s.free, uint32(i))
		}
	}
	i := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	return i, s.bytes[int(i)*size:][:n]
}

// Bytes is the room of a number, of n bytes.
func (p *Store) Bytes(i, n uint32) []byte {
	c := class(n)
	size := 1 << (first + c)
	return p.slabs[c].bytes[int(i)*size:][:n]
}

// Free takes it back.
func (p *Store) Free(i, n uint32) {
	s := &p.slabs[class(n)]
	s.free = append(s.free, i)
}

// InUse is how many rooms are not free.
func (p *Store) InUse() (n int) {
	for c := range p.slabs {
		n += len(p.slabs[c].bytes)>>(first+c) - len(p.slabs[c].free)
	}
	return n
}
