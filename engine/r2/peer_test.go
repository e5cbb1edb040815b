package r2

import (
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/sim"
)

// A handler is told the index of who asks, also where coroutines of the background began between those of the workload; who
// has no index is none of these. A call to the own thread says the same.
func TestPeersAreNamedByIndex(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1, Coroutines: 6}, fabric.Config{})
	var want, got [6][2]int // by coroutine, and by the machine that is asked
	background := 0
	b.cl.handle(4, func(c *Co, from Peer, req, rep []byte) int {
		if i := req[0]; i < 6 {
			got[i][c.Machine()] = from.Coroutine
		} else if from.Coroutine >= 6 {
			background++
		}
		return copy(rep, req)
	})
	ask := func(c *Co, name byte) {
		c.Phase(all(phaseExecution))
		for m := range 2 {
			c.Call(m, 4, []byte{name})
		}
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	for i := range 6 {
		want[i] = [2]int{i, i}
		b.cl.Spawn(0, 0, func(c *Co) { ask(c, byte(c.Index())) })
		if i%2 == 0 {
			b.cl.SpawnBackground(0, 0, "background", func(c *Co) { ask(c, 6) })
		}
	}
	if b.run(sim.Millisecond); got != want || background != 6 {
		t.Errorf("handlers were told %v, want %v, and of %d requests of the background that they are none of these, want 6", got, want, background)
	}
}
