// Package account says where a coroutine's time went: by the phase of its protocol and by milestone, as a metrics.Breakdown has it, and how
// many round trips it waited for.
package account

import (
	"math"
	"unsafe"

	"drtmx/engine/metrics"
	"drtmx/engine/r2/core"
)

// Time is virtual time in picoseconds.
type Time = core.Time

// Account is a coroutine's. It is a metrics.Breakdown in little memory, for thousands of coroutines keep one each. All but the excess is
// HotBytes.
type Account struct {
	w       *core.Core
	phase   metrics.Phase
	over    bool             // there is an excess
	touched metrics.PhaseSet // in which time was spent
	tripped metrics.PhaseSet // in which waits began

	parkedAt  Time
	runFrom   Time
	explained Time // of the wait, by the request that ended it
	slept     Time // of the wait

	rows   []row             // by phase
	excess metrics.Breakdown // what is too large for a row
}

// HotBytes of an account, from its begin, are what waits need.
const HotBytes = unsafe.Offsetof(Account{}.rows) + unsafe.Sizeof(uintptr(0))

// row is what a coroutine spent in a phase, by milestone, and in its last cell how often it waited: one line of the host's memory.
type row [16]uint32

const waits = len(row{}) - 1

var _ [waits - int(metrics.NumMilestones)]struct{} // the cell is no milestone's

// Of is an empty account of a coroutine on a core.
func Of(w *core.Core) Account { return Account{w: w, rows: metrics.ForPhases[row]()} }

// Begin attributes what follows to p.
func Begin(a *Account, p metrics.Phase) {
	a.charged()
	a.phase = p
}

// InPhase is the phase that it is in.
func (a *Account) InPhase() metrics.Phase { return a.phase }

// charged attributes the time since it last ran or was charged.
func (a *Account) charged() {
	now := a.w.Local
	if now > a.runFrom {
		a.touched |= metrics.SetOf(a.phase)
		a.add(metrics.Compute, now-a.runFrom)
		a.runFrom = now
	}
}

// Phases are those in which it spent time since the last TakeBreakdown.
func (a *Account) Phases() metrics.PhaseSet {
	a.charged()
	return a.touched
}

// TakeBreakdown adds the time spent since the last call to b, by phase and
// milestone.
func (a *Account) TakeBreakdown(b metrics.Breakdown) {
	a.charged()
	for t := a.touched; t != 0; t &= t - 1 {
		p := t.First()
		spent, sum := &a.rows[p], &b[p]
		for m := range sum {
			sum[m] += Time(spent[m])
		}
		*spent = row{waits: spent[waits]}
	}
	a.touched = 0
	if a.over {
		b.Add(a.excess)
		a.over, a.excess = false, nil
	}
}

// TakeTrips adds the waits since the last call to n, by the phase that they began in, and returns how many they are: round trips, one after
// the other.
func (a *Account) TakeTrips(n []uint32) (all int) {
	for t := a.tripped; t != 0; t &= t - 1 {
		p := t.First()
		x := &a.rows[p][waits]
		n[p] += *x
		all += int(*x)
		*x = 0
	}
	a.tripped = 0
	return all
}

// Trip notes that the coroutine begins to wait for what it posted.
func Trip(a *Account) {
	a.rows[a.phase][waits]++
	a.tripped |= metrics.SetOf(a.phase)
}

// Leave ends the coroutine's time on the core.
func Leave(a *Account) {
	a.charged()
	a.parkedAt = a.w.Local
}

// Slept is called before Woken where the wait was a sleep until a time.
func Slept(a *Account, until Time) {
	a.slept = min(a.w.Local-a.parkedAt-a.explained, until-a.parkedAt)
}

// Woken is called when the loop resumes the coroutine. What the request that
// ended the wait does not account for is the way from its completion to the
// core.
func Woken(a *Account) {
	a.runFrom = a.w.Local
	a.touched |= metrics.SetOf(a.phase)
	wait := a.w.Local - a.parkedAt - a.explained
	if a.slept != 0 {
		a.add(metrics.Asleep, a.slept)
		wait -= a.slept
		a.slept = 0
	}
	a.add(metrics.Poll, wait)
	a.explained = 0
}

// Attribute spreads the wait until now over the milestones of the request that ended it.
// The request may have been posted before the wait began: then its first
// milestones are shortened.
func Attribute(a *Account, stamp *metrics.Stamp) {
	wait := a.w.Local - a.parkedAt
	sum := stamp.Total()
	before := max(sum-wait, 0)
	a.explained = sum - before
	if before == 0 && a.addStamp(stamp) {
		return
	}
	for m, d := range stamp {
		if d == 0 {
			continue
		}
		cut := min(Time(d), before)
		before -= cut
		a.add(metrics.Milestone(m), Time(d)-cut)
	}
}

// Row is where the next time is added, for callers that ask the host for it.
func Row(a *Account) *[16]uint32 { return (*[16]uint32)(&a.rows[a.phase]) }

// addStamp adds all of a stamp, or nothing: false says that a sum is too large.
func (a *Account) addStamp(s *metrics.Stamp) bool {
	to := &a.rows[a.phase]
	sum, high := *to, uint64(0)
	for m, d := range s {
		x := uint64(sum[m]) + uint64(d)
		sum[m] = uint32(x)
		high |= x >> 32
	}
	if high != 0 {
		return false
	}
	*to = sum
	return true
}

// add adds a time in the phase that it is in.
func (a *Account) add(m metrics.Milestone, d Time) {
	cell := &a.rows[a.phase][m]
	if sum := Time(*cell) + d; 0 <= sum && sum <= math.MaxUint32 {
		*cell = uint32(sum)
		return
	}
	if !a.over {
		a.over, a.excess = true, metrics.NewBreakdown()
	}
	a.excess[a.phase][m] += d
}
