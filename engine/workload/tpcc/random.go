package tpcc

import (
	"math/bits"

	"drtmx/engine/r2"
)

// bitsOf is a stream of random numbers that is a pure function of its name.
type bitsOf uint64

func (b *Bench) bits(table, key uint64) bitsOf {
	return bitsOf((key+1)*0x9e3779b97f4a7c15 ^ (b.opt.Seed*256+table)*0xd1342543de82ef95)
}

func (x *bitsOf) next() uint64 {
	*x += 0x9e3779b97f4a7c15
	z := uint64(*x)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (x *bitsOf) below(n uint64) uint64 {
	hi, _ := bits.Mul64(x.next(), n)
	return hi
}

// text fills b with letters.
func (x *bitsOf) text(b []byte) {
	for i := 0; i < len(b); i += 16 {
		r := x.next()
		for j := i; j < min(i+16, len(b)); j, r = j+1, r>>4 {
			b[j] = 'a' + byte(r&15)
		}
	}
}

// original is text that says ORIGINAL somewhere, one time in ten.
func (x *bitsOf) original(b []byte) {
	x.text(b)
	if x.below(10) == 0 {
		copy(b[x.below(uint64(len(b)-7)):], "ORIGINAL")
	}
}

// nurand is the standard's non-uniform distribution over 0 to n-1 (clause
// 2.1.6): a is 2^k-1, c its constant.
type nurand struct{ a, c, n uint64 }

// newNURand has the standard's a for a population of full, and for a smaller one
// the power of 2 below it that keeps about the same skew.
func newNURand(a, c, full, n uint64) nurand {
	for a > 1 && n*2 <= full {
		full, a = full/2, a/2
	}
	return nurand{a: a, c: c, n: n}
}

func (d nurand) draw(r *r2.Rand) uint64 { return d.at(r.Uint64n(d.a+1), r.Uint64n(d.n)) }

func (d nurand) at(x, y uint64) uint64 { return ((x | y) + d.c) % d.n }

// weight tells the popular numbers from others: a number is 3^weight times as
// popular as those of weight 0, for it is the or of two random numbers.
func (d nurand) weight(v uint64) int { return bits.OnesCount64((v + d.n - d.c%d.n) % d.n & d.a) }

// The standard's constants C. Those of the last names in the population and in
// the run differ by 66, one of the differences that clause 2.1.6.1 allows.
const (
	constLastLoad = 157
	constLastRun  = 223
	constCustomer = 259
	constItem     = 7911
)

var syllables = [10]string{"BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"}

// lastName writes the name of a number below 1000 (clause 4.3.2.3).
func lastName(dst []byte, n uint64) {
	for _, digit := range [3]uint64{n / 100 % 10, n / 10 % 10, n % 10} {
		dst = dst[copy(dst, syllables[digit]):]
	}
}

// nameOf is the number of a customer's last name: the first customers of a
// district have one each, the others random ones.
func (b *Bench) nameOf(customer uint64) uint64 {
	c := customer % b.customers
	if c < b.names.n {
		return c
	}
	x := b.bits(Customer, customer)
	x = bitsOf(x.next() ^ 0x6c617374)
	load := b.names
	load.c = constLastLoad
	return load.at(x.below(load.a+1), x.below(load.n))
}
