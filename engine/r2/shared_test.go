package r2

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/sim"
)

// quick has the scheduler's numbers a hundred times smaller, so that tests see many slices.
func quick(t *testing.T) fabric.Config {
	t.Helper()
	p, err := profile.Load("val")
	if err != nil {
		t.Fatal(err)
	}
	s := p.Scheduler
	for _, n := range []*profile.Number{&s.Latency, &s.MinGranularity, &s.WakeupGranularity, &s.Tick} {
		n.Value /= 100
	}
	return fabric.Config{Profile: p}
}

// compute is a body that always has something to do, in steps that meet the simulation.
func (b *bed) compute(c *Co) {
	for {
		c.Compute(2000)
		c.Load64(b.base[c.Machine()])
	}
}

// Whoever can run has the same share of the core, over a few latencies, and nothing is lost or
// counted twice.
func TestSharesAreFair(t *testing.T) {
	for _, threads := range []int{1, 2, 5, 9} {
		b := newBed(t, 2, Config{Threads: 1, Coroutines: 1}, quick(t))
		worker := b.cl.Spawn(0, 0, func(c *Co) {
			for {
				c.Compute(1000)
				c.Yield()
			}
		})
		var list []*Co
		for k := range threads {
			list = append(list, b.cl.SpawnShared(0, 0, fmt.Sprint("trainer", k), b.compute))
		}
		const span = 20 * sim.Millisecond
		b.run(span)
		sum := worker.BusyPS()
		for _, c := range list {
			sum += c.BusyPS()
		}
		if total := b.cl.BusyPS(0, 0); total != sum || total > span || total < span*99/100 {
			t.Errorf("the core was busy for %d ps of %d, its threads for %d", total, span, sum)
		}
		fair := span / Time(threads+1)
		for _, had := range append([]Time{worker.BusyPS()}, times(list)...) {
			if off := had - fair; off < -b.f.Scheduler().Latency || off > b.f.Scheduler().Latency {
				t.Errorf("%d threads: one had %d ps, a fair share is %d; all had %d", threads, had, fair, times(list))
			}
		}
	}
}

func times(list []*Co) (out []Time) {
	for _, c := range list {
		out = append(out, c.BusyPS())
	}
	return out
}

// calls has a client call machine 1 all the time and returns how long each took.
func calls(b *bed) *[]Time {
	b.cl.handle(3, func(c *Co, _ Peer, _, rep []byte) int {
		c.Compute(200)
		return 8
	})
	took := new([]Time)
	b.cl.Spawn(0, 0, func(c *Co) {
		c.Phase(all(phaseExecution))
		for {
			c.Reset()
			begin := c.Now()
			c.Call(1, 3, make([]byte, 8))
			if err := c.Wait(); err != nil {
				b.Error(err)
			}
			*took = append(*took, c.Now()-begin)
			c.Sleep(sim.Microsecond)
		}
	})
	return took
}

