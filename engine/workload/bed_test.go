package workload_test

import (
	"fmt"
	"strings"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/history"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
	"drtmx/engine/workload/verdict"
)

// setup is a small system with everything that makes life hard switched on.
type setup struct {
	machines, threads, coroutines int
	servers                       int
	seed                          uint64
	lossPPM                       uint32
	emulated                      int
	cfg                           txn.Config
	ringBytes                     uint64
	mode                          history.Mode
	requests                      int // per coroutine, 0: until stopped
}

func small(cfg txn.Config) setup {
	return setup{machines: 3, threads: 2, coroutines: 4, seed: 1, lossPPM: 10_000, cfg: cfg, mode: history.Full}
}

// bed is the system while it runs.
type bed struct {
	setup
	s       *sim.Sim
	f       *fabric.Fabric
	cl      *r2.Cluster
	rec     *history.Recorder
	bench   workload.Bench
	stop    bool
	running int
	err     error

	commits, rollbacks, attempts uint64
	onDone                       func(*txn.Outcome)
}

var val *fabric.Profile

func newBed(o setup, bench workload.Bench) (*bed, error) {
	if val == nil {
		p, err := fabric.LoadProfile("val")
		if err != nil {
			return nil, err
		}
		val = p
	}
	b := &bed{setup: o, s: sim.New(sim.Options{Seed: o.seed, Trace: true}), bench: bench}
	var err error
	b.f, err = fabric.New(b.s, fabric.Config{Profile: val, Machines: o.machines, TornReads: true, LossPPM: o.lossPPM})
	if err != nil {
		return nil, err
	}
	b.cl, err = r2.New(b.s, b.f, r2.Config{Threads: o.threads, Coroutines: o.coroutines, EmulatedNodes: o.emulated})
	if err != nil {
		return nil, err
	}
	b.rec = history.New(history.Options{Mode: o.mode, Initial: 2})
	err = bench.Open(workload.Env{
		Cluster: b.cl, Servers: o.servers, Txn: o.cfg, Recorder: b.rec, CheckLogs: o.mode == history.Full, RingBytes: o.ringBytes,
		OnDone: func(_, _ int, out *txn.Outcome) {
			b.attempts += uint64(out.Attempts)
			if out.Committed {
				b.commits++
			}
			if out.RolledBack {
				b.rollbacks++
			}
			if b.onDone != nil {
				b.onDone(out)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	if err := bench.Warm(); err != nil {
		return nil, err
	}
	first := 0
	if o.servers > 0 && o.servers < o.machines {
		first = o.servers
	}
	for m := first; m < o.machines; m++ {
		for t := range o.threads {
			for range o.coroutines {
				b.running++
				b.cl.Spawn(m, t, b.client)
			}
		}
	}
	return b, nil
}

func (b *bed) client(c *r2.Co) {
	r := b.bench.Runner(c)
	for n := 0; !b.stop && (b.requests == 0 || n < b.requests); n++ {
		if err := r.Next(); err != nil {
			if b.err == nil {
				b.err = err
			}
			break
		}
	}
	b.running--
}

// run advances virtual time.
func (b *bed) run(d sim.Time) error {
	if err := b.s.Run(b.s.Now() + d); err != nil {
		return err
	}
	if n := b.f.OutOfOrder(); n != 0 {
		return fmt.Errorf("%d arrivals out of order", n)
	}
	return b.err
}

// drain stops the clients and waits until nothing is under way.
func (b *bed) drain() error {
	b.stop = b.requests == 0
	for range 10_000 {
		if b.running == 0 && b.cl.Quiet() && (b.bench.DB() == nil || b.bench.DB().InFlight() == 0) {
			return nil
		}
		if err := b.run(10 * sim.Microsecond); err != nil {
			return err
		}
	}
	n := 0
	if b.bench.DB() != nil {
		n = b.bench.DB().InFlight()
	}
	return fmt.Errorf("not drained: %d clients, %d in flight, quiet %v\n%s", b.running, n, b.cl.Quiet(), strings.Join(b.cl.Waiting(20), "\n"))
}

func (b *bed) close() {
	b.s.Close()
	b.f.Close()
}

// verdict drains and collects every complaint.
func (b *bed) verdict() []string {
	if err := b.drain(); err != nil {
		return []string{err.Error()}
	}
	return verdict.Of(b.bench, b.rec)
}

func check(t *testing.T, b *bed) {
	t.Helper()
	if bad := b.verdict(); len(bad) > 0 {
		t.Fatalf("%s", strings.Join(bad, "\n"))
	}
}
