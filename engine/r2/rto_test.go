package r2

import (
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/r2/datagram"
	"drtmx/engine/sim"
)

// A receipt that is missing keeps back those of all requests behind it: how long they took says nothing, but that
// they came back at all does.
func TestRTOBehindARepetition(t *testing.T) {
	const us = sim.Microsecond
	w := &Worker{cl: &Cluster{}, rtos: datagram.RTOs{Least: 200 * us}}
	ch := newChannel(&Worker{})
	for i := range 4 {
		_, k := ch.Begin()
		*k = call{passive: true, sentAt: Time(i) * us}
		w.unconfirmed++
	}
	w.rtos.Shared = datagram.RTO{Mean: 10 * us, Deviation: us}
	w.Local = 250 * us
	ch.rto = w.rtos.Overdue(ch.rto, ch.At(1).sentAt, w.Local)
	ch.At(1).tries = 1
	ch.acknowledge(w, 1)
	mean := ch.rto.Mean
	if mean <= 10*us {
		t.Error("the time of what was in front of the repetition does not count")
	}
	ch.rto.Doublings = 3
	ch.acknowledge(w, 4)
	if ch.rto.Mean != mean || ch.rto.Doublings != 0 {
		t.Errorf("a mean of %d µs and %d doublings behind the repetition, want %d µs and none", ch.rto.Mean/us, ch.rto.Doublings, mean/us)
	}
}

// Passive requests at a steady rate, some of which are lost, and then a window of them has no receipt: that does not
// feed on itself.
func TestLossDoesNotFeedTheRTO(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1, Coroutines: 4}, fabric.Config{NICs: 1, LossPPM: 50_000})
	b.cl.handle(3, func(*Co, Peer, []byte, []byte) int { return 0 })
	for m := range 2 {
		for range 4 {
			b.cl.Spawn(m, 0, func(c *Co) {
				c.Phase(phaseCommit, Mode{Outstanding: true, Passive: true})
				for {
					c.Reset()
					c.Call(1-m, 3, make([]byte, 8))
					if err := c.Wait(); err != nil {
						t.Error(err)
					}
					c.Sleep(15 * sim.Microsecond)
				}
			})
		}
	}
	w, long := b.cl.workers[0], 0
	for range 100 {
		b.run(sim.Millisecond)
		if w.rtos.After(w.out[1].rto) > 3*w.cl.cfg.ResendAfter { // two repetitions of one were lost
			long++
		}
	}
	if long > 25 {
		t.Errorf("repetitions wait for long in %d of 100 ms", long)
	}
}

// A machine whose RNIC is a hundred times slower takes milliseconds for what it is
// asked. Nobody gives it up, and after a while nobody asks twice.
func TestSlowMachineIsNotAskedTwice(t *testing.T) {
	b := newBed(t, 3, Config{Threads: 4, Coroutines: 64, MaxMessage: 256}, fabric.Config{NICs: 1})
	b.cl.handle(3, func(c *Co, _ Peer, req, rep []byte) int { return copy(rep, req) })
	b.f.Machine(0).NICs[0].SetSlowdown(9900)
	answered := uint64(0)
	for m := range 3 {
		for i := range 4 * 64 {
			b.cl.Spawn(m, i%4, func(c *Co) {
				c.Phase(all(phaseExecution))
				for {
					c.Reset()
					for j := range 4 {
						c.Call((m+1+j%2)%3, 3, make([]byte, 200))
					}
					if err := c.Wait(); err != nil {
						t.Error(err)
					}
					answered += 4
				}
			})
		}
	}
	b.run(80 * sim.Millisecond)
	before, from := b.f.Counts().Posted[fabric.Send], answered
	b.run(20 * sim.Millisecond)
	sent, n := b.f.Counts().Posted[fabric.Send]-before, answered-from
	if n < 5000 || sent > 2*n+n/10 {
		t.Errorf("%d requests are answered, with %d messages", n, sent)
	}
}

// What waits for room in the send queue is not repeated: it has not been sent once.
func TestWaitingForTheSendQueueIsNotRepeated(t *testing.T) {
	const machines = 16
	b := newBed(t, machines, Config{Threads: 1, Coroutines: machines}, fabric.Config{NICs: 1, LossPPM: 1_000_000})
	b.f.Machine(0).NICs[0].SetSlowdown(9900)
	for m := 1; m < machines; m++ {
		b.cl.Spawn(0, 0, func(c *Co) {
			c.Phase(all(phaseExecution))
			for range RequestWindow {
				c.Call(m, 3, make([]byte, 8))
			}
			c.Wait()
		})
	}
	const asked = (machines - 1) * RequestWindow
	q := b.cl.workers[0].ud
	b.run(500 * sim.Microsecond) // the first are overdue
	if q.Posted >= asked {
		t.Fatal("nothing waits for room")
	}
	for q.Posted < asked {
		b.run(50 * sim.Microsecond)
		if q.Posted < asked && q.Tail != asked {
			t.Fatalf("%d requests have not been sent, and %d are repeated", asked-q.Posted, q.Tail-asked)
		}
	}
	b.run(sim.Millisecond)
	if q.Tail == asked {
		t.Error("nothing is repeated when all has been sent")
	}
}