// A worker whose core has a trainer answers late by up to a slice, and half as often; at other
// times, and beside a suspended thread, as if there were none.
func TestHandlersBesideATrainer(t *testing.T) {
	alone := newBed(t, 2, Config{Threads: 1, Coroutines: 1}, quick(t))
	quiet := calls(alone)
	alone.run(5 * sim.Millisecond)

	beside := newBed(t, 2, Config{Threads: 1, Coroutines: 1}, quick(t))
	idle := calls(beside)
	beside.cl.SpawnShared(1, 0, "trainer", func(c *Co) {
		for {
			c.Suspend()
		}
	})
	beside.run(5 * sim.Millisecond)
	if n := len(*quiet); len(*idle) < n-3 {
		t.Errorf("%d calls beside a suspended thread, %d without", len(*idle), n)
	}
	if a, b := slices.Max((*quiet)[100:]), slices.Max((*idle)[100:]); a != b {
		t.Errorf("calls beside a suspended thread take up to %d ps, without %d", b, a)
	}

	shared := newBed(t, 2, Config{Threads: 1, Coroutines: 1}, quick(t))
	took := calls(shared)
	shared.cl.SpawnShared(1, 0, "trainer", shared.compute)
	shared.run(5 * sim.Millisecond)
	longest, slice := slices.Max(*took), shared.f.Scheduler().Latency/2
	if longest < slice || longest > 2*slice+shared.cl.cfg.ResendAfter*2 {
		t.Errorf("the longest call took %d ps, a slice is %d", longest, slice)
	}
	if n, all := len(*took), len(*quiet); n < all*35/100 || n > all*60/100 {
		t.Errorf("%d calls beside a trainer, %d without", n, all)
	}
	short := 0
	for _, d := range *took {
		if d <= slices.Max((*quiet)[100:]) {
			short++
		}
	}
	if short < len(*took)*90/100 {
		t.Errorf("%d of %d calls were as fast as without a trainer", short, len(*took))
	}
}

// A thread that sleeps takes no time, and one that wakes has the core at once.
func TestWakeUpPreempts(t *testing.T) {
	b := newBed(t, 1, Config{Threads: 1, Coroutines: 1}, quick(t))
	b.cl.Spawn(0, 0, func(c *Co) {
		for {
			c.Compute(500)
			c.Yield()
		}
	})
	var late []Time
	sleeper := b.cl.SpawnShared(0, 0, "logger", func(c *Co) {
		for {
			due := c.Now() + 100*sim.Microsecond
			c.Sleep(100 * sim.Microsecond)
			late = append(late, c.Now()-due)
			c.Compute(220) // 100 ns
		}
	})
	b.run(10 * sim.Millisecond)
	if len(late) < 95 || slices.Max(late) > 2*b.f.Scheduler().ContextSwitch {
		t.Errorf("%d times, late by up to %d ps", len(late), slices.Max(late))
	}
	if busy := sleeper.BusyPS(); busy > Time(len(late)+1)*2*sim.Microsecond {
		t.Errorf("%d ps for %d times of 0.1 µs", busy, len(late))
	}
	// With a large debt it does not: the worker goes on until its slice is over.
	greedy := b.cl.SpawnShared(0, 0, "trainer", func(c *Co) {
		for {
			for end := c.Now() + 110*sim.Microsecond; c.Now() < end; {
				c.Compute(2000)
				c.Load64(b.base[0])
			}
			c.Sleep(10 * sim.Microsecond)
		}
	})
	before := b.cl.machines[0].workers[0].handler.BusyPS()
	b.run(20 * sim.Millisecond)
	if had := b.cl.machines[0].workers[0].handler.BusyPS() - before; had < 8*sim.Millisecond {
		t.Errorf("a thread that sleeps a tenth of its time leaves the worker %d ps of 20 ms", had)
	}
	if greedy.Preempted() == 0 {
		t.Error("it was never taken off the core")
	}
}

// A wake before the suspension is not lost, and several are one.
func TestWakesAreNotLost(t *testing.T) {
	b := newBed(t, 1, Config{Threads: 2, Coroutines: 1}, quick(t))
	done := 0
	trainer := b.cl.SpawnShared(0, 0, "trainer", func(c *Co) {
		for {
			c.Suspend()
			done++
			c.Compute(220_000) // 100 us, in which the next wakes come
		}
	})
	b.run(10 * sim.Microsecond)
	if done != 0 {
		t.Fatal("it ran without a wake")
	}
	if !b.cl.Quiet() || b.cl.SharedAtWork() != 0 {
		t.Error("a suspended thread is not at rest")
	}
	b.cl.Spawn(0, 1, func(c *Co) {
		c.Wake(trainer)
		c.Sleep(20 * sim.Microsecond)
		for range 3 {
			c.Wake(trainer)
		}
	})
	b.run(50 * sim.Microsecond)
	if done != 1 || b.cl.SharedAtWork() != 1 || b.cl.Quiet() {
		t.Errorf("%d times in the first 50 µs, %d threads at work", done, b.cl.SharedAtWork())
	}
	if s := b.cl.Waiting(9); !slices.ContainsFunc(s, func(l string) bool { return strings.HasPrefix(l, "m0.t0.trainer: ") }) {
		t.Errorf("%q does not tell of the thread", s)
	}
	b.run(2 * sim.Millisecond)
	if done != 2 || b.cl.SharedAtWork() != 0 {
		t.Errorf("%d times at the end, want 2", done)
	}
	if s := b.cl.Waiting(9); !slices.Contains(s, "m0.t0.trainer: suspended") {
		t.Errorf("%q", s)
	}
}

