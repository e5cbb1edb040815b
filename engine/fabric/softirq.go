package fabric

import (
	"math/bits"

	"drtmx/engine/fabric/profile"
	"drtmx/engine/sim"
)

// Softirq work is what the kernel does for a message between its interrupt and its
// socket. A NIC has several receive queues, as its driver sets it up, and queue q
// interrupts the q-th core from the first of the NIC's socket on: all that comes in
// goes through these cores, whichever thread it is for. The messages of a connection
// stay in one queue, so in order (RSS).
//
// It goes before threads: the thread that runs on the core goes on after it. After
// tcp.softirq_limit without a gap the kernel leaves it to a thread of its own, ksoftirqd,
// and the scheduler gives the core to both in turns; here a message then takes twice
// as long, and the other thread has one half. That lasts until the queue is empty, which
// clients that wait for their answers may never let it be: the same load may find a queue
// in either state. This is why throughput falls beyond its peak when a closed loop gets more
// clients, to that of half a core for each full queue: transactions abort no more often and
// have no more messages. It is not receive livelock, in which threads would get nothing.
//
// Linux does so from 4.9 (2016, "softirq: Let ksoftirqd do its job") to 6.4. In older and
// newer ones a thread's own system calls go on with softirq work that is pending, so that it
// keeps the whole core: that is a softirq_limit beyond the run. Throughput does not fall then,
// and the threads on such cores are behind all others.
type softirq struct {
	sim.FIFO
	began sim.Time // of the work without a gap that ends at Free
}

// serve does work of d that arrives now, on a core that a thread wants for itself or not.
func (s *softirq) serve(now, d, limit sim.Time, wanted bool) (end sim.Time) {
	if s.Free < now {
		s.began = now
	}
	if wanted && max(s.Free, now)-s.began >= limit {
		d *= 2
	}
	return s.Serve(now, d)
}

// SoftirqCore is the resource name of the softirq work on a core that a receive queue interrupts.
const SoftirqCore = "softirq"

// receiveQueues gives a NIC without RDMA its queues.
func (n *NIC) receiveQueues(queues int) {
	m := n.machine
	cores := m.Cores()
	for q := range min(queues, cores) {
		core := (n.Socket()*m.PerSocket + q) % cores
		if m.softirqs[core] == nil {
			m.softirqs[core] = new(softirq)
		}
		n.queues = append(n.queues, core)
	}
}

// queueOf is the core that the queue of a connection's messages interrupts.
func (n *NIC) queueOf(sender AH, receiver uint32) int {
	const odd = 0x9e3779b97f4a7c15 // 2^64 over the golden ratio
	h := (sender.pack() ^ uint64(receiver)*odd) * odd
	h = (h ^ h>>32) * odd
	q, _ := bits.Mul64(h, uint64(len(n.queues)))
	return n.queues[q]
}

// onSoftirq: the kernel gets to know of a message that is in memory.
func (f *part) onSoftirq(i uint32) {
	now := f.sim.Now()
	v := f.verb(i)
	r := v.r
	at := now
	if m := r.nic.machine; !m.Mem.Down {
		core := r.nic.queueOf(unpackAH(v.b), v.rkey)
		d := f.cost.softirq + profile.FurtherSegments(int(v.len), int(f.cost.mtu))*f.cost.softirqSegment
		wanted := m.Interrupted != nil && m.Interrupted(core, d)
		at = m.softirqs[core].serve(now, d, f.cost.softirqLimit, wanted)
	}
	v.stamp.add(atCompletion, at-now)
	f.notify(r, i, v, at)
}
