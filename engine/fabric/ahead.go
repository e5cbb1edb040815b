package fabric

import (
	"unsafe"

	"drtmx/engine/sim"
)

// A loaded cluster's state is some 100 MB, touched at random: most of a run's
// time would go into waiting for the host's memory. The queue knows which
// events come next, so their memory is asked for in time. Nothing here has an
// effect on results.
func (f *Fabric) lookAhead() {
	far, far2, near := f.far, f.far2, f.near
	f.sim.Ahead(f.kTx, far, near)
	f.sim.Ahead(f.kRx, far2, f.nearRx)
	f.sim.Ahead(f.kMem, far2, f.nearMemory)
	f.sim.Ahead(f.kReply, far, near)
	f.sim.Ahead(f.kAnswer, far2, f.nearAnswer)
}

func (f *Fabric) far(i uint32) { sim.Prefetch(unsafe.Pointer(&f.verbs[i])) }

func (f *Fabric) far2(i uint32) { sim.Prefetch2(unsafe.Pointer(&f.verbs[i])) }

func (f *Fabric) near(i uint32) {
	if v := &f.verbs[i]; v.q != nil {
		sim.Prefetch(unsafe.Pointer(v.q))
		sim.Prefetch(unsafe.Pointer(v.r))
	}
}

func (f *Fabric) nearRx(i uint32) {
	v := &f.verbs[i]
	if v.q == nil {
		return
	}
	sim.Prefetch(unsafe.Pointer(v.r))
	if v.op == Send {
		return
	}
	n := f.nics[v.to]
	sim.Prefetch(unsafe.Pointer(&n.slots[n.slot(v.remote)]))
	if f.torn {
		sim.Prefetch(unsafe.Pointer(&n.machine.Mem.flight[flightSlot(v.remote>>lineShift)]))
	}
}

func (f *Fabric) nearMemory(i uint32) {
	v := &f.verbs[i]
	if v.q == nil {
		return
	}
	sim.Prefetch(unsafe.Pointer(v.r))
	f.nics[v.to].machine.nearLine(v.remote)
	if v.op.reads() {
		if m := f.nics[v.from].machine.Mem; v.local < m.top {
			sim.Prefetch(unsafe.Pointer(&m.buf[v.local]))
		}
	}
}

func (f *Fabric) nearAnswer(i uint32) {
	v := &f.verbs[i]
	if v.q == nil {
		return
	}
	sim.Prefetch(unsafe.Pointer(v.q))
	if v.op.reads() {
		f.nics[v.from].machine.nearSet(v.local)
	}
}

// nearLine asks for the bytes at an address and for the cache set of its line.
func (m *Machine) nearLine(a Addr) {
	if a < m.Mem.top {
		sim.Prefetch(unsafe.Pointer(&m.Mem.buf[a]))
	}
	m.nearSet(a)
}

func (m *Machine) nearSet(a Addr) {
	set, _ := m.sockets[m.Mem.Home(a)].llc.locate(a >> lineShift)
	sim.Prefetch(unsafe.Pointer(set))
}
