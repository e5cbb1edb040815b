package metrics

import (
	"math"
	"math/bits"
	"slices"
)

// InFlight integrates the number of transactions in flight over time, in
// integers and without looking at latencies, so that Little's law is a check and
// not an identity. The zero value is ready and starts at time 0 with nothing in
// flight.
type InFlight struct {
	count   int64  // changes settled so far
	momHi   uint64 // sum of time*change over settled changes, 128 bits two's complement
	momLo   uint64
	pending []change // not settled: a cut may still fall before them
}

type change struct {
	at    int64
	delta int64
}

// Area is the integral of the number in flight from time 0 to At, in ps.
type Area struct {
	At     int64
	Count  int64 // in flight at At
	hi, lo uint64
}

// Add changes the number in flight by delta at time t. No later cut may be before now;
// t may be after it, for the local time of a busy core runs ahead of the event that drives it.
func (f *InFlight) Add(now, t int64, delta int) {
	if t <= now {
		f.fold(t, int64(delta))
		return
	}
	f.pending = append(f.pending, change{t, int64(delta)})
	if len(f.pending) == cap(f.pending) && len(f.pending) >= 256 {
		f.settle(now)
	}
}

// settle folds every pending change up to t into the sums.
func (f *InFlight) settle(t int64) {
	rest := f.pending[:0]
	for _, c := range f.pending {
		if c.at > t {
			rest = append(rest, c)
			continue
		}
		f.fold(c.at, c.delta)
	}
	f.pending = rest
	if len(rest) > cap(rest)/2 {
		f.pending = slices.Grow(rest, cap(rest))
	}
}

// fold takes a change into the sums.
func (f *InFlight) fold(t, delta int64) {
	f.count += delta
	hi, lo := mulSigned(t, delta)
	var carry uint64
	f.momLo, carry = bits.Add64(f.momLo, lo, 0)
	f.momHi, _ = bits.Add64(f.momHi, hi, carry)
}

// Area cuts at time t. Cuts come in rising order.
func (f *InFlight) Area(t int64) Area {
	f.settle(t)
	hi, lo := mulSigned(t, f.count)
	var borrow uint64
	lo, borrow = bits.Sub64(lo, f.momLo, 0)
	hi, _ = bits.Sub64(hi, f.momHi, borrow)
	return Area{At: t, Count: f.count, hi: hi, lo: lo}
}

// Average is the mean number in flight between two cuts.
func Average(from, to Area) float64 {
	if to.At <= from.At {
		return 0
	}
	lo, borrow := bits.Sub64(to.lo, from.lo, 0)
	hi, _ := bits.Sub64(to.hi, from.hi, borrow)
	dt := float64(to.At - from.At)
	if int64(hi) < 0 { // only after more ends than begins
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
		return -wide(hi, lo) / dt
	}
	return wide(hi, lo) / dt
}

// mulSigned is a*b as 128 bits two's complement.
func mulSigned(a, b int64) (hi, lo uint64) {
	hi, lo = bits.Mul64(uint64(a), uint64(b))
	if a < 0 {
		hi -= uint64(b)
	}
	if b < 0 {
		hi -= uint64(a)
	}
	return hi, lo
}

// Little compares the measured number in flight with throughput times latency.
type Little struct {
	InFlight           float64 `json:"in_flight"`
	ThroughputXLatency float64 `json:"throughput_x_latency"`
	Error              float64 `json:"error"` // relative to in_flight
}

// littleSettled is how far Little's law may be off in an interval that says something about
// latencies. Assumed.
const littleSettled = 0.1

// Settled says that the interval was long enough for its latencies: else requests that take
// long, or are tried again and again, were still under way when it ended, and those that are
// counted are the quick ones.
func (l *Little) Settled() bool { return math.Abs(l.Error) <= littleSettled }

// Endings sums the latencies of what has ended by a time: throughput times latency, the other
// side of Little's law. A busy core's local time runs ahead of the event that drives it, for many
// requests of its turn at once: one that ends beyond a cut belongs behind it, as it does in the
// integral of what is in flight. The zero value is ready.
type Endings struct {
	sum     uint64   // ps, of what has settled
	longest int64    // of what ended after the mark
	pending []ending // not settled: a cut may still fall before them
}

type ending struct{ at, latency int64 }

// Add counts a request that ends at time t. No later cut may be before now; t may be after it.
func (e *Endings) Add(now, t, latency int64) {
	e.longest = max(e.longest, latency)
	if t <= now {
		e.sum += uint64(latency)
		return
	}
	e.pending = append(e.pending, ending{t, latency})
	if len(e.pending) == cap(e.pending) && len(e.pending) >= 256 {
		e.settle(now)
	}
}

// settle takes every pending ending up to t into the sum.
func (e *Endings) settle(t int64) {
	rest := e.pending[:0]
	for _, x := range e.pending {
		if x.at > t {
			rest = append(rest, x)
			continue
		}
		e.sum += uint64(x.latency)
	}
	e.pending = rest
	if len(rest) > cap(rest)/2 {
		e.pending = slices.Grow(rest, cap(rest))
	}
}

// Sum is the latencies of what has ended by time t, in ps. Cuts come in rising order, and
// differences are right also where sums wrap.
func (e *Endings) Sum(t int64) uint64 {
	e.settle(t)
	return e.sum
}

// Mark forgets the longest request of what has ended by time t.
func (e *Endings) Mark(t int64) {
	e.settle(t)
	e.longest = 0
	for _, x := range e.pending {
		e.longest = max(e.longest, x.latency)
	}
}

// Longest is the latency of the longest request that ended after the mark, in ps.
func (e *Endings) Longest() int64 { return e.longest }

// CheckLittle takes the average in flight, and the latencies of what ended in so long a time, in ps.
func CheckLittle(inFlight float64, latencies uint64, ps int64) Little {
	l := Little{InFlight: inFlight}
	if ps > 0 {
		l.ThroughputXLatency = float64(latencies) / float64(ps)
	}
	if inFlight != 0 {
		l.Error = l.ThroughputXLatency/inFlight - 1
	}
	return l
}