// A core without a worker is the threads' alone; one whose threads have ended is the worker's.
func TestThreadsAlone(t *testing.T) {
	b := newBed(t, 1, Config{Threads: 1, Coroutines: 1}, quick(t))
	steps := 0
	c := b.cl.SpawnShared(0, 3, "trainer", func(c *Co) {
		for range 100 {
			c.Compute(2200)
			c.Load64(b.base[0])
			steps++
		}
	})
	b.run(sim.Millisecond)
	if steps != 100 || c.BusyPS() < 100*sim.Microsecond || c.BusyPS() > 140*sim.Microsecond || b.cl.SharedAtWork() != 0 {
		t.Errorf("%d steps in %d ps of a core", steps, c.BusyPS())
	}
}

// Loads, stores and atomics of a thread meet those of workers in their true order.
func TestSharedThreadsSeeMemory(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 2, Coroutines: 1}, quick(t))
	add := func(c *Co) {
		for range 1000 {
			for {
				old := c.Load64(b.base[0])
				if c.LocalCAS(b.base[0], old, old+1) == old {
					break
				}
			}
			c.Compute(300)
		}
	}
	b.cl.SpawnShared(0, 0, "trainer", add)
	b.cl.SpawnShared(0, 1, "logger", add)
	b.cl.Spawn(0, 0, add)
	b.cl.Spawn(0, 1, add)
	b.run(50 * sim.Millisecond)
	if n := binary.LittleEndian.Uint64(b.cl.Mem(0).Bytes(b.base[0], 8)); n != 4000 {
		t.Errorf("%d of 4000 increments", n)
	}
}

// sharedRun is a loaded cluster with trainers and crashes; it returns its trace.
func sharedRun(t *testing.T) uint64 {
	b := newBed(t, 2, Config{Threads: 2, Coroutines: 2}, quick(t))
	b.echo(map[uint64]int{})
	n := uint64(0)
	var trainers []*Co
	lives := 0
	for th := range 2 {
		trainers = append(trainers, b.cl.SpawnShared(1, th, "trainer", func(c *Co) {
			lives++
			for {
				c.Suspend()
				for range 100 + c.Rand().Intn(100) {
					c.Compute(1000)
					c.Store64(b.base[1]+8, c.Load64(b.base[1])+1)
				}
			}
		}))
		b.cl.Spawn(0, th, func(c *Co) {
			c.Phase(all(phaseExecution))
			for {
				n++
				c.Reset()
				c.Call(1, 3, binary.LittleEndian.AppendUint64(nil, n))
				if c.Wait() != nil {
					c.Sleep(10 * sim.Microsecond)
				}
				if n%50 == 0 {
					b.cl.Wake(trainers[n/50%2])
				}
			}
		})
	}
	b.run(3 * sim.Millisecond)
	for range 3 { // wherever the threads are
		b.run(77 * sim.Microsecond)
		busy := [2]Time{b.cl.BusyPS(1, 0), b.cl.BusyPS(1, 1)}
		if err := b.cl.Crash(1); err != nil {
			t.Fatal(err)
		}
		if b.cl.SharedAtWork() != 0 {
			t.Error("threads of a machine that is down are not at rest")
		}
		before := lives
		b.run(100 * sim.Microsecond)
		if now := [2]Time{b.cl.BusyPS(1, 0), b.cl.BusyPS(1, 1)}; now != busy || lives != before {
			t.Errorf("a machine that is down was busy for %d, is for %d", busy, now)
		}
		if _, err := b.cl.Restart(1); err != nil {
			t.Fatal(err)
		}
		b.run(2 * sim.Millisecond)
		if lives != before+2 {
			t.Errorf("%d threads began after a restart", lives-before)
		}
		if busy := trainers[0].BusyPS(); busy == 0 {
			t.Error("a trainer does nothing")
		}
	}
	for th := range 2 {
		if busy := b.cl.BusyPS(1, th); busy > b.s.Now() {
			t.Errorf("busy for %d of %d", busy, b.s.Now())
		}
	}
	return b.s.TraceHash()
}

