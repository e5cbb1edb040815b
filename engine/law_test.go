package engine

import (
	"testing"

	"drtmx/engine/sim"
	"drtmx/engine/txn"
)

// A turn of a core may last longer than what is measured: its requests have ended when the turn is
// simulated, and by the core's clock not before the interval is over. Little's law holds of them.
func TestLawOfClocksAhead(t *testing.T) {
	const turn = 500 * sim.Microsecond
	for name, c := range map[string]struct {
		lost   int      // requests that never end
		before sim.Time // how long one took that ended before the interval
		latest sim.Time
		ok     bool
	}{
		"beyond the interval":   {0, 0, turn, true},
		"within it":             {0, 0, 50 * sim.Microsecond, true},
		"lost":                  {8, 0, 0, false},
		"lost after a long one": {8, 100 * turn, 0, false},
	} {
		s := open(t, small(nil))
		s.cl.ShutGate() // nothing runs but what the test makes up
		done := func(begin, end sim.Time) {
			o := txn.NewOutcome()
			o.Committed, o.Attempts, o.Begin, o.End = true, 1, begin, end
			s.load.done(0, 0, &o)
		}
		advance(t, s, 10_000)
		if c.before > 0 {
			s.load.begun(0, 0, s.sim.Now()-c.before)
			done(s.sim.Now()-c.before, s.sim.Now())
		}
		for range 64 {
			s.load.begun(0, 0, s.sim.Now())
		}
		advance(t, s, 10_000)
		for i := range 64 - c.lost {
			begin := 10 * sim.Microsecond
			done(begin, s.sim.Now()+c.latest*sim.Time(64+i)/128)
		}
		s.Mark()
		advance(t, s, 100_000)
		if err := s.Drain(); err != nil {
			t.Fatal(err)
		}
		r := s.Result()
		if r.Checks.Invariants["littles-law"] != c.ok {
			t.Errorf("%s: %+v, %v", name, *r.Little, r.Checks.Violated)
		}
	}
}
