package core

import "drtmx/engine/wire"

// Scratch memory is shared by the programs of a machine, for what one of them builds between two of its waits: it stays
// in the host's cache, where memory of each program's own would not.
//
// The rule: what is in it is a program's own until it next waits. Calls, WRITEs, CAS and stores copy what they are given
// before they wait. With System.Spoils all of it is overwritten at each wait, and a test holds that nothing changes then.
type scratch struct {
	word    [8]byte
	request []byte
}

// Request is memory for a request, empty, with room for the largest.
func (p *Program) Request() []byte {
	s := &p.w.machine.scratch
	if s.request == nil {
		s.request = make([]byte, 0, p.w.sys.MaxRequest)
	}
	return s.request[:0]
}

// Word is eight bytes with a value.
func (p *Program) Word(v uint64) []byte {
	b := p.w.machine.scratch.word[:]
	wire.Put64(b, v)
	return b
}

// OnSpoil has f overwrite what a room keeps of scratch memory of its own for a machine, where System.Spoils.
func (sys *System) OnSpoil(f func(machine int)) { sys.spoilers = append(sys.spoilers, f) }

// Spoil is called where a program begins to wait: scratch memory may be another's from now on.
func Spoil(p *Program) {
	if p.w.sys.Spoils {
		p.w.machine.spoil(p.w.sys.spoilers)
	}
}

func (mc *Machine) spoil(others []func(machine int)) {
	const garbage = 0xa5
	s := &mc.scratch
	wire.Put64(s.word[:], garbage*0x0101010101010101)
	for i := range s.request[:cap(s.request)] {
		s.request[:cap(s.request)][i] = garbage
	}
	for _, f := range others {
		f(mc.id)
	}
}