func TestSharedThreadsCrashAndRepeat(t *testing.T) {
	if a, b := sharedRun(t), sharedRun(t); a != b {
		t.Errorf("traces %x and %x of the same run", a, b)
	}
}

// Whatever needs a queue pair says that a shared thread has none.
func TestSharedThreadsPostNothing(t *testing.T) {
	for what, f := range map[string]func(b *bed, c *Co){ // order-free: each alone
		"Call":      func(b *bed, c *Co) { c.Call(1, 0, nil) },
		"one-sided": func(b *bed, c *Co) { c.Read(b.loc(1, 0), 8) },
		"Route":     func(b *bed, c *Co) { c.Route(b.loc(1, 0), false) },
		"Room":      func(b *bed, c *Co) { c.Room() },
		"Gate":      func(b *bed, c *Co) { c.Gate() },
		"fence":     func(b *bed, c *Co) { c.Fence() },
	} {
		b := newBed(t, 2, Config{Threads: 1}, fabric.Config{})
		b.cl.SpawnShared(0, 0, "trainer", func(c *Co) { f(b, c) })
		if err := b.s.Run(sim.Millisecond); err == nil || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), "m0.t0.trainer") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A worker on a shared core keeps its requests while it is off it, whatever state it is in.
func TestSlicesEndAnywhere(t *testing.T) {
	fc := quick(t)
	s := fc.Profile.Scheduler // slices of microseconds: they end in the middle of everything
	for _, n := range []*profile.Number{&s.Latency, &s.MinGranularity, &s.WakeupGranularity, &s.Tick} {
		n.Value /= 60
	}
	for _, tr := range []Transport{Datagrams, Writes} {
		b := newBed(t, 2, Config{Threads: 1, Coroutines: 4, Transport: tr, MaxMessage: 256, ResendAfter: 50 * sim.Microsecond}, fc)
		served := map[uint64]int{}
		b.echo(served)
		for m := range 2 {
			b.cl.SpawnShared(m, 0, "trainer", b.compute)
		}
		finished, n := 0, uint64(0)
		for m := range 2 {
			for range 4 {
				b.cl.Spawn(m, 0, func(c *Co) {
					for i := range 200 {
						c.Reset()
						c.Phase(phaseExecution, Mode{Outstanding: true, Doorbell: i%2 == 0})
						n++
						c.Call(1-m, 3, binary.LittleEndian.AppendUint64(nil, n))
						c.Write(b.loc(1-m, 64), make([]byte, 100))
						c.Load(b.base[m]+128, 64)
						if err := c.Wait(); err != nil {
							t.Error(err)
						}
						if i%10 == 0 {
							c.Sleep(3 * sim.Microsecond)
						}
					}
					finished++
				})
			}
		}
		b.run(40 * sim.Millisecond)
		if finished != 8 || len(served) != 1600 {
			t.Errorf("transport %d: %d of 8 coroutines finished, %d of 1600 requests served: %v", tr, finished, len(served), b.cl.Waiting(3))
		}
		for id, k := range served {
			if k != 1 {
				t.Errorf("request %d was served %d times", id, k)
			}
		}
	}
}

