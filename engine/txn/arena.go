package txn

// arena hands out memory that stays where it is until reset.
type arena struct {
	first [128]byte // most transactions need no more
	more  [][]byte
	block int // in more, behind first
	used  int
}

const arenaBlock = 512

func (m *arena) reset() { m.block, m.used = 0, 0 }

func (m *arena) alloc(n int) []byte {
	for {
		b := m.first[:]
		if m.block > 0 {
			b = m.more[m.block-1]
		}
		if end := m.used + align(n); end <= len(b) {
			b = b[m.used : m.used+n : m.used+n]
			m.used = end
			return b
		}
		if m.block == len(m.more) {
			m.more = append(m.more, make([]byte, max(arenaBlock, align(n))))
		}
		m.block, m.used = m.block+1, 0
	}
}

func align(n int) int { return (n + 7) &^ 7 }
