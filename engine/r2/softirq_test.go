package r2

import (
	"encoding/binary"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/r2/core"
	"drtmx/engine/sim"
)

// oneQueue is vale with one receive queue per NIC, which interrupts core 0, that of the first thread.
func oneQueue(t *testing.T) fabric.Config {
	fc := vale(t)
	fc.Profile.TCP.Queues.Value = 1
	return fc
}

// computes is how long 2 ms of work of thread th of machine 1 take while thread 1 of machine 0 calls thread 1 there, and
// how many messages machine 1 gets meanwhile.
func computes(t *testing.T, threads, th int, fc fabric.Config) (took Time, messages int) {
	b := newBed(t, 2, Config{Threads: threads, Coroutines: 4, RecvDepth: []int{64, 64}}, fc)
	served := map[uint64]int{}
	b.echo(served)
	const work = 2 * sim.Millisecond
	begun, done := Time(0), Time(0)
	b.cl.Spawn(1, th, func(c *Co) {
		core.Sync(&c.Program)
		begun = b.s.Now()
		messages = -len(served)
		for range 20 {
			c.Compute(int(work / 20 * c.w.CPU.MHz / 1_000_000))
			core.Sync(&c.Program)
		}
		done = b.s.Now()
		messages += len(served)
	})
	b.cl.Spawn(0, threads-1, func(c *Co) {
		for i := uint64(1); ; i++ {
			c.Phase(all(phaseExecution))
			c.CallThread(1, threads-1, 3, binary.LittleEndian.AppendUint64(nil, i))
			if err := c.Wait(); err != nil {
				t.Error(err)
			}
		}
	})
	b.run(4 * sim.Millisecond)
	if done == 0 || threads > 1 && messages < 50 {
		t.Fatalf("%d messages, done at %d", messages, done)
	}
	return done - begun - work, messages
}

// The softirq time of another thread's messages is taken from the thread on the core of their queue, to the
// picosecond and from it alone; with more queues than threads much of it is taken from nobody.
func TestSoftirqIsTakenFromTheThreadOnItsCore(t *testing.T) {
	fc := oneQueue(t)
	d := fc.Profile.TCP.Softirq.Time()
	took, n := computes(t, 3, 0, fc)
	if took < Time(n-1)*d || took > Time(n+2)*d {
		t.Errorf("%d messages delayed their core's thread by %d ps, %d each, want %d", n, took, took/Time(n), d)
	}
	if took%d != 0 {
		t.Errorf("a delay of %d ps is not one of whole messages of %d", took, d)
	}
	if took, n = computes(t, 3, 1, fc); took != 0 {
		t.Errorf("%d messages of core 0 delayed another core's thread by %d ps", n, took)
	}
}

// A thread that has nothing to do is not behind for what was taken from it then.
func TestSoftirqTakesFromPollingInVain(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1, Coroutines: 1}, oneQueue(t))
	b.run(100 * sim.Microsecond)
	hw, before := b.f.Machine(1), b.cl.BusyPS(1, 0)
	for range 50 {
		if !hw.Interrupted(0, 2*sim.Microsecond) {
			t.Fatal("core 0 has a thread that polls")
		}
		b.run(10 * sim.Microsecond)
	}
	w := b.cl.machines[1].workers[0]
	if busy := b.cl.BusyPS(1, 0) - before; w.Local > b.s.Now() || busy != 100*sim.Microsecond {
		t.Errorf("busy for %d ps of 50 interrupts of 2 µs, local time %d at %d", busy, w.Local, b.s.Now())
	}
	if hw.Interrupted(1, sim.Microsecond) || w.Local > b.s.Now() {
		t.Error("nobody runs on core 1")
	}
	// But it sees nothing before an interrupt is over.
	hw.Interrupted(0, 30*sim.Microsecond)
	until, woke := b.s.Now()+30*sim.Microsecond, Time(0)
	b.cl.Spawn(1, 0, func(c *Co) { woke = c.Now() })
	b.run(50 * sim.Microsecond)
	if woke < until {
		t.Errorf("a coroutine ran at %d, within an interrupt until %d", woke, until)
	}
}

// A shared thread loses the time while it has the core, and only then.
func TestSoftirqIsTakenFromASharedThread(t *testing.T) {
	b := newBed(t, 1, Config{Threads: 1, Coroutines: 1}, oneQueue(t))
	took := Time(0)
	b.cl.SpawnShared(0, 5, "computes", func(c *Co) {
		core.Sync(&c.Program)
		begun := b.s.Now()
		c.Compute(2200 * 100) // 100 us
		core.Sync(&c.Program)
		took = b.s.Now() - begun
		c.Suspend()
	})
	b.run(20 * sim.Microsecond)
	at, _ := b.f.Machine(0).Assign(5)
	interrupted := b.f.Machine(0).Interrupted
	for range 3 {
		interrupted(at, 7*sim.Microsecond)
		b.run(sim.Microsecond)
	}
	b.run(200 * sim.Microsecond)
	if took != 121*sim.Microsecond {
		t.Errorf("100 µs of work took %d ps with 3 interrupts of 7 µs", took)
	}
	if interrupted(at, sim.Microsecond) {
		t.Error("the thread is suspended, its core is free")
	}
}