// Off its core, a worker that waits for its write-combining buffers is not at work.
func TestSlicesEndInAStall(t *testing.T) {
	p, err := profile.Load("r74v")
	if err != nil {
		t.Fatal(err)
	}
	s := p.Scheduler
	for _, n := range []*profile.Number{&s.Latency, &s.MinGranularity, &s.WakeupGranularity, &s.Tick} {
		n.Value /= 1000
	}
	b := newBed(t, 1, Config{Threads: 1}, fabric.Config{Profile: p, NVM: func(int, int, *profile.NodeType) (host.Device, error) { return &slowDevice{}, nil }})
	a, err := b.cl.Mem(0).Alloc(host.Alloc{Name: "nvm", Bytes: 1 << 20, NVM: true})
	if err != nil {
		t.Fatal(err)
	}
	rounds := 0
	b.cl.Spawn(0, 0, func(c *Co) {
		for ; ; rounds++ {
			c.StoreNT(a, make([]byte, 64*(1+rounds%20)))
			c.Fence()
		}
	})
	b.run(sim.Millisecond)
	alone := rounds
	trainer := b.cl.SpawnShared(0, 0, "trainer", b.compute)
	b.run(sim.Millisecond)
	if n := rounds - alone; n < alone/3 || n > alone*2/3 {
		t.Errorf("%d rounds beside a trainer, %d without", n, alone)
	}
	if had := trainer.BusyPS(); had < 400*sim.Microsecond || had > 600*sim.Microsecond {
		t.Errorf("the trainer had %d ps of a millisecond", had)
	}
	if busy := b.cl.BusyPS(0, 0); busy > b.s.Now() || busy < b.s.Now()*98/100 {
		t.Errorf("busy for %d ps of %d", busy, b.s.Now())
	}
}

// A region that its thread's slice ends in is over: it runs again when the thread has the core, and what it adds is neither
// lost nor there twice.
func TestSlicesEndRegions(t *testing.T) {
	b := newBed(t, 3, Config{Threads: 1, Coroutines: 1}, quick(t))
	l, at := b.lock(), b.at(8)
	runs := [2]uint64{}
	count := func(i int) func(c *Co) {
		return func(c *Co) {
			for {
				c.HTM(l, func(r *Region) {
					n := r.Load64(at)
					r.Compute(4000)
					r.Store64(at, n+1)
				})
				runs[i]++
				if i == 0 {
					c.Yield()
				}
			}
		}
	}
	b.cl.Spawn(0, 0, count(0))
	b.cl.SpawnShared(0, 0, "counter", count(1))
	b.run(5 * sim.Millisecond)
	n := binary.LittleEndian.Uint64(b.cl.Mem(0).Bytes(at, 8))
	if x := b.cl.HTMCounts(); n != runs[0]+runs[1] && n != runs[0]+runs[1]+1 || x.Switch == 0 || runs[0] == 0 || runs[1] == 0 {
		t.Errorf("%d added by regions that ended %d and %d times; %+v", n, runs[0], runs[1], x)
	}
}

// A cluster need not wait for work that may be cut off.
func TestEndlessThreads(t *testing.T) {
	b := newBed(t, 3, Config{Threads: 1, Coroutines: 1}, quick(t))
	c := b.cl.SpawnShared(0, 0, "trainer", b.compute)
	b.run(sim.Millisecond)
	if b.cl.Quiet() || b.cl.SharedAtWork() != 1 {
		t.Error("a thread at work is taken for one at rest")
	}
	if c.Endless(); !b.cl.Quiet() || b.cl.SharedAtWork() != 0 {
		t.Error("a thread whose work may be cut off is waited for")
	}
}
