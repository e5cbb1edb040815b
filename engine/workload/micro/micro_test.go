package micro_test

import (
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
	"drtmx/engine/workload/micro"
)

// TestVerbs: each loop runs, with a payload that changes on the way, and its
// latency is that of one verb.
func TestVerbs(t *testing.T) {
	profile, err := profile.Load("val")
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
					t.Errorf("payload %d: %d requests in 100 µs", payload, n-before)
				}
			}
			if mean := latency / r2.Time(n); mean < sim.Microsecond || mean > 6*sim.Microsecond {
				t.Errorf("mean latency %d ns", mean/1000)
			}
			for _, bad := range []any{0, 256<<10 + 1, "much"} {
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

// loopBed is a cluster of three machines with two threads and some coroutines.
func loopBed(t *testing.T, o micro.Options, c r2.Config) (s *sim.Sim, f *fabric.Fabric, done *int) {
	t.Helper()
	w, err := micro.New(o)
	if err != nil {
		t.Fatal(err)
	}
	s = sim.New(sim.Options{Seed: 1})
	t.Cleanup(s.Close)
	if f, err = fabric.New(s, fabric.Config{Machines: 3}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	c.Threads = 2
	cl, err := r2.New(s, f, c)
	if err != nil {
		t.Fatal(err)
	}
	done = new(int)
	if err := w.Open(workload.Env{Cluster: cl, OnDone: func(_, _ int, o *txn.Outcome) { *done++ }}); err != nil {
		t.Fatal(err)
	}
	for m := range 3 {
		for th := range 2 {
			for range 4 {
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
	}
	return s, f, done
}

// A request of ten objects is ten verbs, whatever optimisations they use, and
// passive ones do not run away from what the hardware does.
func TestObjects(t *testing.T) {
	for _, two := range []bool{false, true} {
		for _, mode := range []r2.Mode{{}, {Outstanding: true}, {Outstanding: true, Doorbell: true}, {Outstanding: true, Doorbell: true, Passive: true}} {
			s, f, done := loopBed(t, micro.Options{Verb: micro.Write, Keys: 1000, TwoSided: two, Objects: 10, Mode: mode}, r2.Config{SendDepth: 16, RecvDepth: []int{512, 512, 512}})
			if err := s.Run(400 * sim.Microsecond); err != nil {
				t.Fatal(err)
			}
			n := f.Counts()
			verbs := n.Posted[fabric.Write]
			if two {
				verbs = n.Posted[fabric.Send]
				if !mode.Passive {
					verbs /= 2
				}
			}
			requests := uint64(*done)
			if requests < 100 || verbs < 9*requests || verbs > 10*requests+24*10+verbs/20 {
				t.Errorf("two-sided %v, %+v: %d verbs for %d requests", two, mode, verbs, requests)
			}
			if n.NoRecv > 0 || n.Errors > 0 {
				t.Errorf("two-sided %v, %+v: %d messages without RECV, %d errors", two, mode, n.NoRecv, n.Errors)
			}
			if limit := uint64(2000); uint64(f.InFlight()) > limit {
				t.Errorf("two-sided %v, %+v: %d verbs under way", two, mode, f.InFlight())
			}
		}
	}
}

// RPCs run over all transports, and only writes can be passive.
func TestTransports(t *testing.T) {
	for _, tr := range []r2.Transport{r2.Datagrams, r2.Writes, r2.Hybrid} {
		s, f, done := loopBed(t, micro.Options{Verb: micro.RPC, Payload: 8, Mode: r2.Mode{Outstanding: true, Doorbell: true}}, r2.Config{Transport: tr, MaxMessage: 64})
		if err := s.Run(100 * sim.Microsecond); err != nil {
			t.Fatal(err)
		}
		if n := f.Counts(); *done < 500 || (tr == r2.Datagrams) != (n.Posted[fabric.Write] == 0) || (tr == r2.Writes) != (n.Posted[fabric.Send] == 0) {
			t.Errorf("transport %d: %d requests, %d WRITEs, %d SENDs", tr, *done, n.Posted[fabric.Write], n.Posted[fabric.Send])
		}
	}
	if _, err := micro.New(micro.Options{Verb: micro.Read, Mode: r2.Mode{Passive: true}}); err == nil {
		t.Error("READs are acknowledged passively")
	}
}

// Payloads beyond the path MTU arrive, and a link's bandwidth limits them.
func TestLargePayloads(t *testing.T) {
	for _, verb := range []micro.Verb{micro.Read, micro.Write} {
		for _, payload := range []int{4097, 64 << 10, 256 << 10} {
			s, f, done := loopBed(t, micro.Options{Verb: verb, Payload: payload, Keys: 200}, r2.Config{})
			const run = 2 * sim.Millisecond
			if err := s.Run(run); err != nil {
				t.Fatal(err)
			}
			n := f.Counts()
			gbps := float64(*done) * float64(payload) * 8 / float64(run/1000)
			if n.Errors > 0 || gbps < 3*50 || gbps > 3*2*100 {
				t.Errorf("verb %d, %d bytes: %d requests, %.0f Gbps on three machines, %d errors", verb, payload, *done, gbps, n.Errors)
			}
		}
	}
	if _, err := micro.New(micro.Options{Verb: micro.Write, Payload: 8192, Objects: 64}); err == nil {
		t.Error("512 KB in one request are accepted")
	}
}

// Places begin where Align says, and hints and Pad round writes up.
func TestAlignment(t *testing.T) {
	for _, bad := range []micro.Options{{Align: 3}, {Align: 128}, {Pad: 512}, {Pad: 65}} {
		bad.Verb = micro.Write
		if _, err := micro.New(bad); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
	w, err := micro.New(micro.Options{Verb: micro.Write})
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]int{"align": 48, "pad": 0} {
		if w.Set(name, bad) == nil {
			t.Errorf("%s %d is accepted", name, bad)
		}
		if err := w.Set(name, 32); err != nil {
			t.Error(err)
		}
	}
}
