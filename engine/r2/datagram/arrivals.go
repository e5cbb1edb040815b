package datagram

import "math/bits"

// RequestWindow bounds the requests of one thread to one peer thread that
// are not yet answered or acknowledged [drtmh config].
const RequestWindow = 128

// Arrivals says which requests of the other side are here.
type Arrivals struct {
	Arrived uint32                     // all requests below it are
	beyond  [RequestWindow / 64]uint64 // bit i: Arrived+i is here too
}

// Lacks says that a request is not here yet and may come.
func (a *Arrivals) Lacks(seq uint32) bool {
	d := seq - a.Arrived
	return d < RequestWindow && a.beyond[d/64]>>(d%64)&1 == 0
}

// Admit notes the arrival of a request; false: it was here before.
func (a *Arrivals) Admit(seq uint32) bool {
	if !a.Lacks(seq) {
		return false
	}
	d := seq - a.Arrived
	a.beyond[d/64] |= 1 << (d % 64)
	a.advance()
	return true
}

// advance moves Arrived to the first request that is not here.
func (a *Arrivals) advance() {
	for a.beyond[0] == ^uint64(0) {
		a.shift(64)
	}
	if n := bits.TrailingZeros64(^a.beyond[0]); n > 0 {
		a.shift(uint32(n))
	}
}

// Skip takes all requests below seq as arrived: their sender no longer repeats
// them.
func (a *Arrivals) Skip(seq uint32) {
	for n := seq - a.Arrived; n > 0; n = seq - a.Arrived {
		a.shift(min(n, 64))
	}
	a.advance()
}

func (a *Arrivals) shift(n uint32) {
	a.Arrived += n
	for i := range a.beyond {
		x := uint64(0)
		if i+1 < len(a.beyond) {
			x = a.beyond[i+1]
		}
		if n == 64 {
			a.beyond[i] = x
		} else {
			a.beyond[i] = a.beyond[i]>>n | x<<(64-n)
		}
	}
}
