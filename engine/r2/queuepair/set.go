package queuepair

import (
	"fmt"
	"unsafe"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/space"
	"drtmx/engine/r2/core"
	"drtmx/engine/r2/sendq"
	"drtmx/engine/sim"
)

// System is what the queue pairs of a machine's threads have in common.
type System struct {
	Fab        *fabric.Fabric
	All        sendq.Pairs
	RDMA       bool              // false: the NICs have none, and sets no RC queue pair
	PerMachine int               // RC queue pairs of a thread to a machine
	Depth      int               // of their send queues
	Random     bool              // of several to a machine a request takes a random one, not the next
	Contexts   []*fabric.Context // by RNIC; nil: every thread has its own
}

// OpenContexts is what the program of the machine does with the drivers when it starts, where threads share contexts.
func (sys *System) OpenContexts() {
	sys.Contexts = sys.Contexts[:0]
	for _, n := range sys.Fab.Machine(sys.All.Machine).NICs {
		sys.Contexts = append(sys.Contexts, n.OpenContext())
	}
}

// Set are a thread's queue pairs. Hundreds of threads take turns on the host's cache, so what every turn needs comes first.
type Set struct {
	CQ    *fabric.CQ // of all of them
	Full  bool       // the last flush found a send queue without room
	sys   *System
	core  *core.Core
	dirty []*sendq.Pair // with work requests that wait for a doorbell
	rc    []*sendq.Pair // by machine, then emulated; System.PerMachine each
	cross []*sendq.Pair // by machine: to the RNIC that is not the thread's
	home  int           // the thread's RNIC
	turn  []int         // of rc, by machine

	rand            *sim.Rand
	machine, thread int
}

// Init makes it a thread's, by its core. rand is for choosing queue pairs.
func (s *Set) Init(sys *System, c *core.Core, machine, thread int, rand *sim.Rand) {
	s.sys, s.core, s.machine, s.thread, s.rand = sys, c, machine, thread, rand
	_, s.home = c.HW.Assign(thread)
}

// Open makes the completion queue, which has room for so many entries besides those of RC queue pairs, of which there are none yet. Those
// can be under way of all queue pairs, the ones to other RNICs among them, and once more of pairs that a crash of their machines
// has replaced.
func (s *Set) Open(others int) {
	n := s.sys.Fab.Machines()
	if s.rc == nil {
		s.rc = make([]*sendq.Pair, n*s.sys.PerMachine)
		s.turn = make([]int, n)
		s.cross = make([]*sendq.Pair, n)
	}
	clear(s.rc)
	clear(s.cross)
	s.CQ = s.NIC().CreateCQ(others + 2*n*(s.sys.PerMachine+1)*s.sys.Depth)
}

// NIC is the RNIC that the thread posts to.
func (s *Set) NIC() *fabric.NIC { return s.core.HW.NICs[s.home] }

// All are the queue pairs of the machine's threads.
func (s *Set) All() *sendq.Pairs { return &s.sys.All }

// Len is the number of RC queue pairs to all machines, without those to other RNICs.
func (s *Set) Len() int { return len(s.rc) }

// toMachine are the thread's queue pairs to a machine.
func (s *Set) toMachine(m int) []*sendq.Pair {
	n := s.sys.PerMachine
	return s.rc[m*n : (m+1)*n]
}

// Complete says that there are all RC queue pairs to a machine.
func (s *Set) Complete(m int) bool {
	return !s.sys.RDMA || s.toMachine(m)[s.sys.PerMachine-1] != nil
}

// Connect makes one RC queue pair to a machine. Its far end is one of a thread's if peer is not nil; else it is the machine's own, and
// no thread there sees it.
func (s *Set) Connect(machine int, peer *Set) error {
	mine, err := s.create(s.NIC(), s.CQ)
	if err != nil {
		return err
	}
	q := s.sys.All.Add(mine, s.sys.Depth)
	nics := s.sys.Fab.Machine(machine).NICs
	nic, cq := nics[min(s.home, len(nics)-1)], (*fabric.CQ)(nil)
	if peer != nil {
		nic, cq = peer.NIC(), peer.CQ
	}
	far, err := s.create(nic, cq)
	if err != nil {
		return err
	}
	s.joined(machine, q)
	if peer != nil {
		peer.joined(s.machine, peer.sys.All.Add(far, peer.sys.Depth))
	}
	return fabric.Connect(mine, far)
}

