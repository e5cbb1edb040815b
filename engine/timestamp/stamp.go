package timestamp

// Stamp orders versions, as it stands in headers and messages: 8 bytes in every scheme. 0 is that of what was
// there from the start, which is visible to everybody.
type Stamp uint64

const (
	logicalBits = 16
	counterBits = 48
	counterMask = uint64(1)<<counterBits - 1
)

// Hybrid is a stamp of DST and of TrueTime: 48 bits of physical time | 16 of a logical clock.
func Hybrid(ns uint64, logical uint16) Stamp { return Stamp(ns<<logicalBits | uint64(logical)) }

// Physical is the physical part of a hybrid stamp, in nanoseconds.
func (s Stamp) Physical() uint64 { return uint64(s) >> logicalBits }

// Logical is the logical part of a hybrid stamp.
func (s Stamp) Logical() uint16 { return uint16(s) }

// Next is the smallest stamp that is larger. Where the logical part is full it carries into the physical one.
func (s Stamp) Next() Stamp { return s + 1 }

// Slotted is a stamp of a vector: the slot that it is of, and its number there. A single counter's stamps are of slot 0.
func Slotted(slot uint16, n uint64) Stamp { return Stamp(uint64(slot)<<counterBits | n&counterMask) }

// Slot is the slot of a slotted stamp.
func (s Stamp) Slot() int { return int(s >> counterBits) }

// Counter is the number of a slotted stamp in its slot.
func (s Stamp) Counter() uint64 { return uint64(s) & counterMask }

// Point is where a snapshot reads: one word, or one per slot. Its memory is reused.
type Point struct{ Words []uint64 }

// One makes it a point of one word.
func (p *Point) One(s Stamp) { p.Words = append(p.Words[:0], uint64(s)) }

// Copy makes it equal to another one, in memory of its own.
func (p *Point) Copy(from []uint64) { p.Words = append(p.Words[:0], from...) }

// Visible says whether a snapshot at p sees what has stamp s. An empty p sees what was there from the start.
func Visible(s Stamp, p []uint64) bool {
	switch {
	case s == 0:
		return true
	case len(p) == 1:
		return uint64(s) <= p[0]
	case s.Slot() < len(p):
		return s.Counter() <= p[s.Slot()]
	}
	return false
}
