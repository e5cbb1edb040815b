package core

import "drtmx/engine/sim"

// ExternalDelay is how long a message from outside of the system takes between two machines. It is chosen: longer than any message of the system.
const ExternalDelay = 100 * sim.Microsecond

// External is what is no part of the system and lets machines hear of things: a market, say. Its messages take no core any time and no
// link a byte. Between two machines they take ExternalDelay, for no machine knows at once what another one does.
type External struct {
	sys  *System
	kind sim.Kind
	hear func(word uint32)
}

// External registers one. hear runs on the machine that is to hear a word.
func (sys *System) External(name string, hear func(word uint32)) External {
	return External{sys, sys.Sim.Register(name, hear), hear}
}

// Tell has a machine hear a word that a program says: the program's own machine at once.
func (x *External) Tell(p *Program, machine int, word uint32) {
	if machine == p.w.machine.id {
		x.hear(word)
		return
	}
	x.sys.Sim.At(p.Now()+ExternalDelay, x.kind, word)
}
