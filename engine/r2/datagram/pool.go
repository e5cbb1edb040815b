package datagram

// Pool is a pool of byte slices in seven sizes.
type Pool struct {
	unused [7][][]byte
}

// class is the size of a slice.
func class(n int) int {
	switch {
	case n <= 64:
		return 0
	case n <= 256:
		return 1
	case n <= 1024:
		return 2
	case n <= 4096:
		return 3
	case n <= 16384:
		return 4
	case n <= 65536:
		return 5
	}
	return 6
}

// Take is a slice of n bytes, not cleared.
func (p *Pool) Take(n int) []byte {
	k := class(n)
	if l := len(p.unused[k]); l > 0 {
		b := p.unused[k][l-1]
		p.unused[k] = p.unused[k][:l-1]
		if cap(b) >= n {
			return b[:n]
		}
	}
	return make([]byte, n, max(64<<(2*k), n))
}

// Give takes it back.
func (p *Pool) Give(b []byte) {
	if cap(b) == 0 {
		return
	}
	k := class(cap(b))
	p.unused[k] = append(p.unused[k], b)
}
