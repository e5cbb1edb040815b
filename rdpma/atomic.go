package rdpma

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/r2"
)

// CompareSwap replaces the word at an offset by new if it is old, and returns
// what it was. It is atomic among RNIC atomics of the word's home RNIC, not with
// the server's CPU.
func (m *Memory) CompareSwap(c *r2.Co, p Ptr, off int, old, new uint64) (was uint64, err error) {
	return m.atomic(c, p, off, func(at r2.Loc) r2.Buf { return c.CAS(at, old, new) })
}

// FetchAdd adds to the word at an offset and returns what it was; see
// CompareSwap.
func (m *Memory) FetchAdd(c *r2.Co, p Ptr, off int, delta uint64) (was uint64, err error) {
	return m.atomic(c, p, off, func(at r2.Loc) r2.Buf { return c.FAA(at, delta) })
}

func (m *Memory) atomic(c *r2.Co, p Ptr, off int, post func(r2.Loc) r2.Buf) (was uint64, err error) {
	blk, err := m.check(p, off, wordBytes, true)
	if err != nil {
		return 0, fmt.Errorf("rdpma: atomic on %v: %w", p, err)
	}
	b := m.Batch(c)
	before := b.begin(false)
	word := post(p.loc(blk, off))
	c.Using(before)
	if err := b.Wait(); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(word.B), nil
}
