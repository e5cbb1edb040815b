package engine

import (
	"runtime"
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/fabric"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/membership"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/engine/testbed"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
	"drtmx/engine/workload/octopus"
	"drtmx/rdpma"
)

// filesBed is the Octopus benchmark of two clients on one server, whose NVM knows what a
// crash would leave.
type filesBed struct {
	t     *testing.T
	sim   *sim.Sim
	fab   *fabric.Fabric
	cl    *r2.Cluster
	bench *octopus.Bench
	done  int
}

func newFilesBed(t *testing.T, o octopus.Options, ddio bool) *filesBed {
	t.Helper()
	p, err := profile.Load("r74v")
	if err != nil {
		t.Fatal(err)
	}
	b := &filesBed{t: t, sim: sim.New(sim.Options{Seed: 1})}
	t.Cleanup(b.sim.Close)
	b.fab, err = fabric.New(b.sim, fabric.Config{Profile: p, Machines: 3, NodeTypes: []string{"r74v", "val", "val"}, NVM: testbed.NVMDevices(p), Durability: true, NoDDIO: !ddio})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.fab.Close() })
	if b.cl, err = r2.New(b.sim, b.fab, r2.Config{Threads: 2, Coroutines: 2}); err != nil {
		t.Fatal(err)
	}
	if b.bench, err = octopus.New(o); err != nil {
		t.Fatal(err)
	}
	env := workload.Env{Cluster: b.cl, Members: membership.New(1, membership.Server).Add(b.cl.Machines()-1, membership.Client), OnDone: func(_, _ int, o *txn.Outcome) {
		b.done++
		if o.Breakdown.Total() != o.End-o.Begin {
			t.Errorf("latency %d, its parts add up to %d", o.End-o.Begin, o.Breakdown.Total())
		}
	}}
	if err := b.bench.Open(env); err != nil {
		t.Fatal(err)
	}
	return b
}

// run has coroutines of the clients' threads write, and looks after each request.
func (b *filesBed) run(coroutines, requests int, look func()) {
	b.t.Helper()
	running := coroutines
	for i := range coroutines {
		b.cl.Spawn(1+i%2, i/2%2, func(c *r2.Co) {
			for r := b.bench.Runner(c); requests > 0; {
				requests--
				if err := r.Next(); err != nil {
					b.t.Error(err)
					break
				}
				look()
			}
			running--
		})
	}
	if err := b.sim.Run(b.sim.Now() + 10*sim.Millisecond); err != nil {
		b.t.Fatal(err)
	}
	if running > 0 {
		b.t.Fatalf("not finished: %v", b.cl.Waiting(4))
	}
}

// written counts the bytes that files have, and of those the ones that a crash would lose now.
func (b *filesBed) written() (n, lost int) {
	b.bench.Each(func(at r2.Loc, bytes []byte) {
		var left []byte
		for i, x := range bytes {
			if x == 0 {
				continue
			}
			if n++; left == nil {
				left = b.fab.Machine(at.Machine).AfterCrash(at.Addr, len(bytes), nil)
			}
			if left[i] != x {
				lost++
			}
		}
	})
	return n, lost
}

// Section 2.3.5.3: each request writes its payload to a file, and in the two durable
// configurations of figure 2-19 nothing that a request has written is lost by a crash.
// With DDIO most is; without, but not durable, one cannot know.
func TestOctopusWrites(t *testing.T) {
	opt := rdpma.AllHints()
	opt.H9 = false
	for _, x := range []struct {
		name  string
		setup octopus.Setup
		ddio  bool
		safe  bool
	}{
		{"DRAM", octopus.Setup{DRAM: true}, true, false},
		{"+NVM", octopus.Setup{}, true, false},
		{"+OPT(H1-H8)", octopus.Setup{Hints: opt}, false, false},
		{"+Persist", octopus.Setup{Hints: opt, Durable: true}, false, true},
		{"+OPT(H9)", octopus.Setup{Hints: rdpma.AllHints(), Durable: true}, false, true},
	} {
		const requests, payload = 40, 3000
		b := newFilesBed(t, octopus.Options{Payload: payload, Files: 8, Setup: x.setup}, x.ddio)
		most := 0
		b.run(1, requests, func() {
			_, lost := b.written()
			most = max(most, lost)
		})
		n, lost := b.written()
		if b.done != requests || n < requests*payload*9/10*255/256 || n > requests*payload {
			t.Errorf("%s: %d requests have left %d bytes", x.name, b.done, n)
		}
		for _, inv := range b.bench.Check() {
			if !inv.OK {
				t.Errorf("%s: %s", x.name, inv.Text)
			}
		}
		if x.safe && most > 0 || (x.ddio && lost < n/2) {
			t.Errorf("%s: a crash loses %d of %d bytes, at worst %d", x.name, lost, n, most)
		}
	}
}

