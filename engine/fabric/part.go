package fabric

import (
	"drtmx/engine/fabric/gather"
	"drtmx/engine/sim"
)

// part is the fabric on one machine: what the events of that machine change, and they change nothing of another one's. What all parts
// see of the Fabric changes between two events of the whole simulation alone, as by faults and knobs.
type part struct {
	*Fabric
	sim     *sim.Sim // of the machine
	id      int
	chunks  []*chunk // Fabric's
	free    uint32   // first free verb
	live    int      // verbs that were taken here, less those that have ended here
	made    int      // chunks
	guests  []guests // by machine
	cqs     []cqHead // completion queues
	qps     []QP     // not used yet
	counts  VerbCounts
	gathers gather.Lists
	word    [8]byte // of an atomic

	kFetch, kTx, kRx, kMem, kStore, kLine, kReply, kAnswer, kDone, kHome, kResend, kBack, kAdmit sim.Kind
	kSoftirq                                                                                     sim.Kind // without RDMA
}

func newPart(f *Fabric, id int) *part {
	p := &part{Fabric: f, sim: f.clock.Machine(id), id: id, chunks: f.chunks, free: none, guests: make([]guests, len(f.chunks)>>chunkBits)}
	f.parts = append(f.parts, p)
	p.register()
	p.lookAhead()
	return p
}
