package nvm

import (
	"math/bits"

	"drtmx/engine/sim"
)

// Device is the persistent memory of one socket. Not safe for concurrent use:
// one goroutine owns a system.
type Device struct {
	dimms     []dimm
	config    Config
	unitShift uint   // lines of an interleaving unit
	unitMask  uint64 // lines within it
	inverse   uint64 // 2^64 / DIMMs, rounded up; 0 for one DIMM
}

// New returns a device with empty buffers.
func New(c Config) (*Device, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	unit := uint64(c.InterleaveBytes / LineBytes)
	d := &Device{dimms: make([]dimm, c.DIMMs), config: c,
		unitShift: uint(bits.TrailingZeros64(unit)), unitMask: unit - 1,
		inverse: ^uint64(0)/uint64(c.DIMMs) + 1}
	for i := range d.dimms {
		d.dimms[i] = newDIMM(c)
	}
	return d, nil
}

// Config is what the device was made from.
func (d *Device) Config() Config { return d.config }

// Read is a read request for a line that reaches the memory controller at now.
// It returns when the line is there.
//
// Reads and writes of one DIMM come in order of time: now is never less than in
// an earlier call (OutOfOrder counts violations).
func (d *Device) Read(now sim.Time, line uint64) (end sim.Time) {
	m, local := d.locate(line)
	return m.read(now, local)
}

// Write is a write request for a whole line that reaches the memory controller
// at now. It returns when the write pending queue takes it: from then on the
// line is in the persistent domain (thesis §2.3.2.1). Until then it occupies
// whatever it came from, and a requester with a limited number of these waits.
func (d *Device) Write(now sim.Time, line uint64) (accepted sim.Time) {
	m, local := d.locate(line)
	return m.write(now, local)
}

// Room is from when on the write pending queue in front of a line's DIMM has an
// entry free. A caller that chooses among waiting writes chooses then.
func (d *Device) Room(line uint64) sim.Time {
	m, _ := d.locate(line)
	return m.accepts.room()
}

// row is unit / DIMMs, for every line needs it, by multiplication. That is exact:
// the inverse is too large by less than DIMMs / 2^64 of itself, which would matter
// from unit 2^64 / DIMMs on, and units are below 2^58.
func (d *Device) row(unit uint64) uint64 {
	if d.inverse == 0 {
		return unit
	}
	row, _ := bits.Mul64(unit, d.inverse)
	return row
}

// locate is the DIMM of a line, and its number there.
func (d *Device) locate(line uint64) (m *dimm, local uint64) {
	unit := line >> d.unitShift
	row := d.row(unit)
	return &d.dimms[unit-row*uint64(len(d.dimms))], row<<d.unitShift | line&d.unitMask
}

// Flush writes back everything in the buffers, as the DIMMs do on their energy
// reserve when power fails, and returns when that is done.
func (d *Device) Flush(now sim.Time) (end sim.Time) {
	end = now
	for i := range d.dimms {
		end = max(end, d.dimms[i].flush(now))
	}
	return end
}

// DIMMStats are the counters of one DIMM.
func (d *Device) DIMMStats(i int) Stats { return d.dimms[i].stats() }

// Stats are the counters of all DIMMs together.
func (d *Device) Stats() (s Stats) {
	for i := range d.dimms {
		s.add(d.dimms[i].stats())
	}
	return s
}

// Advance has the DIMMs do what they do by themselves until now: else they do it when the
// next request comes, and counters and media do not have it yet. It changes nothing else.
func (d *Device) Advance(now sim.Time) {
	for i := range d.dimms {
		d.dimms[i].drain(now)
	}
}

// MediaBusy is how long the media of a DIMM have read and written by now, since the
// start. Where they are shared, all of it is of the reading ones. Advance comes first.
func (d *Device) MediaBusy(i int, now sim.Time) (read, write sim.Time) {
	m := &d.dimms[i]
	return m.readMedia.BusyUntil(now), m.writeMedia.BusyUntil(now)
}

// OutOfOrder is how many calls came with an earlier time than one before for the
// same DIMM, and by how much the worst of them did. Both must be 0.
func (d *Device) OutOfOrder() (n uint64, worst sim.Time) {
	for i := range d.dimms {
		n += d.dimms[i].ooo
		worst = max(worst, d.dimms[i].oooMax)
	}
	return n, worst
}
