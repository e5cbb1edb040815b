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
	f.sim.Ahead(f.kRx, far2, near)
	f.sim.Ahead(f.kMem, far2, f.nearMemory)
	f.sim.Ahead(f.kReply, far, near)
	f.sim.Ahead(f.kAnswer, far2, f.nearAnswer)
}

func (f *Fabric) far(i uint32) { sim.Prefetch(unsafe.Pointer(&f.verbs[i])) }

func (f *Fabric) far2(i uint32) { sim.Prefetch2(unsafe.Pointer(&f.verbs[i])) }

func (f *Fabric) near(i uint32) {
	v := &f.verbs[i]
	if v.q == nil {
		return
	}
	sim.Prefetch(unsafe.Pointer(v.q))
	sim.Prefetch(unsafe.Pointer(v.r))
}

func (f *Fabric) nearMemory(i uint32) {
	v := &f.verbs[i]
	if v.q == nil {
		return
	}
	h := v.r // has been touched when the verb arrived
	h.nic.machine.nearLine(v.remote)
	if v.op.reads() {
		if m := v.q.nic.machine.Mem; v.local < m.top {
			sim.Prefetch(unsafe.Pointer(&m.buf[v.local]))
		}
	}
}

func (f *Fabric) nearAnswer(i uint32) {
	v := &f.verbs[i]
	if v.q == nil {
		return
	}
	h := v.q
	sim.Prefetch(unsafe.Pointer(h.sendCQ)) // waits for h, which nearly always is in the second level
	if v.op.reads() {
		h.nic.machine.nearSet(v.local)
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
