package tpce

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

// bed is a small system with everything that makes life hard switched on.
type bed struct {
	s       *sim.Sim
	f       *fabric.Fabric
	cl      *r2.Cluster
	rec     *history.Recorder
	bench   *Bench
	stop    bool
	running int
	err     error

	attempts, commits, rollbacks uint64
	byType                       [numTypes + 1]uint64 // and one that a test adds
}

// shape is the deployment.
type shape struct {
	machines, servers, threads, coroutines int
	seed                                   uint64
}

var three = shape{machines: 3, threads: 2, coroutines: 6, seed: 1}

// shapes have one and several threads, and clients without data.
var shapes = []shape{three, {machines: 3, threads: 1, coroutines: 8, seed: 2}, {machines: 4, servers: 3, threads: 2, coroutines: 6, seed: 3}}

// tiny is a house with few customers and securities, so that transactions meet.
func tiny() Options {
	return Options{Customers: 4, Securities: 20, Trades: 30, Orders: 4_000, SetRollbacks: true, Rollbacks: 30}
}

func newBed(t testing.TB, x shape, cfg txn.Config, o Options) *bed {
	t.Helper()
	bench, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	profile, err := fabric.LoadProfile("val")
	if err != nil {
		t.Fatal(err)
	}
	b := &bed{s: sim.New(sim.Options{Seed: x.seed, Trace: true}), bench: bench, rec: history.New(history.Options{Mode: history.Full, Initial: 2})}
	if b.f, err = fabric.New(b.s, fabric.Config{Profile: profile, Machines: x.machines, TornReads: true, LossPPM: 10_000}); err != nil {
		t.Fatal(err)
	}
	if b.cl, err = r2.New(b.s, b.f, r2.Config{Threads: x.threads, Coroutines: x.coroutines}); err != nil {
		t.Fatal(err)
	}
	err = bench.Open(workload.Env{Cluster: b.cl, Servers: x.servers, Txn: cfg, Recorder: b.rec, CheckLogs: true, OnDone: func(_, _ int, out *txn.Outcome) {
		b.attempts += uint64(out.Attempts)
		if out.Committed {
			b.commits++
			b.byType[out.Type]++
		}
		if out.RolledBack {
			b.rollbacks++
		}
	}})
	if err == nil {
		err = bench.Warm()
	}
	if err != nil {
		t.Fatal(err)
	}
	for m := x.servers % x.machines; m < x.machines; m++ {
		for thread := range x.threads {
			for range x.coroutines {
				b.running++
				b.cl.Spawn(m, thread, b.client)
			}
		}
	}
	t.Cleanup(func() { b.s.Close(); b.f.Close() })
	return b
}

func (b *bed) client(c *r2.Co) {
	for r := b.bench.Runner(c); !b.stop; {
		if err := r.Next(); err != nil {
			b.err = err
			break
		}
	}
	b.running--
}

func (b *bed) run(d sim.Time) error {
	if err := b.s.Run(b.s.Now() + d); err != nil {
		return err
	}
	return b.err
}

// stress runs until so many transactions have committed, drains, and returns
// everything that the checkers find.
func (b *bed) stress(commits uint64) []string {
	for b.commits < commits {
		if err := b.run(100 * sim.Microsecond); err != nil {
			return []string{err.Error()}
		}
		if b.s.Now() > sim.Second {
			return []string{fmt.Sprintf("only %d commits in 1 s", b.commits)}
		}
	}
	until := b.s.Now() + 50*sim.Millisecond
	for b.stop = true; b.running > 0 || !b.cl.Quiet() || b.bench.DB().InFlight() > 0; {
		if err := b.run(10 * sim.Microsecond); err != nil {
			return []string{err.Error()}
		}
		if b.s.Now() > until {
			// A fault of the protocol can make it so: a trade completed twice finds its entry in an index.
			return append(verdict.Of(b.bench, b.rec), "not drained:\n"+strings.Join(b.cl.Waiting(20), "\n"))
		}
	}
	return verdict.Of(b.bench, b.rec)
}
