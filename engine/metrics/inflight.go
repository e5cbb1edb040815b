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
	pending changes
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
	f.pending.add(now, change{t, int64(delta)}, f.fold)
}

// fold takes a change into the sums.
func (f *InFlight) fold(c change) {
	f.count += c.by
	hi, lo := mulSigned(c.at, c.by)
	var carry uint64
	f.momLo, carry = bits.Add64(f.momLo, lo, 0)
	f.momHi, _ = bits.Add64(f.momHi, hi, carry)
}

// Area cuts at time t. Cuts come in rising order.
func (f *InFlight) Area(t int64) Area {
	f.pending.foldUntil(t, f.fold)
	hi, lo := mulSigned(t, f.count)
	var borrow uint64
	lo, borrow = bits.Sub64(lo, f.momLo, 0)
	hi, _ = bits.Sub64(hi, f.momHi, borrow)
	return Area{At: t, Count: f.count, hi: hi, lo: lo}
}

// Plus is the integral of what two count, both to the same time.
func (a Area) Plus(b Area) Area {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, carry)
	return Area{At: b.At, Count: a.Count + b.Count, hi: hi, lo: lo}
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
	sum     uint64 // ps, of what has settled
	longest int64  // of what ended after the mark
	pending changes
}

// Add counts a request that ends at time t. No later cut may be before now; t may be after it.
func (e *Endings) Add(now, t, latency int64) {
	e.longest = max(e.longest, latency)
	e.pending.add(now, change{t, latency}, e.fold)
}

// fold takes an ending into the sum.
func (e *Endings) fold(c change) { e.sum += uint64(c.by) }

// Sum is the latencies of what has ended by time t, in ps. Cuts come in rising order, and
// differences are right also where sums wrap.
func (e *Endings) Sum(t int64) uint64 {
	e.pending.foldUntil(t, e.fold)
	return e.sum
}

// Mark forgets the longest request of what has ended by time t.
func (e *Endings) Mark(t int64) {
	e.pending.foldUntil(t, e.fold)
	e.longest = 0
	for _, c := range e.pending {
		e.longest = max(e.longest, c.by)
	}
}

// Longest is the latency of the longest request that ended after the mark, in ps.
func (e *Endings) Longest() int64 { return e.longest }

// changes are those of a sum that have not settled: a cut may still fall before them.
type changes []change

type change struct{ at, by int64 }

// add folds a change into the sum, or keeps it if it is after now.
func (p *changes) add(now int64, c change, fold func(change)) {
	if c.at <= now {
		fold(c)
		return
	}
	*p = append(*p, c)
	if len(*p) == cap(*p) && len(*p) >= 256 {
		p.foldUntil(now, fold)
	}
}

// foldUntil folds every change up to t into the sum.
func (p *changes) foldUntil(t int64, fold func(change)) {
	rest := (*p)[:0]
	for _, c := range *p {
		if c.at > t {
			rest = append(rest, c)
		} else {
			fold(c)
		}
	}
	if len(rest) > cap(rest)/2 {
		rest = slices.Grow(rest, cap(rest))
	}
	*p = rest
}

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
