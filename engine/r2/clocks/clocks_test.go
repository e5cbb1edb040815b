package clocks

import (
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
)

func bed(t *testing.T, seed uint64) (*sim.Sim, *r2.Cluster) {
	t.Helper()
	s := sim.New(sim.Options{Seed: seed})
	f, err := fabric.New(s, fabric.Config{Machines: 4})
	if err != nil {
		t.Fatal(err)
	}
	cl, err := r2.New(s, f, r2.Config{Threads: 1, Coroutines: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, cl
}

// Any two clocks differ by the drift at most, at any instant, and come close to it; at the beginning of a
// step some go back, and within one none does.
func TestClocksDifferByTheirDriftAtMost(t *testing.T) {
	_, cl := bed(t, 1)
	for _, o := range []Options{
		{}, {DriftNS: 1}, {DriftNS: 100}, {DriftNS: 20_000}, {DriftNS: 1_000_000}, {DriftNS: 2 * 156, PPM: 156},
		{DriftNS: 50_000, StepNS: 100_000_000, PPM: 1000}, {DriftNS: Most, StepNS: 2 * Most, PPM: 1000},
	} {
		k := New(cl, o)
		step := k.o.StepNS * nanosecond
		least, most, back := int64(Most), int64(-Most), 0
		var last [4]uint64
		for i := range 4000 {
			at := Time(i) * step / 16
			low, high := k.At(0, at), k.At(0, at)
			for m := range 4 {
				x := k.At(m, at)
				off := int64(x) - (at/nanosecond + Base)
				least, most = min(least, off), max(most, off)
				low, high = min(low, x), max(high, x)
				if i > 0 && x < last[m] {
					back++
					if i%16 != 0 {
						t.Fatalf("%+v: the clock of machine %d goes back within a step", o, m)
					}
				}
				last[m] = x
			}
			if d := int64(high - low); d > k.Epsilon() || k.Epsilon() != o.DriftNS {
				t.Fatalf("%+v: clocks differ by %d ns, Epsilon is %d", o, d, k.Epsilon())
			}
		}
		if o.DriftNS >= 100 && most-least < o.DriftNS*8/10 {
			t.Errorf("%+v: errors are from %d to %d ns: the bound is far from what clocks do", o, least, most)
		}
		if steps := o.DriftNS*nanosecond/2 > step/16; steps && back == 0 {
			t.Errorf("%+v: no clock ever goes back", o)
		}
	}
}

// Time is that of the simulator.
type Time = r2.Time

// A clock is a function of machine, time and seed: others make other clocks, and the order of readings changes nothing.
func TestClocksAreAFunctionOfTheSeed(t *testing.T) {
	_, cl := bed(t, 1)
	_, same := bed(t, 1)
	_, other := bed(t, 2)
	at := 5 * sim.Millisecond
	o := Options{DriftNS: 20_000}
	a, b, c := New(cl, o), New(same, o), New(other, o)
	first := a.At(0, at)
	for i := range 100 {
		a.At(i%4, Time(i)*sim.Millisecond)
	}
	if a.At(0, at) != first || b.At(0, at) != first {
		t.Error("a clock depends on who reads it when")
	}
	o.Seed = 7
	if d := New(cl, o); c.At(0, at) == first || d.At(0, at) == first || a.At(1, at) == first {
		t.Error("another seed or machine has the same clock")
	}
	if p := New(cl, Options{}); p.At(2, at) != uint64(at/nanosecond)+Base {
		t.Error("a perfect clock does not show the time")
	}
}

// After a change the larger drift is in force until what was read before cannot matter.
func TestDriftChangesLive(t *testing.T) {
	s, cl := bed(t, 1)
	k := New(cl, Options{DriftNS: 20_000})
	k.SetDrift(1000)
	if k.Epsilon() != 20_000 {
		t.Errorf("Epsilon is %d right after the drift fell from 20000", k.Epsilon())
	}
	k.SetDrift(5000) // the first is in force still
	s.Run(39 * sim.Microsecond)
	if k.Epsilon() != 20_000 {
		t.Errorf("Epsilon is %d within twice the old drift", k.Epsilon())
	}
	s.Run(41 * sim.Microsecond)
	if k.Epsilon() != 5000 {
		t.Errorf("Epsilon is %d after twice the old drift, want 5000", k.Epsilon())
	}
	k.SetDrift(80_000)
	if k.Epsilon() != 80_000 {
		t.Errorf("Epsilon is %d right after it grew to 80000", k.Epsilon())
	}
	for m := range 4 {
		if off := int64(k.At(m, sim.Millisecond)) - 1_000_000 - Base; off < -40_000 || off > 40_000 {
			t.Errorf("the clock of machine %d is off by %d ns", m, off)
		}
	}
}

// A skew is beyond what the clocks promise.
func TestSkewBreaksTheBound(t *testing.T) {
	_, cl := bed(t, 1)
	k := New(cl, Options{DriftNS: 1000})
	before := k.At(2, sim.Millisecond)
	k.Skew(2, -Most)
	if k.At(2, sim.Millisecond) != before-Most || k.Epsilon() != 1000 {
		t.Errorf("skewed by %d ns, Epsilon is %d", int64(k.At(2, sim.Millisecond)-before), k.Epsilon())
	}
	if k.Skew(2, 0); k.At(2, sim.Millisecond) != before {
		t.Error("a repaired clock is not what it was")
	}
}

// In Advance(ns) the slowest clock has advanced by ns, and in a little less not by as much.
func TestAdvance(t *testing.T) {
	_, cl := bed(t, 1)
	for _, o := range []Options{{}, {PPM: 1000}} {
		k := New(cl, o)
		for _, ns := range []int64{0, 1, 1000, 1_000_000, 123_456_789} {
			d := k.Advance(ns)
			if slow := func(d int64) int64 { return d*1_000_000 - d*k.o.PPM }; slow(d) < ns*1_000_000 || d > 0 && slow(d-1) >= ns*1_000_000 {
				t.Errorf("%+v: Advance(%d) = %d", o, ns, d)
			}
		}
	}
	if Fixed(nil).Advance(77) != 77 {
		t.Error("fixed clocks run at another rate")
	}
}

// Reading takes time of the core, and shows the clock of its machine at its local time.
func TestReadTakesTime(t *testing.T) {
	s, cl := bed(t, 1)
	k := New(cl, Options{DriftNS: 20_000})
	cl.Spawn(3, 0, func(c *r2.Co) {
		for range 1000 {
			c.Compute(1234)
			before := c.Now()
			got := k.Read(c)
			if took := c.Now() - before; took > readNS*nanosecond || took < (readNS-1)*nanosecond {
				t.Errorf("a reading took %d ps", took)
			}
			if got != k.At(3, c.Now()) {
				t.Errorf("it shows %d at %d ps", got, c.Now())
			}
		}
	})
	s.Run(2 * sim.Millisecond)
}

// Fixed clocks show what a script says.
func TestFixedClocks(t *testing.T) {
	now := []uint64{7, 5}
	k := Fixed(func(m int) uint64 { return now[m] })
	if k.At(0, 1) != 7 || k.At(1, 99) != 5 || k.Epsilon() != 0 {
		t.Error("fixed clocks move")
	}
	k.Skew(1, 3)
	k.SetDrift(3)
	if now[1] = 6; k.At(1, 99) != 6 || k.Epsilon() != 0 {
		t.Error("a fixed clock shows something else")
	}
}
