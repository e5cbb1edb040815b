package nvm

import "drtmx/engine/sim"

// What only tests of this package use.

// IdleRead is the device's share of the latency of a lone read: of an XLine that
// is in the buffer, and of one that is neither there nor has its translation at
// hand. The latter and the way from the core make the 271 ns of thesis §2.3.3.
func (c Config) IdleRead() (hit, miss sim.Time) {
	return c.ReadHitPS, c.ReadHitPS + c.MediaReadPS + c.TranslationMissPS
}

// DIMM is the DIMM of a line.
func (d *Device) DIMM(line uint64) int {
	unit := line >> d.unitShift
	return int(unit - d.row(unit)*uint64(len(d.dimms)))
}

// ResetStats sets the counters to zero. Buffers and queues stay as they are.
func (d *Device) ResetStats() {
	for i := range d.dimms {
		d.dimms[i].resetStats()
	}
}

// ReadAmplification is the bytes read from the media for each byte of a read
// request, 0 without reads. It includes reads for read-modify-write.
func (s Stats) ReadAmplification() float64 { return ratio(s.MediaRead, s.ReadReq) }

func (m *dimm) resetStats() {
	if invariants {
		m.verifyAll()
		m.check.reset()
	}
	m.count = Stats{}
}

func (c *checker) reset() {
	c.held = uint64(len(c.pending))
	c.in, c.out, c.merged = 0, 0, 0
}
