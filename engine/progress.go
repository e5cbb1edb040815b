package engine

import (
	"context"
	"fmt"

	"drtmx/engine/sim"
)

// Progress is told of long work what is being done, in words for a person ("building 12 of 64
// machines"), and how much of the whole is done. It never goes backwards.
type Progress func(doing string, done, total int)

// Progress is reported in thousandths.
const ProgressTotal = 1000

// Shares of the progress of an opening.
const (
	builtShare  = 50  // once the machines are there
	tablesShare = 60  // once the tables are
	warmedShare = 990 // and once what starts warm is; then the clients come
)

// opening is the assembling of a system as a waiting caller sees it.
type opening struct {
	ctx      context.Context
	progress Progress // nil: no progress
	explore  bool     // notes the order of accesses
}

// look tells how far the opening is, and ends it once its context has ended.
func (o *opening) look(doing string, done int) error {
	if o.progress != nil {
		o.progress(doing, done, ProgressTotal)
	}
	return o.ctx.Err()
}

// machine is called between two machines, of which done are connected.
func (o *opening) machine(done, total int) error {
	return o.look(fmt.Sprintf("building %d of %d machines", done, total), builtShare*done/total)
}

// warm is called between two steps of what the workload warms.
func (o *opening) warm(done, total int) error {
	return o.look("warming the caches", tablesShare+(warmedShare-tablesShare)*done/total)
}

// drainEnd is the drain and the checks behind it, likewise.
type drainEnd struct {
	ctx      context.Context
	progress Progress
	first    int // in flight when the drain began
	reported int
}

const (
	restedShare = 500 // of the progress of an ending, once nothing is in flight
	checks      = 4   // of about equal length, that follow
)

func (e *drainEnd) look(doing string, done int) error {
	e.reported = max(e.reported, done)
	if e.progress != nil {
		e.progress(doing, e.reported, ProgressTotal)
	}
	return e.ctx.Err()
}

// rest is called while the cluster comes to rest, with what is in flight.
func (e *drainEnd) rest(busy int, spent, budget sim.Time) error {
	e.first = max(e.first, busy)
	doing := "draining"
	if ms := spent / sim.Millisecond; ms > 0 { // else it is over before a reader sees it
		doing = fmt.Sprintf("draining, %d under way after %d of at most %d ms", busy, ms, budget/sim.Millisecond)
	}
	return e.look(doing, restedShare*(e.first-busy)/max(e.first, 1))
}

// check is called before one of the checks, or a step of it.
func (e *drainEnd) check(done int) error {
	return e.look("checking", restedShare+(ProgressTotal-restedShare)*done/checks)
}
