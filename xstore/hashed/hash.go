// Package hashed has keys of different lengths, which XStore keeps by their hashes (thesis §3.6): the hash function, and the initial
// keys of a store in the order of their hashes, divided among its servers. What a tree asks of them is tree.RealKeys.
package hashed

import (
	"math/bits"

	"drtmx/engine/wire"
)

// Bits is what a hash has unless fewer are asked for.
const Bits = 64

// Hash is the function of so many bits, from 1 to Bits. They are the upper ones of the result, so that hashes are spread over all words.
type Hash int

// Of multiplies each word by a constant and folds the product into the next one.
func (h Hash) Of(real []byte) uint64 {
	x := uint64(len(real)) * factor
	for ; len(real) >= 8; real = real[8:] {
		x = fold(x, wire.Get64(real))
	}
	if len(real) > 0 {
		var last [8]byte
		copy(last[:], real)
		x = fold(x, wire.Get64(last[:]))
	}
	x = fold(x, end)
	return x >> (Bits - h) << (Bits - h)
}

func fold(x, word uint64) uint64 {
	hi, lo := bits.Mul64(x^word^seed, factor)
	return hi ^ lo
}

// Digits of the golden ratio, of pi and of e.
const (
	factor = 0x9e3779b97f4a7c15
	seed   = 0x243f6a8885a308d3
	end    = 0xb7e151628aed2a6b
)

// Cycles is what hashing takes: for each word, and for the end, two exclusive ors, a multiplication of 64 by 64 bits and another
// exclusive or, which wait for each other: 1 + 1 + 4 + 1 cycles on Broadwell (Fog, Instruction tables).
func Cycles(real []byte) int { return 7 * ((len(real)+7)/8 + 1) }
