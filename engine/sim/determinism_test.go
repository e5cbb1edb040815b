package sim_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"

	"drtmx/engine/sim"
)

// cluster is a little of everything that a real model does: clients that think,
// post to a shared station, wait, sometimes sleep for long; ties; zero delays.
type cluster struct {
	s       *sim.Sim
	done    uint64
	latency sim.Time
}

func newCluster(q sim.QueueKind) *cluster {
	c := &cluster{s: sim.New(sim.Options{Seed: 5, Trace: true, Queue: q})}
	s := c.s
	const clients, stations = 96, 8
	var tx [stations]sim.FIFO
	rx := sim.NewMulti(3)
	procs := make([]*sim.Proc, clients)
	pending := make([]int, clients)
	var arrive, finish sim.Kind
	arrive = s.Register("arrive", func(id uint32) { s.At(rx.Serve(s.Now(), 5*sim.Nanosecond), finish, id) })
	finish = s.Register("finish", func(id uint32) {
		if pending[id]--; pending[id] == 0 {
			procs[id].Resume()
		}
	})
	for i := range clients {
		r := s.Stream("client", uint64(i))
		procs[i] = s.Go(fmt.Sprint("client ", i), func(p *sim.Proc) {
			for {
				begin := s.Now()
				pending[i] = 1 + r.Intn(3)
				for range pending[i] {
					t := tx[r.Intn(stations)].Serve(s.Now(), 12*sim.Nanosecond+sim.Time(r.Uint64n(3)))
					s.At(t+600*sim.Nanosecond, arrive, uint32(i))
				}
				p.Park()
				c.done++
				c.latency += s.Now() - begin
				switch {
				case r.PPM(20_000):
					p.Sleep(r.Exp(100 * sim.Microsecond))
				case r.PPM(100_000):
					p.Sleep(0)
				default:
					p.Sleep(r.Exp(200 * sim.Nanosecond))
				}
			}
		})
		procs[i].WakeAt(0)
	}
	return c
}

const horizon = 500 * sim.Microsecond

// golden is the hash of the cluster on every machine and architecture.
const golden uint64 = 0xd6059e48dbb652a8

// TestTraceIsDeterministic: queue, threads, collector and the slicing of a run
// must not be visible in it.
func TestTraceIsDeterministic(t *testing.T) {
	slices := map[string]func(c *cluster) error{
		"one run": func(c *cluster) error { return c.s.Run(horizon) },
		"equal slices": func(c *cluster) error {
			for c.s.Now() < horizon {
				if err := c.s.Run(min(horizon, c.s.Now()+259*sim.Nanosecond)); err != nil {
					return err
				}
			}
			return nil
		},
		"uneven slices, collector in between": func(c *cluster) error {
			r := sim.New(sim.Options{}).Stream("slices", 0)
			for c.s.Now() < horizon {
				if err := c.s.Run(min(horizon, c.s.Now()+r.Exp(40*sim.Microsecond))); err != nil {
					return err
				}
				runtime.GC()
			}
			return nil
		},
		"event by event": func(c *cluster) error {
			for {
				at, ok := c.s.NextAt()
				if !ok || at >= horizon {
					return c.s.Run(horizon)
				}
				if err := c.s.Run(at + 1); err != nil {
					return err
				}
			}
		},
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, q := range []sim.QueueKind{sim.Wheel, sim.Heap} {
		for _, procs := range []int{1, 2} {
			for _, gogc := range []int{10, 400} {
				for name, run := range slices {
					runtime.GOMAXPROCS(procs)
					debug.SetGCPercent(gogc)
					c := newCluster(q)
					if err := run(c); err != nil {
						t.Fatal(err)
					}
					if c.s.TraceHash() != golden || c.s.Now() != horizon {
						t.Errorf("queue %d, %d threads, GOGC %d, %s: hash %#x after %d events and %d requests at %d ps, want %#x",
							q, procs, gogc, name, c.s.TraceHash(), c.s.Events(), c.done, c.s.Now(), golden)
					}
					c.s.Close()
				}
			}
		}
	}
}

// Looking ahead must see events before their handlers do and change nothing.
func TestLookingAheadIsInvisible(t *testing.T) {
	s := sim.New(sim.Options{})
	const events = 1000
	var far, near, early, ran int
	seen := make([]bool, events)
	k := s.Register("event", func(arg uint32) {
		ran++
		if seen[arg] {
			early++
		}
	})
	s.Ahead(k, func(uint32) { far++ }, func(arg uint32) { near++; seen[arg] = true })
	s.LookAhead(true)
	other := s.Register("other", func(uint32) {})
	for i := range events {
		s.At(sim.Time(i)*300, k, uint32(i))
		s.At(sim.Time(i)*300, other, 1<<31)
	}
	if err := s.Run(sim.Forever); err != nil {
		t.Fatal(err)
	}
	if ran != events || far < events*9/10 || near < events*9/10 || early < events*9/10 {
		t.Errorf("%d events ran, %d seen from far, %d from near, %d of them in time", ran, far, near, early)
	}

	c := newCluster(sim.Wheel)
	defer c.s.Close()
	looked := 0
	for k := range sim.Kind(3) {
		c.s.Ahead(k, func(uint32) { looked++ }, nil)
	}
	c.s.LookAhead(true)
	if err := c.s.Run(horizon); err != nil {
		t.Fatal(err)
	}
	if c.s.TraceHash() != golden || looked == 0 {
		t.Errorf("hash %#x after looking ahead %d times, want %#x", c.s.TraceHash(), looked, golden)
	}
}

func TestSeedIsVisible(t *testing.T) {
	hash := func(seed uint64) uint64 {
		s := sim.New(sim.Options{Seed: seed, Trace: true})
		r := s.Stream("x", 0)
		k := s.Register("event", func(uint32) {})
		for range 100 {
			s.At(r.Exp(mean), k, 0)
		}
		if err := s.Run(sim.Second); err != nil {
			t.Fatal(err)
		}
		return s.TraceHash()
	}
	if first, again := hash(1), hash(1); first != again || first == hash(2) {
		t.Error("the trace hash does not follow the seed")
	}
}

// TestNothingIsAllocatedPerEvent covers events, coroutine switches, stations and
// random numbers at once.
func TestNothingIsAllocatedPerEvent(t *testing.T) {
	for _, q := range []sim.QueueKind{sim.Wheel, sim.Heap} {
		c := newCluster(q)
		if err := c.s.Run(horizon); err != nil {
			t.Fatal(err)
		}
		before := c.s.Events()
		const runs = 10
		allocs := testing.AllocsPerRun(runs, func() {
			if err := c.s.Run(c.s.Now() + horizon); err != nil {
				t.Fatal(err)
			}
		})
		events := (c.s.Events() - before) / (runs + 1)
		if allocs > 0 || events < 10_000 {
			t.Errorf("queue %d: %.0f allocations in %d events", q, allocs, events)
		}
		c.s.Close()
	}
}
