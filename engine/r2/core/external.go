package core

import "drtmx/engine/sim"

// ExternalDelay is how long a message from outside of the system takes between two machines. It is chosen: longer than any message of the system.
const ExternalDelay = 100 * sim.Microsecond

// External is what is no part of the system and lets machines hear of things: a market, say. Its messages take no core any time and no
// link a byte. Between two machines they take ExternalDelay, for no machine knows at once what another one does.
type External struct {
	machines []*Machine
	kind     sim.Kind // on machine 0, and by its number on all
	hear     func(word uint32)
}

// External registers one. hear runs on the machine that is to hear a word.
func (sys *System) External(name string, hear func(word uint32)) External {
	x := External{machines: sys.machines, hear: hear}
	for m := len(sys.machines) - 1; m >= 0; m-- {
		x.kind = sys.machines[m].Clock.Register(name, hear)
	}
	return x
}

// Tell has a machine hear a word that a program says: the program's own machine at once.
func (x *External) Tell(p *Program, machine int, word uint32) {
	if machine == p.w.machine.id {
		x.hear(word)
		return
	}
	p.w.Clock.Post(x.machines[machine].Clock, p.Now()+ExternalDelay, x.kind, word)
}
