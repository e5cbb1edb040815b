package r2

import (
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/sim"
)

// Coroutines that look at local memory again and again, as those do that wait for a
// record to be unlocked, always find one of them ready. Their thread still comes to its
// completions and doorbells, or nobody would unlock.
func TestRetriesDoNotKeepTheLoopFromPolling(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1, Coroutines: 9}, fabric.Config{})
	b.echo(map[uint64]int{})
	for range 8 {
		b.cl.Spawn(0, 0, func(c *Co) {
			for {
				c.Load(b.base[0], 8)
				c.Compute(2_000)
				c.Load(b.base[0], 8)
				c.Sleep(sim.Microsecond)
			}
		})
	}
	answers := 0
	b.cl.Spawn(0, 0, func(c *Co) {
		for {
			c.Phase(all(phaseExecution))
			c.Call(1, 3, make([]byte, 8))
			if err := c.Wait(); err != nil {
				t.Error(err)
			}
			answers++
		}
	})
	b.run(sim.Millisecond)
	if answers < 20 {
		t.Errorf("%d answers in a millisecond", answers)
	}
}