// The check finds a byte where it does not belong.
func TestOctopusCheckSees(t *testing.T) {
	b := newFilesBed(t, octopus.Options{Payload: 1000, Files: 8}, true)
	b.run(8, 100, func() {})
	planted := false
	b.bench.Each(func(_ r2.Loc, bytes []byte) {
		for i := range bytes {
			if !planted && bytes[i] != 0 {
				bytes[i], planted = bytes[i]+1, bytes[i] != 255
			}
		}
	})
	if c := b.bench.Check(); !planted || len(c) != 1 || c[0].OK || !strings.Contains(c[0].Text, "only") {
		t.Errorf("planted %v: %+v", planted, c)
	}
}

// Knobs that do not go together, and a run in which they change.
func TestOctopusKnobs(t *testing.T) {
	base := experiment.Spec{Workload: "octopus", Set: experiment.Knobs{"profile": "r74v", "servers": 1, "clients": 2, "threads": 2, "coroutines": 2, "workload.files": 8}}
	for _, bad := range []experiment.Knobs{
		{"nvm.persist": true}, {"workload.align": 4}, {"workload.align": 24}, {"workload.payload": 1 << 20}, {"nvm.h9": true},
	} {
		if spec, err := base.With(bad); err == nil {
			if _, err = experiment.Resolve(spec); !experiment.IsSpecError(err) {
				t.Errorf("%v: %v", bad, err)
			}
		}
	}
	s, err := Open(base)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, k := range []experiment.Knobs{{"nvm.h3": true}, {"nvm.persist": true}, {"nvm.h9": true, "nvm.h1": true}, {"nvm.enabled": false}, {"workload.payload": 70_000}, {"workload.align": 64}, {"nvm.enabled": true}} {
		if _, err := s.Set(k, "test"); err != nil {
			t.Fatalf("%v: %v", k, err)
		}
		advance(t, s, 300_000)
	}
	if _, err := s.Set(experiment.Knobs{"ddio": true, "nvm.h3": false}, "test"); !experiment.IsSpecError(err) {
		t.Errorf("DDIO on below durable writes: %v", err)
	}
	if err := s.Drain(); err != nil {
		t.Fatal(err)
	}
	if r := s.Result(); !r.Checks.Passed() || r.Checks.Invariants["octopus.bytes"] != true || r.Commits == 0 {
		t.Errorf("%d requests, %+v", r.Commits, r.Checks)
	}
}

// A write takes nothing from the host's heap once everything has grown.
func TestOctopusAllocatesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("short tests run with invariants, whose checks allocate")
	}
	for _, k := range []experiment.Knobs{{}, {"nvm.h3": true, "nvm.h1": true, "nvm.persist": true}, {"nvm.h3": true, "nvm.persist": true, "nvm.h9": true}} {
		spec, err := experiment.Spec{Workload: "octopus", Set: experiment.Knobs{"profile": "r74v", "servers": 1, "clients": 2, "threads": 2, "workload.files": 8}}.With(k)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(spec)
		if err != nil {
			t.Fatal(err)
		}
		advance(t, s, 2_000_000)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n := s.meter.Total().Commits
		advance(t, s, 2_000_000)
		runtime.ReadMemStats(&after)
		n = s.meter.Total().Commits - n
		if each := float64(after.Mallocs-before.Mallocs) / float64(n); n < 1000 || each > .1 {
			t.Errorf("%v: %.2f allocations for each of %d requests", k, each, n)
		}
		s.Close()
	}
}
