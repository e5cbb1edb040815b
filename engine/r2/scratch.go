package r2

import "encoding/binary"

// Scratch memory is shared by the coroutines of a machine, for what one of them builds between two of its waits: it stays
// in the host's cache, where memory of each coroutine's own would not.
//
// The rule: what is in it is a coroutine's own until it next waits. Call, Write, CAS and Store copy what they are given
// before they wait. SpoilScratch overwrites all of it at each wait, and a test holds that nothing changes then.
type scratch struct {
	word    [8]byte
	request []byte
}

// Request is memory for a request, empty, with room for the largest.
func (c *Co) Request() []byte {
	s := &c.w.mc.scratch
	if s.request == nil {
		s.request = make([]byte, 0, c.w.cl.MaxPayload())
	}
	return s.request[:0]
}

// Word is eight bytes with a value.
func (c *Co) Word(v uint64) []byte {
	b := c.w.mc.scratch.word[:]
	binary.LittleEndian.PutUint64(b, v)
	return b
}

// OnSpoil has f overwrite what a room keeps of scratch memory of its own for a machine, when SpoilScratch is on.
func (cl *Cluster) OnSpoil(f func(machine int)) { cl.spoilers = append(cl.spoilers, f) }

// SpoilScratch has all scratch memory of a machine overwritten when one of its coroutines waits. Tests only.
func (cl *Cluster) SpoilScratch() { cl.cores.Spoils = true }

// Spoil overwrites it.
func (cl above) Spoil(machine int) {
	s := &cl.machines[machine].scratch
	s.word = [8]byte{0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5}
	for i := range s.request[:cap(s.request)] {
		s.request[:cap(s.request)][i] = 0xa5
	}
	for _, f := range cl.spoilers {
		f(machine)
	}
}
