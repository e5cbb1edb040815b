package oracle

import (
	"slices"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/knob"
	"drtmx/engine/membership"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/engine/timestamp"
)

// bed is a bare cluster with an oracle on its last machine.
type bed struct {
	*testing.T
	s      *sim.Sim
	cl     *r2.Cluster
	env    timestamp.Env
	values knob.Values
}

// newBed makes clients machines of threads each beside the oracle's, which has as many.
func newBed(t *testing.T, clients, threads int, fc fabric.Config, set knob.Values) *bed {
	t.Helper()
	b := &bed{T: t, s: sim.New(sim.Options{Seed: 7}), values: timestamp.Kinds{GTS, VTS}.Defaults()}
	for name, x := range set { // order-free: fills a map
		b.values[name] = x
	}
	fc.Machines = clients + 1
	f, err := fabric.New(b.s, fc)
	if err != nil {
		t.Fatal(err)
	}
	if b.cl, err = r2.New(b.s, f, r2.Config{Threads: threads, Coroutines: 8, PerMachine: perMachine(clients, threads)}); err != nil {
		t.Fatal(err)
	}
	members := membership.New(clients, membership.Symmetric).Add(1, membership.Oracle)
	b.env = timestamp.Env{Cluster: b.cl, Members: members, Options: func() *timestamp.Options { return &timestamp.Options{Values: b.values} }}
	t.Cleanup(func() { b.s.Close(); f.Close() })
	return b
}

// perMachine gives the oracle two threads.
func perMachine(clients, threads int) []int {
	return append(slices.Repeat([]int{threads}, clients), 2)
}

func (b *bed) open(open func(timestamp.Env) (timestamp.Scheme, error)) timestamp.Scheme {
	b.Helper()
	s, err := open(b.env)
	if err != nil {
		b.Fatal(err)
	}
	s.(timestamp.Switched).Switch(true)
	return s
}

func (b *bed) gts() *gts { return b.open(openGTS).(*gts) }
func (b *bed) vts() *vts { return b.open(openVTS).(*vts) }

func (b *bed) run(us int64) {
	b.Helper()
	if err := b.s.Run(b.s.Now() + us*sim.Microsecond); err != nil {
		b.Fatal(err)
	}
}

// do runs something on a coroutine of a client and waits until it is done.
func (b *bed) do(m, thread int, f func(c *r2.Co)) {
	b.Helper()
	done := false
	b.cl.SpawnBackground(m, thread, "do", func(c *r2.Co) {
		if done {
			return
		}
		f(c)
		done = true
	})
	for range 1000 {
		if b.run(10); done {
			return
		}
	}
	b.Fatalf("not done: %v", b.cl.Waiting(10))
}

// draw is the begin of a transaction up to its stamp.
func (b *bed) draw(s timestamp.Scheme, m, thread int, x *timestamp.Txn, deps ...timestamp.Stamp) {
	b.Helper()
	b.do(m, thread, func(c *r2.Co) {
		s.Begin(c, x)
		for _, d := range deps {
			s.Saw(x, d)
		}
		if err := s.Draw(c, x); err != nil {
			b.Error(err)
		}
	})
}

func (b *bed) done(s timestamp.Scheme, m, thread int, x *timestamp.Txn) {
	b.Helper()
	b.do(m, thread, func(c *r2.Co) { s.Done(c, x, new(timestamp.Session)) })
}

func (b *bed) point(s timestamp.Scheme, m, thread int) []uint64 {
	b.Helper()
	var p timestamp.Point
	b.do(m, thread, func(c *r2.Co) {
		if err := s.Point(c, new(timestamp.Session), timestamp.Stale, &p); err != nil {
			b.Error(err)
		}
	})
	return p.Words
}
