package fabric

import "unsafe"

// A loaded cluster's state is some 100 MB, touched at random: most of a run's
// time would go into waiting for the host's memory. The queue knows which
// events come next, so their memory is asked for in time. Nothing here has an
// effect on results.
func (f *Fabric) lookAhead() {
	f.sim.Ahead(f.kRx, f.nearRx)
	f.sim.Ahead(f.kMem, f.nearMemory)
	f.sim.Ahead(f.kReply, f.nearReply)
	f.sim.Ahead(f.kAnswer, f.nearAnswer)
	f.sim.Ahead(f.kDone, f.nearDone)
}

func (f *Fabric) nearRx(i uint32) {
	v := &f.verbs[i]
	if v.qp == none {
		return
	}
	h := &f.qps[v.peer]
	prefetch(unsafe.Pointer(h))
	prefetch(unsafe.Pointer(&v.id)) // the second line
}

func (f *Fabric) nearReply(i uint32) {
	if v := &f.verbs[i]; v.qp != none {
		prefetch(unsafe.Pointer(&f.qps[v.peer]))
	}
}

func (f *Fabric) nearAnswer(i uint32) {
	if v := &f.verbs[i]; v.qp != none {
		prefetch(unsafe.Pointer(&f.qps[v.qp]))
	}
}

func (f *Fabric) nearMemory(i uint32) {
	v := &f.verbs[i]
	if v.qp == none {
		return
	}
	h := &f.qps[v.peer] // has been touched when the verb arrived
	f.nics[h.nic].machine.nearLine(v.remote)
	if v.op.reads() {
		if m := f.nics[f.qps[v.qp].nic].machine.Mem; v.local < m.top {
			prefetch(unsafe.Pointer(&m.buf[v.local]))
		}
	}
}

func (f *Fabric) nearDone(i uint32) {
	v := &f.verbs[i]
	if v.qp == none {
		return
	}
	h := &f.qps[v.qp]
	prefetch(unsafe.Pointer(h.sendCQ))
	if v.op.reads() {
		f.nics[h.nic].machine.nearSet(v.local)
	}
}

// nearLine asks for the bytes at an address and for the cache set of its line.
func (m *Machine) nearLine(a Addr) {
	if a < m.Mem.top {
		prefetch(unsafe.Pointer(&m.Mem.buf[a]))
	}
	m.nearSet(a)
}

func (m *Machine) nearSet(a Addr) {
	set, _ := m.sockets[m.Mem.Home(a)].llc.locate(a >> lineShift)
	prefetch(unsafe.Pointer(set))
}
