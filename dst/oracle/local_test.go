package oracle

import (
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
)

// localRate is how many operations the 24 threads of a machine do in a second on the state of an oracle.
func localRate(t *testing.T, scheme string, op func(*Local, *r2.Co)) float64 {
	t.Helper()
	s := sim.New(sim.Options{Seed: 1})
	defer s.Close()
	p, err := profile.Load("vale")
	if err != nil {
		t.Fatal(err)
	}
	f, err := fabric.New(s, fabric.Config{Machines: 1, Profile: p})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cl, err := r2.New(s, f, r2.Config{Threads: 24, Coroutines: 1})
	if err != nil {
		t.Fatal(err)
	}
	l, err := OpenLocal(cl, 0, scheme)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for thread := range 24 {
		cl.Spawn(0, thread, func(c *r2.Co) {
			for {
				c.Reset()
				op(l, c)
				n++
				c.Yield()
			}
		})
	}
	const warm, span = 1000 * sim.Microsecond, 1000 * sim.Microsecond
	if err := s.Run(warm); err != nil {
		t.Fatal(err)
	}
	before := n
	if err := s.Run(warm + span); err != nil {
		t.Fatal(err)
	}
	if l.global != nil && l.global.counts.installs > 0 {
		t.Logf("%s: %d installed, %d stable", scheme, l.global.counts.installs, l.global.stable)
	}
	if l.vector != nil && l.vector.counts.installs > 0 {
		t.Logf("%s: %d installed, %d wait", scheme, l.vector.counts.installs, l.vector.waiting())
	}
	return float64(n-before) / (float64(span) / 1e12)
}

// A shared counter is slower than one for each core, and stable timestamps make that one slower (Figure 5-6a). Of GTS they take as long as
// the counter, beside it: other lines of memory go round at the same time.
func TestOrderOfOracles(t *testing.T) {
	gts, vts := localRate(t, "gts", (*Local).Count), localRate(t, "vts", (*Local).Count)
	gtsStable, vtsStable := localRate(t, "gts", (*Local).Install), localRate(t, "vts", (*Local).Install)
	t.Logf("counters %.1f and %.1f M/s, with stable timestamps %.1f and %.1f; points %.1f and %.1f", gts/1e6, vts/1e6, gtsStable/1e6, vtsStable/1e6,
		localRate(t, "gts", (*Local).Point)/1e6, localRate(t, "vts", (*Local).Point)/1e6)
	if gts >= vts || gtsStable > 1.02*gts || vtsStable >= vts {
		t.Error("they are in another order")
	}
}
