package workload

import "math/bits"

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

// Text fills b with letters.
func (x *Bits) Text(b []byte) {
	for i := 0; i < len(b); i += 16 {
		r := x.Next()
		for j := i; j < min(i+16, len(b)); j, r = j+1, r>>4 {
			b[j] = 'a' + byte(r&15)
		}
	}
}
