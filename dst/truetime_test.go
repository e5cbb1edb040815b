package dst

import (
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/r2"
	"drtmx/engine/r2/clocks"
	"drtmx/engine/sim"
	"drtmx/engine/timestamp"
)

// timeBed is a bare cluster with clocks.
func timeBed(t *testing.T, machines int, drift int64, o *timestamp.Options) (*sim.Sim, timestamp.Env) {
	t.Helper()
	s := sim.New(sim.Options{Seed: 3})
	f, err := fabric.New(s, fabric.Config{Machines: machines})
	if err != nil {
		t.Fatal(err)
	}
	cl, err := r2.New(s, f, r2.Config{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(); f.Close() })
	return s, timestamp.Env{Cluster: cl, Clocks: clocks.New(cl, clocks.Options{DriftNS: drift}), Options: func() *timestamp.Options { return o }}
}

// A transaction that begins behind another one's decision has a larger stamp, on whatever machine; a strict snapshot that begins
// behind it sees it, and a stale one that begins more than the bound behind it does. The wait is of twice the uncertainty.
func TestTrueTimeIsExternallyConsistent(t *testing.T) {
	for _, drift := range []int64{0, 1_000, 20_000, 1_000_000} {
		options := &timestamp.Options{StalenessNS: 3_000}
		s, env := timeBed(t, 4, drift, options)
		scheme, err := openTrueTime(env)
		if err != nil {
			t.Fatal(err)
		}
		bound, ok := scheme.Bound()
		if !ok {
			t.Fatal("no bound")
		}
		type event struct {
			at r2.Time
			ts timestamp.Stamp
		}
		var decided []event
		var waited r2.Time
		snapshots := 0
		for m := range 4 {
			env.Cluster.Spawn(m, 0, func(c *r2.Co) {
				var x timestamp.Txn
				var p timestamp.Point
				for {
					begin := c.Now()
					latest := timestamp.Stamp(0)
					old := timestamp.Stamp(0)
					for _, e := range decided {
						if e.at <= begin {
							latest = max(latest, e.ts)
						}
						if e.at < begin-bound*1000 {
							old = max(old, e.ts)
						}
					}
					scheme.Begin(c, &x)
					if err := scheme.Draw(c, &x); err != nil || !x.Drawn || x.TS <= latest {
						t.Errorf("drift %d: a transaction that begins behind %d has %d (%v)", drift, latest, x.TS, err)
					}
					if err := scheme.Point(c, new(timestamp.Session), timestamp.Strict, &p); err != nil || !timestamp.Visible(latest, p.Words) {
						t.Errorf("drift %d: a strict snapshot at %v lacks %d", drift, p.Words, latest)
					}
					if err := scheme.Point(c, new(timestamp.Session), timestamp.Stale, &p); err != nil || !timestamp.Visible(old, p.Words) {
						t.Errorf("drift %d: a stale snapshot at %v lacks %d, decided more than %d ns before", drift, p.Words, old, bound)
					}
					snapshots++
					drawn := c.Now()
					scheme.Wait(c, &x)
					waited = max(waited, c.Now()-drawn)
					decided = append(decided, event{c.Now(), x.TS})
					c.Sleep(r2.Time(c.Rand().Uint64n(10)) * sim.Microsecond)
				}
			})
		}
		if err := s.Run(20 * sim.Millisecond); err != nil {
			t.Fatal(err)
		}
		if snapshots < 20 {
			t.Errorf("drift %d: %d rounds", drift, snapshots)
		}
		if most := 2*drift*1000 + 3*sim.Microsecond; waited > most || waited < drift*1000/2 {
			t.Errorf("drift %d ns: the longest commit wait took %d ps", drift, waited)
		}
	}
}

// A snapshot of a session sees what it has written, whatever the staleness, and the low point of a machine never goes back, as when the
// staleness is raised.
func TestTrueTimeSessionsAndLowPoints(t *testing.T) {
	options := &timestamp.Options{}
	s, env := timeBed(t, 1, 100_000, options)
	scheme, _ := openTrueTime(env)
	rounds := 0
	env.Cluster.Spawn(0, 0, func(c *r2.Co) {
		var x timestamp.Txn
		var session timestamp.Session
		var p, low, before timestamp.Point
		for ; ; rounds++ {
			scheme.Begin(c, &x)
			scheme.Saw(&x, 7)
			scheme.Over(&x, timestamp.Hybrid(1<<31, 5), 9)
			if x.TS != timestamp.Hybrid(1<<31, 6) {
				t.Fatalf("behind a tuple timestamp of %d it has %d", timestamp.Hybrid(1<<31, 5), x.TS)
			}
			scheme.Begin(c, &x)
			scheme.Draw(c, &x)
			scheme.Wait(c, &x)
			scheme.Done(c, &x, &session)
			if scheme.Point(c, &session, timestamp.BySession, &p); !timestamp.Visible(x.TS, p.Words) {
				t.Errorf("a session's snapshot at %v lacks its own %d", p.Words, x.TS)
			}
			scheme.Low(c, &low)
			if len(before.Words) > 0 && low.Words[0] < before.Words[0] {
				t.Errorf("the low point goes from %v to %v", before.Words, low.Words)
			}
			before.Copy(low.Words)
			if scheme.Point(c, new(timestamp.Session), timestamp.Stale, &p); p.Words[0] < low.Words[0] {
				t.Errorf("a snapshot at %v is below the low point %v", p.Words, low.Words)
			}
		}
	})
	for _, staleness := range []int64{0, 500_000, 100_000} {
		options.StalenessNS = staleness
		if err := s.Run(s.Now() + 3*sim.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if rounds < 20 {
		t.Errorf("%d rounds", rounds)
	}
}
