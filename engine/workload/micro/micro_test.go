package micro_test

import (
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
	"drtmx/engine/workload/micro"
)

// TestVerbs: each loop runs, with a payload that changes on the way, and its
// latency is that of one verb.
func TestVerbs(t *testing.T) {
	profile, err := fabric.LoadProfile("val")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range micro.Names() {
		t.Run(name, func(t *testing.T) {
			v, err := micro.ParseVerb(name)
			if err != nil {
				t.Fatal(err)
			}
			w, err := micro.New(micro.Options{Verb: v, Keys: 1000})
			if err != nil {
				t.Fatal(err)
			}
			s := sim.New(sim.Options{Seed: 1})
			defer s.Close()
			f, err := fabric.New(s, fabric.Config{Profile: profile, Machines: 3})
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			cl, err := r2.New(s, f, r2.Config{Threads: 2})
			if err != nil {
				t.Fatal(err)
			}
			n, latency := 0, r2.Time(0)
			err = w.Open(workload.Env{Cluster: cl, OnDone: func(_, _ int, o *txn.Outcome) {
				n++
				latency += o.End - o.Begin
				if o.Breakdown.Total() != o.End-o.Begin {
					t.Errorf("latency %d, its parts add up to %d", o.End-o.Begin, o.Breakdown.Total())
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			for m := range 3 {
				for th := range 2 {
					cl.Spawn(m, th, func(c *r2.Co) {
						for r := w.Runner(c); ; {
							if err := r.Next(); err != nil {
								t.Error(err)
								return
							}
						}
					})
				}
			}
			for _, payload := range []int{64, 8, 2048} {
				if err := w.Set("payload", payload); err != nil {
					t.Fatal(err)
				}
				before := n
				if err := s.Run(s.Now() + 100*sim.Microsecond); err != nil {
					t.Fatal(err)
				}
				if n-before < 100 {
					t.Errorf("payload %d: %d requests in 100 us", payload, n-before)
				}
			}
			if mean := latency / r2.Time(n); mean < sim.Microsecond || mean > 6*sim.Microsecond {
				t.Errorf("mean latency %d ns", mean/1000)
			}
			for _, bad := range []any{0, 5000, "much"} {
				if w.Set("payload", bad) == nil {
					t.Errorf("payload %v is accepted", bad)
				}
			}
			if w.Set("theta", 0.5) == nil {
				t.Error("theta is accepted")
			}
		})
	}
}
