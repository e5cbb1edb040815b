package r2

import (
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/sim"
)

// A coroutine that is suspended takes no time of its core and goes on when another one of its worker wakes it; a wake that
// comes first is not lost; the worker is quiet meanwhile; and after a crash it begins anew.
func TestSuspendOfACoroutine(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1, Coroutines: 2}, fabric.Config{})
	var woken []Time
	sleeper := b.cl.SpawnBackground(0, 0, "sleeper", func(c *Co) {
		c.Sleep(2 * sim.Microsecond)
		for {
			c.Suspend()
			woken = append(woken, c.Now())
			c.Read(b.loc(1, 0), 8)
			if err := c.Wait(); err != nil {
				t.Error(err)
			}
		}
	})
	b.cl.Spawn(0, 0, func(c *Co) {
		if c.Index() != 0 {
			t.Errorf("the only coroutine that is not in the background has index %d", c.Index())
		}
		for i := range 3 {
			c.Wake(sleeper) // the first time it is not suspended yet
			c.Sleep(Time(10*(i+1)) * sim.Microsecond)
		}
	})
	b.run(5 * sim.Microsecond)
	if len(woken) != 1 {
		t.Fatalf("the wake before the Suspend was lost: woken at %d", woken)
	}
	b.run(3 * sim.Microsecond)
	if s := sleeper.state(); s != "suspended" || !b.cl.Quiet() {
		t.Errorf("it is %q, and the cluster is quiet: %v", s, b.cl.Quiet())
	}
	b.run(100 * sim.Microsecond)
	if len(woken) != 3 || woken[1] < 10*sim.Microsecond || woken[1] > 12*sim.Microsecond {
		t.Errorf("woken at %d", woken)
	}
	if busy := b.cl.BusyPS(0, 0); busy > 5*sim.Microsecond {
		t.Errorf("the core was busy for %d ps", busy)
	}
	for _, step := range []func(int) error{b.cl.Crash, func(m int) error { _, err := b.cl.Restart(m); return err }} {
		if err := step(0); err != nil {
			t.Fatal(err)
		}
	}
	b.run(100 * sim.Millisecond)
	if len(woken) != 6 {
		t.Errorf("%d wakes, before the crash and after the restart there are 3 each", len(woken))
	}
}

// What is tried many times within one transaction takes the scratch of one try.
func TestReleaseTakesScratchBack(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1, Coroutines: 1}, fabric.Config{})
	done := false
	b.cl.Spawn(0, 0, func(c *Co) {
		kept := c.Buf(8)
		copy(kept.B, "kept me.")
		m := c.Mark()
		for range 100_000 {
			c.Release(m)
			if c.Mark() != m && m.Block == c.Mark().Block {
				t.Error("a release does not go back to its mark")
			}
			c.Buf(3000) // more than a coroutine begins with
		}
		done = string(kept.B) == "kept me."
	})
	b.run(10 * sim.Microsecond)
	if !done {
		t.Error("it did not come to its end, or what was handed out before the mark has changed")
	}
}

// A shared thread that wakes itself goes on after its next Suspend, as other threads' wakes would have it.
func TestSharedThreadWakesItself(t *testing.T) {
	b := newBed(t, 1, Config{Threads: 1, Coroutines: 1}, fabric.Config{})
	n := 0
	b.cl.SpawnShared(0, 0, "trainer", func(c *Co) {
		for range 3 {
			c.Wake(c)
			c.Suspend()
			n++
		}
		c.Suspend()
		n++
	})
	b.run(sim.Millisecond)
	if n != 3 {
		t.Errorf("it went on %d times, want 3", n)
	}
}
