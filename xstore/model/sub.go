package model

import (
	"encoding/binary"
	"math"
)

// Sub is a sub-model: a line from the key to a logical position among the leaves of its own translation table, and how far the
// line is off (thesis §3.4.1). A logical position is the leaf's number in the table times the slots of a leaf, plus the key's
// rank in the leaf.
type Sub struct {
	// The line. Its origin is the sub-model's base (Model.Base): as an absolute number a key of 64 bits does not fit a float32.
	Slope, Intercept float32
	// How many positions the line is above (MinErr) and below (MaxErr) the truth, at most.
	MinErr, MaxErr uint8
	// TT is the size of the translation table: the low 20 bits are its number of entries, the high 12 bits a generation that
	// sub-model and table share. A sub-model with a table of another generation passes the incarnation check and loses keys.
	// The generation wraps: it tells tables apart that are fewer than 4,096 trainings apart.
	TT uint32
}

const (
	// SubBytes is the size of a sub-model on the wire.
	SubBytes = 14
	// MaxEntries is the most that a translation table can have.
	MaxEntries = 1<<generationShift - 1
	// MaxError is the largest error that a sub-model can tell.
	MaxError = math.MaxUint8

	generationShift = 20
	// GenerationMask is the largest generation; the next one is 0.
	GenerationMask = 1<<(32-generationShift) - 1
)

// SubCycles is what Range costs a core: the subtraction of the base, a conversion, a product, a sum, a rounding and two
// divisions by a constant, one after the other. Assumed: 4 cycles for each floating-point step, 6 for each of the others.
const SubCycles = 4*4 + 4*6

// fallback is the encoding of a sub-model that no client may predict with: a line of keys in order never falls.
func fallback(generation uint32) Sub { return Sub{Slope: -1, TT: ttField(0, generation)} }

// unreachable is the sub-model that no key is sent to.
func unreachable(generation uint32) Sub { return Sub{TT: ttField(0, generation)} }

func ttField(entries int, generation uint32) uint32 {
	return uint32(entries) | generation<<generationShift
}

// Fallback says that clients have to ask the server: an error did not fit its 8 bits, or the leaves their 20. Such a sub-model has no translation table.
func (s Sub) Fallback() bool { return s.Slope < 0 }

// Entries is the number of entries of its translation table.
func (s Sub) Entries() int { return int(s.TT & MaxEntries) }

// Generation is the generation of sub-model and table.
func (s Sub) Generation() uint32 { return s.TT >> generationShift }

// farthest is a position far outside every table, and inside the integers.
const farthest = 1 << 40

// predict is the position by the line. It never falls when the key rises: each step is monotone, its rounding included. It
// calculates with 64 bits from parameters of 32 (thesis §3.4.1, footnote: "LR may use more floating-points for prediction").
func (s *Sub) predict(base, key uint64) int64 {
	f := float64(float64(s.Slope)*distance(base, key)) + float64(s.Intercept)
	switch {
	case f >= farthest:
		return farthest
	case f <= -farthest:
		return -farthest
	}
	p := int64(f)
	if float64(p) > f { // the conversion rounds towards 0
		p--
	}
	return p
}

// distance is key - base as a float.
func distance(base, key uint64) float64 {
	if key >= base {
		return float64(key - base)
	}
	return -float64(base - key)
}

// Positions are the first and last logical position that the key may have if it was trained (Figure 3-8, lines 3 to 5).
func (s Sub) Positions(base, key uint64) (lo, hi int64) {
	p := s.predict(base, key)
	return p - int64(s.MinErr), p + int64(s.MaxErr)
}

// Range are the first and last entry of the translation table whose leaves to fetch for a key, slots being the slots of a leaf
// (Figure 3-8, lines 3 to 5). Of a sub-model that cannot predict, first is above last.
func (s Sub) Range(base, key uint64, slots int) (first, last int) {
	top := s.Entries() - 1
	if top < 0 {
		return 0, -1
	}
	lo, hi := s.Positions(base, key)
	return leafAt(lo, slots, top), leafAt(hi, slots, top)
}

// leafAt is the leaf of a position, or the end of the table that is next to it: whatever lies beyond a table's last key is in
// its last leaf, or in another sub-model's table.
func leafAt(position int64, slots, top int) int {
	switch {
	case position < 0:
		return 0
	case position >= int64(slots)*int64(top):
		return top
	}
	return int(uint32(position) / uint32(slots)) // below 2^20 leaves of at most 255 slots
}

// Put writes the 14 bytes.
func (s Sub) Put(b []byte) {
	binary.LittleEndian.PutUint32(b, math.Float32bits(s.Slope))
	binary.LittleEndian.PutUint32(b[4:], math.Float32bits(s.Intercept))
	b[8], b[9] = s.MinErr, s.MaxErr
	binary.LittleEndian.PutUint32(b[10:], s.TT)
}

// GetSub reads the 14 bytes.
func GetSub(b []byte) Sub {
	return Sub{
		Slope: math.Float32frombits(binary.LittleEndian.Uint32(b)), Intercept: math.Float32frombits(binary.LittleEndian.Uint32(b[4:])),
		MinErr: b[8], MaxErr: b[9], TT: binary.LittleEndian.Uint32(b[10:]),
	}
}
