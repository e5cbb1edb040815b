package workload

import (
	"encoding/binary"
	"math/bits"
)

// Bits is a stream of random numbers that is a pure function of its name: what
// the rows of a population are made of.
type Bits uint64

// NewBits is the stream of a row.
func NewBits(seed, table, key uint64) Bits {
	return Bits((key+1)*0x9e3779b97f4a7c15 ^ (seed*256+table)*0xd1342543de82ef95)
}

// Next is the next 64 bits.
func (x *Bits) Next() uint64 {
	*x += 0x9e3779b97f4a7c15
	z := uint64(*x)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Below is a number of [0, n).
func (x *Bits) Below(n uint64) uint64 {
	hi, _ := bits.Mul64(x.Next(), n)
	return hi
}

// Text fills b with letters: four bits each, the lowest of a word first.
func (x *Bits) Text(b []byte) {
	for ; len(b) >= 16; b = b[16:] {
		r := x.Next()
		binary.LittleEndian.PutUint64(b, letters(uint32(r)))
		binary.LittleEndian.PutUint64(b[8:], letters(uint32(r>>32)))
	}
	if len(b) > 0 {
		r := x.Next()
		for i := range b {
			b[i] = 'a' + byte(r&15)
			r >>= 4
		}
	}
}

// letters makes eight of 32 bits.
func letters(r uint32) uint64 {
	y := uint64(r)
	y = (y | y<<16) & 0x0000ffff0000ffff
	y = (y | y<<8) & 0x00ff00ff00ff00ff
	y = (y | y<<4) & 0x0f0f0f0f0f0f0f0f
	return y + 'a'*0x0101010101010101
}
