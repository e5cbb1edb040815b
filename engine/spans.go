package engine

import (
	"slices"

	"drtmx/engine/metrics"
	"drtmx/engine/sim"
)

// spans are what was counted in equal spans of virtual time since the mark: what confidence intervals
// are made of. When there are many, two spans become one, so that they stay few however long is
// measured. Nothing is allocated but for the first maxSpans of them.
type spans struct {
	closed []closedSpan
	open   metrics.Sketch
	length sim.Time
	next   sim.Time // end of the open span
	before counts   // at its begin
}

// closedSpan is what one of them holds.
type closedSpan struct {
	counts  counts
	latency metrics.Sketch
}

const (
	firstSpan  = 10 * sim.Microsecond
	maxSpans   = 128
	shortSpans = maxSpans / 2 // of an interval that is too short for as many of firstSpan
)

// spanFor is shorter than firstSpan when a person asked for an interval that would not have enough of
// those.
func spanFor(v Knobs) sim.Time {
	asked := sim.Time(v.Int("duration_ns")) * sim.Nanosecond
	if asked > 0 && asked < shortSpans*firstSpan {
		return asked / shortSpans
	}
	return firstSpan
}

func (x *spans) restart(now sim.Time, total counts, length sim.Time) {
	x.closed, x.length, x.next, x.before = x.closed[:0], length, now+length, total
	x.open.Reset()
}

// tick closes the open span if now is its end.
func (x *spans) tick(now sim.Time, total counts) {
	if now < x.next {
		return
	}
	n := len(x.closed)
	if n == cap(x.closed) {
		x.closed = slices.Grow(x.closed, 1)
	}
	x.closed = x.closed[:n+1]
	s := &x.closed[n]
	s.counts = total.minus(x.before)
	s.latency, x.open = x.open, s.latency
	x.open.Reset()
	if len(x.closed) == maxSpans {
		x.halve()
	}
	x.next, x.before = now+x.length, total
}

// halve makes one span of two.
func (x *spans) halve() {
	for i := range maxSpans / 2 {
		a, b := &x.closed[2*i], &x.closed[2*i+1]
		a.counts = a.counts.plus(b.counts)
		a.latency.Merge(&b.latency)
		x.closed[i], *a = *a, x.closed[i]
	}
	x.closed = x.closed[:maxSpans/2]
	x.length *= 2
}

// series is a count in every span.
func (x *spans) series(of func(c *counts) uint64) []float64 {
	out := make([]float64, len(x.closed))
	for i := range x.closed {
		out[i] = float64(of(&x.closed[i].counts))
	}
	return out
}

// latencies are the distributions in the spans.
func (x *spans) latencies() []metrics.Sketch {
	out := make([]metrics.Sketch, len(x.closed))
	for i := range x.closed {
		out[i] = x.closed[i].latency
	}
	return out
}

// The counts that intervals are about.
func commitsOf(c *counts) uint64  { return c.commits }
func abortsOf(c *counts) uint64   { return c.aborts }
func tripsOf(c *counts) uint64    { return c.trips }
func attemptsOf(c *counts) uint64 { return c.commits + c.aborts + c.rollbacks }
