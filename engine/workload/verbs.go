package workload

import (
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/txn"
)

// Verbs reports requests that are no transactions, each of one coroutine and all
// in the phase of execution.
type Verbs struct {
	Env Env
	// One coroutine at a time reports, and an Outcome is large.
	out  txn.Outcome
	idle metrics.Breakdown // time that belongs to no request
}

// Begin is where a coroutine may be held, and then its request begins.
func (v *Verbs) Begin(c *r2.Co, m r2.Mode) (begin r2.Time) {
	c.Gate()
	c.Reset()
	c.Phase(txn.Execution, m)
	c.TakeBreakdown(&v.idle)
	begin = c.Now()
	if f := v.Env.OnBegin; f != nil {
		f(c.Machine(), c.Thread(), begin)
	}
	return begin
}

// Done hands out a request that ends now.
func (v *Verbs) Done(c *r2.Co, begin r2.Time) { v.end(c, begin, false) }

// Failed is Done of one that ends with an error.
func (v *Verbs) Failed(c *r2.Co, begin r2.Time) { v.end(c, begin, true) }

func (v *Verbs) end(c *r2.Co, begin r2.Time, failed bool) {
	o := &v.out
	o.Co, o.Committed, o.Failed, o.Attempts, o.Phases = c.ID(), !failed, failed, 1, 1<<txn.Execution
	o.Breakdown[txn.Execution] = [metrics.NumMilestones]int64{}
	o.RoundTrips[txn.Execution] = uint32(c.TakeBreakdown(&o.Breakdown))
	o.Begin, o.Last, o.End = begin, begin, c.Now()
	o.Decision = o.End
	if f := v.Env.OnDone; f != nil {
		f(c.Machine(), c.Thread(), o)
	}
}
