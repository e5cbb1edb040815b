package host

import (
	"drtmx/engine/fabric/profile"
	"drtmx/engine/sim"
)

// SSD is a machine's disk: a link that requests of whole blocks cross one after the other, a queue
// of bounded depth in front of it, and a latency behind it in which others are under way. What
// has crossed the link survives a crash, for such disks finish with the charge of capacitors what
// they have accepted. Wear, garbage collection and the order of blocks have no cost.
type SSD struct {
	// Call is the core's time for a request: system calls, block layer, interrupt.
	Call sim.Time
	// Block is the size of a block in bytes. It is written as a whole or not at all.
	Block int

	link          sim.FIFO
	write, read   sim.Time // of a block on the link
	writes, reads sim.Time // latency of a lone block, link included
	done          []sim.Time
	next          int
}

func newSSD(p *profile.Profile) *SSD {
	n := p.SSD
	if n == nil {
		return nil
	}
	size := sim.Time(n.Block.Int())
	return &SSD{Call: n.Call.Time(), Block: n.Block.Int(),
		write: size * n.WriteBandwidth.PerKB() >> 10, read: size * n.ReadBandwidth.PerKB() >> 10,
		writes: n.WriteLatency.Time(), reads: n.ReadLatency.Time(), done: make([]sim.Time, n.QueueDepth.Int())}
}

// Blocks is how many blocks n bytes take that begin at an offset.
func (d *SSD) Blocks(offset int64, n int) int {
	b := int64(d.Block)
	return int((offset+int64(n)+b-1)/b - offset/b)
}

// Write takes blocks from now on: they cross the link from begin to end, and the request is
// complete at done.
func (d *SSD) Write(now sim.Time, blocks int) (begin, end, done sim.Time) {
	return d.serve(now, sim.Time(blocks)*d.write, d.writes-d.write)
}

// Read is when a request for blocks is complete that comes now.
func (d *SSD) Read(now sim.Time, blocks int) (done sim.Time) {
	_, _, done = d.serve(now, sim.Time(blocks)*d.read, d.reads-d.read)
	return done
}

func (d *SSD) serve(now, svc, latency sim.Time) (begin, end, done sim.Time) {
	end = d.link.Serve(max(now, d.done[d.next]), svc)
	done = end + max(0, latency)
	d.done[d.next] = done // never before that of the request in front, but for a read behind a write
	d.next = (d.next + 1) % len(d.done)
	return end - svc, end, done
}

// BusyPS is the time that requests have crossed the link by now.
func (d *SSD) BusyPS(now sim.Time) sim.Time { return d.link.BusyUntil(now) }

// crash ends all requests.
func (d *SSD) crash(now sim.Time) {
	if d == nil {
		return
	}
	d.link = sim.FIFO{Free: now, Busy: d.link.BusyUntil(now), N: d.link.N}
	clear(d.done)
}
