package r2

import (
	"encoding/binary"
	"errors"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/sim"
)

// Requests to any thread of another machine, its own index or not, are served by that thread and once, though
// messages are lost, before and after a machine is started again.
func TestCallThread(t *testing.T) {
	const machines, threads, coroutines, each = 3, 3, 2, 200
	b := newBed(t, machines, Config{Threads: threads, Coroutines: coroutines, ResendAfter: 20 * sim.Microsecond, RecvDepth: []int{64, 64, 64}},
		fabric.Config{LossPPM: 20_000})
	served := map[uint64]int{}
	b.cl.handle(3, func(c *Co, from Peer, req, rep []byte) int {
		id := binary.LittleEndian.Uint64(req)
		if served[id]++; int(id>>56) != c.Machine() || int(id>>48&0xff) != c.Thread() || from.Machine != int(id>>40&0xff) || from.Thread != int(id>>32&0xff) {
			t.Errorf("request %x from %+v is served by machine %d thread %d", id, from, c.Machine(), c.Thread())
		}
		return copy(rep, req)
	})
	finished, lost := 0, 0
	sent := uint64(0)
	for n := range machines * threads * coroutines {
		b.cl.Spawn(n%machines, n/machines%threads, func(c *Co) {
			for i := range each {
				c.Reset()
				c.Phase(phaseExecution, Mode{Outstanding: true, Doorbell: true, Passive: i%3 == 0})
				m, th := (c.Machine()+1+c.Rand().Intn(machines-1))%machines, c.Rand().Intn(threads)
				id := uint64(m)<<56 | uint64(th)<<48 | uint64(c.Machine())<<40 | uint64(c.Thread())<<32 | sent
				sent++
				r := c.CallThread(m, th, 3, binary.LittleEndian.AppendUint64(nil, id))
				switch err := c.Wait(); {
				case errors.Is(err, ErrUnreachable):
					lost++
				case err != nil:
					t.Error(err)
				case r != nil && binary.LittleEndian.Uint64(r.B) != id:
					t.Errorf("reply %x to %x", r.B, id)
				}
			}
			finished++
		})
	}
	b.run(200 * sim.Microsecond)
	b.crash(1)
	b.run(100 * sim.Microsecond)
	b.restart(1)
	b.run(100 * sim.Millisecond)
	if finished != machines*threads*coroutines || lost == 0 {
		t.Fatalf("%d coroutines finished, %d requests lost by the crash; %v", finished, lost, b.cl.Waiting(5))
	}
	if missing := sent - uint64(len(served)); missing > uint64(lost)+b.cl.Lost()+threads*coroutines {
		t.Errorf("%d of %d requests were not served, %d and %d passive ones can be lost", missing, sent, lost, b.cl.Lost())
	}
	for id, n := range served {
		if n != 1 {
			t.Errorf("request %x was served %d times", id, n)
		}
	}
}
