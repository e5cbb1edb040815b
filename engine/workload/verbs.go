package workload

import (
	"drtmx/engine/metrics"
	"drtmx/engine/owned"
	"drtmx/engine/r2"
	"drtmx/engine/txn"
)

// Verbs reports requests that are no transactions, each of one coroutine: in the phase of execution, or in those that it
// passes through.
type Verbs struct {
	Env Env
	own owned.Each[report]
}

// report is of a machine: one coroutine at a time reports there, and an Outcome is large.
type report struct {
	out   txn.Outcome
	idle  metrics.Breakdown // time that belongs to no request
	waits []uint32          // of no request, by phase
}

// NewVerbs reports requests of an environment.
func NewVerbs(env Env) Verbs {
	return Verbs{env, owned.New(env.Cluster.Machines(), func(int) report {
		return report{txn.NewOutcome(), metrics.NewBreakdown(), metrics.ForPhases[uint32]()}
	})}
}

// Begin is where a coroutine may be held, and then its request begins.
func (v *Verbs) Begin(c *r2.Co, m r2.Mode) (begin r2.Time) {
	c.Gate()
	c.Reset()
	c.Phase(txn.Execution, m)
	own := v.own.Of(c.Machine())
	c.TakeBreakdown(own.idle)
	c.TakeTrips(own.waits)
	begin = c.Now()
	if f := v.Env.OnBegin; f != nil {
		f(c.Machine(), c.Thread(), begin)
	}
	return begin
}

// Done hands out a request that ends now.
func (v *Verbs) Done(c *r2.Co, begin r2.Time) { v.DoneAs(c, begin, 0, true) }

// DoneAs is Done of one of several types. Where it did nothing it found nothing to do: its key was missing, or taken.
func (v *Verbs) DoneAs(c *r2.Co, begin r2.Time, typ uint8, did bool) {
	v.end(c, begin, typ, false, !did)
}

// Failed is Done of one that ends with an error.
func (v *Verbs) Failed(c *r2.Co, begin r2.Time) {
	v.end(c, begin, 0, true, false)
}

func (v *Verbs) end(c *r2.Co, begin r2.Time, typ uint8, failed, empty bool) {
	o := &v.own.Of(c.Machine()).out
	o.Type, o.Empty = typ, empty
	o.Co, o.Committed, o.Failed, o.Attempts, o.Phases = c.ID(), !failed, failed, 1, c.Phases()
	if o.Phases == 0 { // it took no time
		o.Phases = metrics.SetOf(txn.Execution)
	}
	o.Breakdown.Clear(o.Phases)
	clear(o.RoundTrips)
	c.TakeTrips(o.RoundTrips)
	c.TakeBreakdown(o.Breakdown)
	o.Begin, o.Last, o.End = begin, begin, c.Now()
	o.Decision = o.End
	if f := v.Env.OnDone; f != nil {
		f(c.Machine(), c.Thread(), o)
	}
}

const (
	// Behind an error a client takes a break of a random time around breakPS, twice as long with each further error in a row,
	// breakDoubles times at most. Chosen: from the latency of a few requests to some hundreds.
	breakPS      = 4_000_000
	breakDoubles = 7
)

// Break is what a client takes behind an error of a machine that is down.
type Break struct{ errors int }

// OK ends a row of errors.
func (b *Break) OK() { b.errors = 0 }

// Error is behind one.
func (b *Break) Error(c *r2.Co) {
	b.errors = min(b.errors+1, breakDoubles)
	half := r2.Time(breakPS) << b.errors / 2
	c.Sleep(half + r2.Time(c.Rand().Uint64n(uint64(half))))
}