// joined adds a queue pair to a machine.
func (s *Set) joined(m int, q *sendq.Pair) {
	list := s.toMachine(m)
	for i := range list {
		if list[i] == nil {
			list[i] = q
			return
		}
	}
	panic(fmt.Sprintf("r2: machine %d thread %d has %d queue pairs to machine %d already", s.machine, s.thread, len(list), m))
}

func (s *Set) create(n *fabric.NIC, cq *fabric.CQ) (*fabric.QP, error) {
	qp, err := n.CreateQP(fabric.QPConfig{Transport: fabric.RC, SendCQ: cq, RecvCQ: cq, SendDepth: s.sys.Depth, MaxInline: s.core.HW.MaxInline})
	if err != nil {
		return nil, fmt.Errorf("r2: machine %d thread %d: %w", s.machine, s.thread, err)
	}
	return qp, nil
}

// To chooses the queue pair towards an address of a machine: of the thread's own, in turn, or for atomics on an address whose home is
// the other RNIC the one that leads there. It is nil where the NICs have no RDMA.
func (s *Set) To(m int, at space.Addr, atomic bool) *sendq.Pair {
	if !s.sys.RDMA {
		return nil
	}
	if atomic {
		hw := s.sys.Fab.Machine(m)
		if home := hw.Mem.Home(at) % len(hw.NICs); home != s.home { // sockets may share an RNIC
			return s.toOther(m, home)
		}
	}
	list := s.toMachine(m)
	if len(list) == 1 {
		return list[0]
	}
	if s.sys.Random {
		return list[s.rand.Intn(len(list))]
	}
	s.turn[m]++
	return list[s.turn[m]%len(list)]
}

// toOther is the queue pair to the other RNIC of a machine.
func (s *Set) toOther(m, home int) *sendq.Pair {
	if q := s.cross[m]; q != nil {
		return q
	}
	mine, err := s.create(s.NIC(), s.CQ)
	if err == nil {
		var far *fabric.QP
		if far, err = s.create(s.sys.Fab.Machine(m).NICs[home], nil); err == nil {
			err = fabric.Connect(mine, far)
		}
	}
	if err != nil {
		panic(fmt.Sprintf("r2: queue pair to the other RNIC: %v", err))
	}
	s.cross[m] = s.sys.All.Add(mine, s.sys.Depth)
	return s.cross[m]
}

// Each has f called with every RC queue pair there is.
func (s *Set) Each(f func(q *sendq.Pair)) {
	for _, list := range [][]*sendq.Pair{s.rc, s.cross} {
		for _, q := range list {
			if q != nil {
				f(q)
			}
		}
	}
}

// Drop takes the queue pairs to a machine, which has crashed, out of the set and returns them.
func (s *Set) Drop(m int) (dropped []*sendq.Pair) {
	for _, q := range append(s.toMachine(m)[:s.sys.PerMachine:s.sys.PerMachine], s.cross[m]) {
		if q != nil {
			dropped = append(dropped, q)
		}
	}
	clear(s.toMachine(m))
	s.cross[m] = nil
	return dropped
}

// AheadPost asks the host for the queue pair that leads to a machine.
func (s *Set) AheadPost(m int) {
	if i := m * s.sys.PerMachine; i < len(s.rc) { // without RDMA there are none
		sim.Prefetch(unsafe.Pointer(s.rc[i]))
	}
}

// aheadLines is what is asked for of the list of queue pairs: not of many machines'.
const aheadLines = 4

// AheadTurn asks the host for the lists that a turn of the thread uses.
func (s *Set) AheadTurn() {
	if cap(s.dirty) > 0 {
		sim.Prefetch(unsafe.Pointer(unsafe.SliceData(s.dirty)))
	}
	if len(s.rc) > 0 {
		sim.PrefetchLines(unsafe.Pointer(unsafe.SliceData(s.rc)), min(aheadLines, (len(s.rc)+7)/8))
	}
}
