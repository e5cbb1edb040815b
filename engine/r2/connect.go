package r2

import (
	"fmt"

	"drtmx/engine/fabric"
)

// connect makes the worker's completion queue and queue pairs: without RDMA only
// that of RPCs, which is the thread's connections then. An RC queue
// pair joins the threads of the same index; the second to come finds its end
// made.
func (w *Worker) connect() error {
	if w.cq == nil {
		w.open()
	}
	for p := range w.cl.machines {
		if err := w.connectTo(p); err != nil {
			return err
		}
		w.out[p] = newChannel(w.peerWorker(p))
		w.chans = append(w.chans, w.out[p])
	}
	return w.openUD()
}

// peerWorker is the worker of a machine that this one sends its requests to.
func (w *Worker) peerWorker(m int) *Worker {
	peers := w.cl.machines[m].workers
	return peers[w.thread%len(peers)]
}

// connectTo makes the RC queue pairs to a machine that do not exist yet. Over TCP
// there are none.
func (w *Worker) connectTo(m int) error {
	for w.cl.tcp == nil && w.pairsTo(m)[w.cl.perPeer-1] == nil {
		if err := w.pair(w.peerWorker(m)); err != nil {
			return err
		}
	}
	return nil
}

// openUD makes the UD queue pair and posts its RECVs.
func (w *Worker) openUD() error {
	transport := fabric.UD
	if w.cl.tcp != nil {
		transport = fabric.TCP
	}
	ud, err := w.nic().CreateQP(fabric.QPConfig{Transport: transport, SendCQ: w.cq, RecvCQ: w.cq,
		SendDepth: udSendDepth, RecvDepth: w.recvDepth(), MaxInline: w.HW.MaxInline})
	if err != nil {
		return fmt.Errorf("r2: machine %d thread %d: %w", w.mc.id, w.thread, err)
	}
	w.ud = w.addQP(ud, udSendDepth)
	for slot := range w.recvDepth() {
		w.repost(slot)
	}
	return w.postRecvs()
}

func (w *Worker) open() {
	n := len(w.cl.machines)
	w.rc = make([]*queuePair, n*w.cl.perPeer)
	w.turn = make([]int, n)
	w.cross = make([]*queuePair, n)
	w.out = make([]*channel, n)
	w.cq = w.newCQ()
}

// newCQ makes a completion queue with room for all that the thread's queue pairs can have
// under way, those to the other RNICs among them, and once more for pairs that a crash of
// their machines has replaced.
func (w *Worker) newCQ() *fabric.CQ {
	c := &w.cl.cfg
	pairs := len(w.cl.machines) * (w.cl.perPeer + 1)
	return w.nic().CreateCQ(w.recvDepth() + 2*udSendDepth + 2*pairs*c.SendDepth)
}

func (w *Worker) recvDepth() int { return w.cl.cfg.RecvDepth[w.mc.id] }

func (w *Worker) nic() *fabric.NIC { return w.HW.NICs[w.home] }

// pair makes one RC queue pair to a worker. Towards its own machine, and
// where the other end's thread serves several of ours (machines with fewer
// threads), sits on the other socket or is down, the far end belongs to no thread.
func (w *Worker) pair(mate *Worker) error {
	mine, err := w.rcQP(w.nic(), w.cq)
	if err != nil {
		return err
	}
	q := w.addQP(mine, w.cl.cfg.SendDepth)
	p := mate.mc.id
	if mate.mc == w.mc || mate.thread != w.thread || mate.home != w.home || mate.mc.life != running {
		far, err := w.rcQP(mate.HW.NICs[min(w.home, len(mate.HW.NICs)-1)], nil)
		if err != nil {
			return err
		}
		w.joined(p, q)
		return fabric.Connect(mine, far)
	}
	if mate.cq == nil {
		mate.open()
	}
	far, err := w.rcQP(mate.nic(), mate.cq)
	if err != nil {
		return err
	}
	w.joined(p, q)
	mate.joined(w.mc.id, mate.addQP(far, w.cl.cfg.SendDepth))
	return fabric.Connect(mine, far)
}

// pairsTo are the worker's own queue pairs to a machine.
func (w *Worker) pairsTo(m int) []*queuePair {
	n := w.cl.perPeer
	return w.rc[m*n : (m+1)*n]
}

// Connections is the number of RC queue pairs by which the threads of a machine
// use one of its RNICs.
func (cl *Cluster) Connections(m, nic int) int {
	n := 0
	for _, w := range cl.machines[m].workers {
		if w.home == nic && cl.tcp == nil {
			n += len(w.rc)
		}
	}
	return n
}

// joined adds a queue pair to a machine.
func (w *Worker) joined(m int, q *queuePair) {
	qs := w.pairsTo(m)
	for i := range qs {
		if qs[i] == nil {
			qs[i] = q
			return
		}
	}
	panic(fmt.Sprintf("r2: machine %d thread %d has %d queue pairs to machine %d already", w.mc.id, w.thread, len(qs), m))
}

func (w *Worker) rcQP(n *fabric.NIC, cq *fabric.CQ) (*fabric.QP, error) {
	qp, err := n.CreateQP(fabric.QPConfig{Transport: fabric.RC, SendCQ: cq, RecvCQ: cq,
		SendDepth: w.cl.cfg.SendDepth, MaxInline: w.HW.MaxInline})
	if err != nil {
		return nil, fmt.Errorf("r2: machine %d thread %d: %w", w.mc.id, w.thread, err)
	}
	return qp, nil
}

// to chooses the queue pair towards an address: of the thread's own, in turn,
// or for atomics on an address whose home is the other RNIC the one that
// leads there. It is nil where the NICs have no RDMA.
func (w *Worker) to(at Loc, atomic bool) *queuePair {
	if w.cl.tcp != nil {
		return nil
	}
	if atomic {
		home := w.cl.machines[at.Machine].mem.Home(at.Addr) % len(w.cl.fab.Machine(at.Machine).NICs) // sockets may share an RNIC
		if home != w.home {
			return w.crossTo(at.Machine, home)
		}
	}
	qs := w.pairsTo(at.Machine)
	if len(qs) == 1 {
		return qs[0]
	}
	if w.cl.cfg.RandomQP {
		return qs[w.rand.Intn(len(qs))]
	}
	w.turn[at.Machine]++
	return qs[w.turn[at.Machine]%len(qs)]
}

func (w *Worker) crossTo(m, home int) *queuePair {
	if q := w.cross[m]; q != nil {
		return q
	}
	mine, err := w.rcQP(w.nic(), w.cq)
	if err == nil {
		var far *fabric.QP
		if far, err = w.rcQP(w.cl.fab.Machine(m).NICs[home], nil); err == nil {
			err = fabric.Connect(mine, far)
		}
	}
	if err != nil {
		panic(fmt.Sprintf("r2: queue pair to the other RNIC: %v", err))
	}
	w.cross[m] = w.addQP(mine, w.cl.cfg.SendDepth)
	return w.cross[m]
}
