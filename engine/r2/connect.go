package r2

import (
	"fmt"

	"drtmx/engine/fabric"
	"drtmx/engine/r2/queuepair"
)

// connect makes the worker's completion queue and queue pairs: without RDMA only
// that of RPCs, which is the thread's connections then. An RC queue
// pair joins the threads of the same index; the second to come finds its end
// made.
func (w *Worker) connect() error {
	if w.pairs.CQ == nil {
		w.open()
	}
	for p := range w.cl.machines {
		if err := w.connectTo(p); err != nil {
			return err
		}
		if peer := w.peerWorker(p); peer != nil {
			w.out[p] = newChannel(peer)
			w.chans = append(w.chans, w.out[p])
		}
	}
	return w.openUD()
}

// peerWorker is the worker of a machine that this one sends its requests to; nil: it has none.
func (w *Worker) peerWorker(m int) *Worker {
	peers := w.cl.machines[m].workers
	if len(peers) == 0 {
		return nil
	}
	return peers[w.thread%len(peers)]
}

// connectTo makes the RC queue pairs to a machine that do not exist yet. Over TCP
// there are none.
func (w *Worker) connectTo(m int) error {
	for !w.pairs.Complete(m) {
		if err := w.pairs.Connect(m, w.farEnd(m)); err != nil {
			return err
		}
	}
	return nil
}

// farEnd are the queue pairs of the thread that the far end of an RC queue pair to a machine belongs to: of the one
// with our index, which uses it as its own. Towards our own machine, and where that thread serves several of ours
// (machines with fewer threads, or none), sits on the other socket or is down, it belongs to no thread: nil.
func (w *Worker) farEnd(m int) *queuepair.Set {
	peer := w.peerWorker(m)
	if peer == nil || peer.mc == w.mc || peer.thread != w.thread || peer.home != w.home || peer.mc.state != running {
		return nil
	}
	if peer.pairs.CQ == nil {
		peer.open()
	}
	return &peer.pairs
}

// openUD makes the UD queue pair and posts its RECVs.
func (w *Worker) openUD() error {
	transport := fabric.UD
	if w.cl.tcp != nil {
		transport = fabric.TCP
	}
	ud, err := w.pairs.NIC().CreateQP(fabric.QPConfig{Transport: transport, SendCQ: w.pairs.CQ, RecvCQ: w.pairs.CQ,
		SendDepth: udSendDepth, RecvDepth: w.recvDepth(), MaxInline: w.HW.MaxInline})
	if err != nil {
		return fmt.Errorf("r2: machine %d thread %d: %w", w.mc.id, w.thread, err)
	}
	w.ud = w.pairs.All().Add(ud, udSendDepth)
	for slot := range w.recvDepth() {
		w.repost(slot)
	}
	return w.postRecvs()
}

func (w *Worker) open() {
	w.out = make([]*channel, len(w.cl.machines))
	w.openPairs()
}

// openPairs makes the completion queue, with room for RECVs and messages.
func (w *Worker) openPairs() { w.pairs.Open(w.recvDepth() + 2*udSendDepth) }

func (w *Worker) recvDepth() int { return w.cl.cfg.RecvDepth[w.mc.id] }

// Connections is the number of RC queue pairs by which the threads of a machine
// use one of its RNICs.
func (cl *Cluster) Connections(m, nic int) int {
	n := 0
	for _, w := range cl.machines[m].workers {
		if w.home == nic && cl.tcp == nil {
			n += w.pairs.Len()
		}
	}
	return n
}

// to chooses the queue pair towards an address; see queuepair.
func (w *Worker) to(at Loc, atomic bool) *queuePair { return w.pairs.To(at.Machine, at.Addr, atomic) }
