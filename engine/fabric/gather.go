package fabric

import (
	"fmt"

	"drtmx/engine/fabric/gather"
	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// Segment is one piece of a buffer that lies in several places.
type Segment = gather.Segment

// Of a request with several segments the verb, or the receive request, has the number of a list. What it costs follows from its size in
// the queue, of 16 bytes for each segment, and from the PCIe packets and lines of memory of each.

// gatherList is the number of a verb's list, 0 if its buffer is in one place.
func (v *verb) gatherList() uint32 {
	if v.op.atomic() {
		return 0
	}
	return uint32(v.a)
}

// pieces calls each with the pieces of a verb's bytes [from, to), see gather.
func (f *part) pieces(v *verb, from, to uint32, each func(a space.Addr, first, n uint32)) {
	f.gathers.Of(v.gatherList()).Pieces(from, to, each)
}

// dropList gives a verb's list back.
func (f *part) dropList(v *verb) {
	if n := v.gatherList(); n != 0 {
		f.gathers.Release(n)
		v.a = 0
	}
}

// Bytes is the length of the buffer, in all segments.
func (w *SendWR) Bytes() uint32 { return w.Len + gather.Bytes(w.Further) }

// checkSegments refuses a gather list that is too long, or no buffer of the verb.
func (q *QP) checkSegments(op Opcode, n int) error {
	switch {
	case n > int(q.segments):
		return fmt.Errorf("fabric: %v with %d segments: at most %d on this queue pair; post several requests", op, n, q.segments)
	case n > 1 && op.atomic():
		return fmt.Errorf("fabric: %v with %d segments: an atomic has one buffer of 8 bytes", op, n)
	}
	return nil
}

// allows says whether an RNIC may access its machine's memory.
func (n *NIC) allows(perm host.Perm) func(key uint32, a space.Addr, bytes uint32) bool {
	mem := n.machine.Mem
	return func(key uint32, a space.Addr, bytes uint32) bool { return mem.Allowed(key, a, bytes, perm) }
}

// gather gives a verb its list, and says which segment behind the first is refused.
func (f *part) gather(q *QP, v *verb, w *SendWR) {
	if v.len = w.Bytes(); v.len == 0 {
		return
	}
	n := f.gathers.Add(Segment{Local: w.Local, LKey: w.LKey, Len: w.Len}, w.Further)
	v.a = uint64(n)
	if w.Inline {
		return
	}
	if bad := gather.Refused(f.gathers.Of(n).Segments, q.nic.allows(localPerm(v.op))); bad >= 0 {
		v.status, f.gathers.Of(n).Bad = LocalProtection, uint8(bad)
	}
}

// segmentsOf is how many a verb's request names.
func (f *part) segmentsOf(v *verb) uint32 {
	if n := v.gatherList(); n != 0 {
		return uint32(len(f.gathers.Of(n).Segments))
	}
	return 1
}

// fetchList is an RNIC's read of the pieces of a gather list, which it has as a whole before the message goes to the send pipeline.
func (f *part) fetchList(r *NIC, now sim.Time, v *verb) (t sim.Time) {
	t = now
	f.pieces(v, 0, v.len, func(a space.Addr, _, n uint32) {
		_, all := f.load(r, now, a, n)
		t = max(t, f.crosses(r, now, all, f.cost.fetched(a, n)))
	})
	return t
}

// captureList copies the pieces of a gather list, which is no longer needed then.
func (f *part) captureList(mem *host.Memory, v *verb, b []byte) {
	f.pieces(v, 0, v.len, func(a space.Addr, first, n uint32) {
		if v.flags&inlined == 0 {
			mem.DeviceTouches(a, int(n), false)
		}
		copy(b[first:first+n], mem.Bytes(a, int(n)))
	})
	f.dropList(v)
}

// scatter stores the bytes of a buffer from one on in its pieces.
func (f *part) scatter(mem *host.Memory, v *verb, from uint32, b []byte) {
	f.pieces(v, from, from+uint32(len(b)), func(a space.Addr, first, n uint32) {
		mem.DeviceTouches(a, int(n), true)
		mem.Change(a, int(n))
		copy(mem.Bytes(a, int(n)), b[first-from:])
	})
}

// fill has the lines of a READ's pieces written, and returns the time that takes on PCIe.
func (f *part) fill(n *NIC, now sim.Time, v *verb) (svc sim.Time) {
	f.pieces(v, 0, v.len, func(a space.Addr, _, bytes uint32) {
		svc += f.cost.written(a, bytes)
		n.Claim(host.ByFill, a, bytes)
		n.machine.DMAWrite(&n.Port, now, a, bytes)
	})
	return svc
}

// landList is land of a message whose RECV has several segments.
func (f *part) landList(n *NIC, v *verb, now sim.Time) {
	b := f.bytes(v)
	f.pieces(v, 0, v.len, func(a space.Addr, first, bytes uint32) {
		n.Claim(host.ByMessage, a, bytes)
		n.machine.DMABytes(&n.Port, now, a, bytes, b[first:first+bytes])
	})
	n.completed()
	if !n.machine.Mem.Down {
		f.scatter(n.machine.Mem, v, 0, b)
	}
}

// recv is a receive request that waits for its message.
type recv struct {
	id    uint64
	local space.Addr
	len   uint32 // of all segments
	list  uint32 // number of its gather list, 0 for none
}

func (f *part) recvOf(w *RecvWR) recv {
	r := recv{id: w.ID, local: w.Local, len: w.Len}
	if len(w.Further) > 0 {
		r.len += gather.Bytes(w.Further)
		r.list = f.gathers.Add(Segment{Local: w.Local, LKey: w.LKey, Len: w.Len}, w.Further)
	}
	return r
}

// fetchRecv is the RNIC's reading of a receive request.
func (f *part) fetchRecv(n *NIC, now sim.Time, r *recv) {
	pointers := sim.Time(1)
	if r.list != 0 {
		pointers = sim.Time(len(f.gathers.Of(r.list).Segments))
	}
	n.down.Serve(now, f.cost.pcieRecv*pointers)
}

// dropRecv gives the list of a receive request back that gets no message.
func (f *part) dropRecv(r *recv) {
	if r.list != 0 {
		f.gathers.Release(r.list)
	}
}

// lands is when the translations of a message's buffer are there, and what it takes PCIe to write it.
func (f *part) lands(n *NIC, now sim.Time, v *verb, w *recv) (ready, svc sim.Time) {
	if w.list == 0 {
		return n.translate(now, w.local, v.len), f.cost.written(w.local, v.len)
	}
	f.gathers.Of(w.list).Pieces(0, v.len, func(a space.Addr, _, bytes uint32) {
		ready = max(ready, n.translate(now, a, bytes))
		svc += f.cost.written(a, bytes)
	})
	return ready, svc
}
