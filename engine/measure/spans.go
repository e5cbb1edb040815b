package measure

import (
	"slices"

	"drtmx/engine/experiment"
	"drtmx/engine/metrics"
	"drtmx/engine/sim"
)

// spans are what was counted in equal spans of virtual time since the mark: what confidence intervals
// are made of. When there are many, two spans become one, so that they stay few however long is
// measured. Nothing is allocated but for the first maxSpans of them.
type spans struct {
	Closed []closedSpan
	open   metrics.Sketch
	length sim.Time
	Next   sim.Time // end of the open span
	before Counts   // at its begin
}

// closedSpan is what one of them holds.
type closedSpan struct {
	counts  Counts
	latency metrics.Sketch
}

const (
	firstSpan  = 10 * sim.Microsecond
	maxSpans   = 128
	ShortSpans = maxSpans / 2 // of an interval that is too short for as many of firstSpan
)

// SpanFor is shorter than firstSpan when a person asked for an interval that would not have enough of
// those.
func SpanFor(v experiment.Knobs) sim.Time {
	asked := sim.Time(v.Int("duration_ns")) * sim.Nanosecond
	if asked > 0 && asked < ShortSpans*firstSpan {
		return asked / ShortSpans
	}
	return firstSpan
}

func (x *spans) restart(now sim.Time, total Counts, length sim.Time) {
	x.Closed, x.length, x.Next, x.before = x.Closed[:0], length, now+length, total
	x.open.Reset()
}

// tick closes the open span, which ends now.
func (x *spans) tick(now sim.Time, total Counts) {
	n := len(x.Closed)
	if n == cap(x.Closed) {
		x.Closed = slices.Grow(x.Closed, 1)
	}
	x.Closed = x.Closed[:n+1]
	s := &x.Closed[n]
	s.counts = total.Minus(x.before)
	s.latency, x.open = x.open, s.latency
	x.open.Reset()
	if len(x.Closed) == maxSpans {
		x.halve()
	}
	x.Next, x.before = now+x.length, total
}

// halve makes one span of two.
func (x *spans) halve() {
	for i := range maxSpans / 2 {
		a, b := &x.Closed[2*i], &x.Closed[2*i+1]
		a.counts = a.counts.plus(b.counts)
		a.latency.Merge(&b.latency)
		x.Closed[i], *a = *a, x.Closed[i]
	}
	x.Closed = x.Closed[:maxSpans/2]
	x.length *= 2
}

// Series is a count in every span.
func (x *spans) Series(of func(c *Counts) uint64) []float64 {
	out := make([]float64, len(x.Closed))
	for i := range x.Closed {
		out[i] = float64(of(&x.Closed[i].counts))
	}
	return out
}

// Latencies are the distributions in the spans.
func (x *spans) Latencies() []metrics.Sketch {
	out := make([]metrics.Sketch, len(x.Closed))
	for i := range x.Closed {
		out[i] = x.Closed[i].latency
	}
	return out
}

// The counts that intervals are about.
func CommitsOf(c *Counts) uint64  { return c.Commits }
func CountedOf(c *Counts) uint64  { return c.Counted() }
func AbortsOf(c *Counts) uint64   { return c.Aborts }
func TripsOf(c *Counts) uint64    { return c.Trips }
func AttemptsOf(c *Counts) uint64 { return c.Commits + c.Aborts + c.Rollbacks }
