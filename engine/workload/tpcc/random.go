package tpcc

import (
	"math/bits"

	"drtmx/engine/r2"
	"drtmx/engine/workload"
)

func (b *Bench) bits(table, key uint64) workload.Bits {
	return workload.NewBits(b.opt.Seed, table, key)
}

// original is text that says ORIGINAL somewhere, one time in ten.
func original(x *workload.Bits, b []byte) {
	x.Text(b)
	if x.Below(10) == 0 {
		copy(b[x.Below(uint64(len(b)-7)):], "ORIGINAL")
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
	x = workload.Bits(x.Next() ^ 0x6c617374)
	load := b.names
	load.c = constLastLoad
	return load.at(x.Below(load.a+1), x.Below(load.n))
}
