package r2

import (
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/r2/registered"
	"drtmx/engine/sim"
)

// A thread with the queue pairs of a large cluster has passive WRITEs in all of them,
// and each keeps its buffer until a later completion on its own queue pair.
func TestBuffersComeBackFromManyQueuePairs(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1, EmulatedNodes: 1024}, fabric.Config{})
	const writes = 5 * registered.SendBuffers
	done := false
	b.cl.Spawn(0, 0, func(c *Co) {
		c.Phase(phaseCommit, Mode{Outstanding: true, Doorbell: true, Passive: true})
		for i := range writes {
			c.Write(b.loc(1, Addr(i%64)*64), make([]byte, 64))
			if i%8 == 7 {
				c.Room()
			}
		}
		done = true
	})
	b.run(50 * sim.Millisecond)
	if n := b.f.Counts().Posted[fabric.Write]; !done || n != writes {
		t.Errorf("finished: %v, %d of %d WRITEs posted", done, n, writes)
	}
}

// Coroutines that post passively wait for buffers when their many queue pairs have room
// for more than there are.
func TestRoomWaitsForBuffers(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1, EmulatedNodes: 1024, Coroutines: 64}, fabric.Config{})
	const each = 80
	done := 0
	for range 64 {
		b.cl.Spawn(0, 0, func(c *Co) {
			c.Phase(phaseCommit, Mode{Outstanding: true, Doorbell: true, Passive: true})
			for range 5 {
				for range each {
					c.Write(b.loc(1, 0), make([]byte, 2048))
				}
				c.Room()
			}
			done++
		})
	}
	b.run(50 * sim.Millisecond)
	if n := b.f.Counts().Posted[fabric.Write]; done != 64 || n != 64*5*each {
		t.Errorf("%d of 64 coroutines finished, %d of %d WRITEs posted; %v", done, n, 64*5*each, b.cl.Waiting(3))
	}
}

// The completions of all that a thread can have under way in the queue pairs of a large
// cluster find room in its completion queue, though it polls none while it posts.
func TestCompletionsOfManyQueuePairs(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1, EmulatedNodes: 1024}, fabric.Config{})
	const reads = 20_000
	var err error
	done := false
	b.cl.Spawn(0, 0, func(c *Co) {
		c.Phase(phaseExecution, Mode{Outstanding: true})
		for range reads {
			c.Read(b.loc(1, 0), 8)
		}
		err, done = c.Wait(), true
	})
	b.run(50 * sim.Millisecond)
	if n := b.f.Counts().CQOverruns; !done || err != nil || n != 0 {
		t.Errorf("finished: %v, %v, %d completions lost", done, err, n)
	}
}

// RECVs are posted again in batches, which must not be larger than there are RECVs.
func TestFewRecvs(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1, RecvDepth: []int{5, 5}}, fabric.Config{})
	b.cl.handle(1, func(_ *Co, _ Peer, req, rep []byte) int { return copy(rep, req) })
	answered := 0
	b.cl.Spawn(0, 0, func(c *Co) {
		for range 50 {
			c.Call(1, 1, []byte("hello"))
			if err := c.Wait(); err != nil {
				t.Error(err)
			}
			answered++
		}
	})
	b.run(10 * sim.Millisecond)
	if answered != 50 {
		t.Errorf("%d of 50 calls answered", answered)
	}
}
