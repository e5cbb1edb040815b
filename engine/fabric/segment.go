package fabric

import (
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// A message longer than the path MTU is several packets, and while the last are still
// fetched from the host, the first are on the wire. To every station it is one request
// all the same, which holds it for all bytes without a gap. So it goes on to the next
// one when its first packet is through, or, where the next is the faster of the two, so
// late that it is done there one packet behind the last. That is exact unless a station
// is slower than one before it with a faster one between, as a slow bus at both ends of a
// fast wire: then they overlap in part only.

// early is how many bytes are in the packets before the last.
func (c *costs) early(n uint32) uint32 { return (n - 1) / c.mtu * c.mtu }

// load is what the host's memory takes for the first packet of n bytes that an RNIC
// reads, and for all of them.
func (f *part) load(r *NIC, now sim.Time, a space.Addr, n uint32) (first, all sim.Time) {
	cut := n
	if n > f.cost.mtu { // no line is read twice
		cut = min(n, uint32(space.RoundUp(a+space.Addr(f.cost.mtu), space.LineBytes)-a))
	}
	first = r.machine.DMARead(&r.Port, now, a, cut)
	if all = first; cut < n {
		all = max(all, r.machine.DMARead(&r.Port, now, a+space.Addr(cut), n-cut))
	}
	return first, all
}

// fetch is an RNIC's read of n bytes of its host, whose memory takes that long for the
// first packet and for all. It returns when they go to the send pipeline, but for their
// way over PCIe.
func (f *part) fetch(r *NIC, now sim.Time, a space.Addr, n uint32, first, all sim.Time) sim.Time {
	c := &f.cost
	if n <= c.mtu {
		return f.crosses(r, now, all, c.fetched(a, n))
	}
	svc, head := c.fetched(a, n), c.fetched(a, c.mtu)
	end := r.down.Serve(now, svc)
	t := max(end, now+first+svc, now+all+svc-c.fetched(a, c.early(n)))
	return max(end-svc+head, now+first+head, t-r.slowed(c.gathered(c.early(n))))
}

// crosses is when bytes that an RNIC reads of its host, whose memory takes latency for
// them, are over PCIe, which takes svc, but for the way. Memory hides behind the wait
// for PCIe, and not behind the bytes' own time there: they cannot cross before they are
// read.
func (f *part) crosses(r *NIC, now, latency, svc sim.Time) sim.Time {
	return max(r.down.Serve(now, svc), now+latency+svc)
}

// leaves is when a message of several packets with n bytes of payload, which is through
// the send pipeline at end and was in it for svc and the time of its bytes, goes to the
// wire or, without one, to the receive pipeline.
func (f *part) leaves(s *NIC, v *verb, end, svc sim.Time, n uint32) sim.Time {
	c := &f.cost
	first := end - s.slowed(svc+c.gathered(n)) + s.slowed(svc+c.gathered(c.mtu))
	early := c.early(n)
	if v.flags&loop != 0 {
		return max(first, end-s.slowed(c.scattered(early)))
	}
	return max(first, end-c.serialize(early, c.headNext))
}

// gathered is how long bytes fetched by DMA stream through the send pipeline.
func (c *costs) gathered(n uint32) sim.Time { return sim.Time(n) * c.gather >> 10 }

// scattered is how long the bytes of a message stream through the receive pipeline.
func (c *costs) scattered(n uint32) sim.Time { return sim.Time(n) * c.scatter >> 10 }
