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
	if w.pairs.CQ == nil {
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
	for !w.pairs.Complete(m) {
		if err := w.connectWith(w.peerWorker(m)); err != nil {
			return err
		}
	}
	return nil
}

// connectWith makes one RC queue pair to a worker. Towards its own machine, and
// where the other end's thread serves several of ours (machines with fewer
// threads), sits on the other socket or is down, the far end belongs to no thread.
func (w *Worker) connectWith(peer *Worker) error {
	shared := peer.mc != w.mc && peer.thread == w.thread && peer.home == w.home && peer.mc.state == running
	if shared && peer.pairs.CQ == nil {
		peer.open()
	}
	return w.pairs.Connect(&peer.pairs, shared)
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
	w.ud = w.cl.pairs.All.Add(ud, udSendDepth)
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
