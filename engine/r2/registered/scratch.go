package registered

import "drtmx/engine/wire"

// Scratch is a coroutine's scratch memory, which grows.
type Scratch struct {
	of    *Memory
	block Addr
	mem   []byte
	used  int
}

// Of is scratch of a worker's memory.
func Of(b *Memory) Scratch { return Scratch{of: b} }

// Buf is registered scratch memory of a coroutine.
type Buf struct {
	Addr Addr
	B    []byte
}

// Mark is a state of a coroutine's scratch.
type Mark struct {
	Block Addr
	Used  int
}

// Mark is what Release goes back to.
func (s *Scratch) Mark() Mark { return Mark{s.block, s.used} }

// Release takes back the scratch buffers handed out since a Mark: for code that tries something many times within one
// transaction.
func (s *Scratch) Release(m Mark) {
	if s.block == m.Block {
		s.used = m.Used
	} else { // it has grown since: all of the new block is younger
		s.used = 0
	}
}

// Empty takes back all.
func Empty(s *Scratch) { s.used = 0 }

// Buf returns n bytes of registered scratch, 8-byte aligned, not cleared.
func (s *Scratch) Buf(n int) Buf {
	if s.used+n > len(s.mem) {
		// The old block stays valid for what was handed out of it.
		s.block, s.mem = s.of.block(max(2*len(s.mem), n, s.of.begins))
		s.used = 0
	}
	b := Buf{s.block + Addr(s.used), s.mem[s.used : s.used+n : s.used+n]}
	s.used += wire.Padded(n)
	return b
}
