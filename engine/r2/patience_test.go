package r2

import (
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/r2/datagram"
	"drtmx/engine/sim"
)

// Answers that take long raise the patience above them, and quick ones let it fall
// back to the least.
func TestPatience(t *testing.T) {
	const us = sim.Microsecond
	w, ch := &Worker{cl: &Cluster{cfg: Config{ResendAfter: 200 * us}}}, &channel{}
	want := func(what string, least, most Time) {
		t.Helper()
		if got := w.resendAfter(ch); got < least*us || got > most*us {
			t.Errorf("%d us %s, want %d to %d", got/us, what, least, most)
		}
	}
	want("at first", 200, 200)
	for range 100 {
		w.heard(ch, &call{sentAt: -500 * us}, true)
	}
	want("after answers of 500", 500, 600)
	for range 1000 {
		w.heard(ch, &call{sentAt: -10 * us}, true)
	}
	want("after quick answers", 200, 200)
	for range 100 {
		w.heard(ch, &call{sentAt: -sim.Second}, true)
	}
	want("at most", datagram.MaxPatience*200, datagram.MaxPatience*200)
}

// Waiting that was too short is doubled, once for all requests that went out before it
// was, on this channel alone; until one is answered that was not repeated.
func TestPatienceDoubles(t *testing.T) {
	const us = sim.Microsecond
	w, ch := &Worker{cl: &Cluster{cfg: Config{ResendAfter: 200 * us}}}, &channel{}
	for _, step := range []struct {
		at, sent Time
		want     Time
	}{{200, 0, 400}, {250, 50, 400}, {600, 200, 800}, {700, 300, 800}, {1400, 600, 1600}} {
		w.Local = step.at * us
		w.overdue(ch, &call{sentAt: step.sent * us})
		if got := w.resendAfter(ch); got != step.want*us {
			t.Errorf("%d us at %d, when what was sent at %d was overdue, want %d", got/us, step.at, step.sent, step.want)
		}
	}
	w.heard(ch, &call{sentAt: w.Local - 10*us, tries: 1}, true)
	if got := w.resendAfter(ch); got != 1600*us {
		t.Errorf("%d us when a repetition is answered", got/us)
	}
	if got := w.resendAfter(&channel{}); got != 200*us {
		t.Errorf("%d us on another channel", got/us)
	}
	w.heard(ch, &call{sentAt: w.Local - 10*us}, true)
	if got := w.resendAfter(ch); got != 200*us {
		t.Errorf("%d us when a request is answered at once", got/us)
	}
	for range 100 {
		w.overdue(ch, &call{sentAt: w.Local})
	}
	if got := w.resendAfter(ch); got != datagram.MaxPatience*200*us {
		t.Errorf("%d us at most", got/us)
	}
}

// A receipt that is missing keeps back those of all requests behind it: how long they took says nothing, but that
// they came back at all does.
func TestPatienceBehindARepetition(t *testing.T) {
	const us = sim.Microsecond
	w := &Worker{cl: &Cluster{cfg: Config{ResendAfter: 200 * us}}}
	ch := newChannel(&Worker{})
	for i := range 4 {
		_, k := ch.open()
		*k = call{passive: true, sentAt: Time(i) * us}
		w.unconfirmed++
	}
	w.patience = datagram.Patience{Mean: 10 * us, Deviation: us}
	w.Local = 250 * us
	w.overdue(ch, ch.call(1))
	ch.call(1).tries = 1
	ch.acknowledge(w, 1)
	mean := ch.patience.Mean
	if mean <= 10*us {
		t.Error("the time of what was in front of the repetition does not count")
	}
	ch.patience.Doublings = 3
	ch.acknowledge(w, 4)
	if ch.patience.Mean != mean || ch.patience.Doublings != 0 {
		t.Errorf("a mean of %d us and %d doublings behind the repetition, want %d us and none", ch.patience.Mean/us, ch.patience.Doublings, mean/us)
	}
}

// Passive requests at a steady rate, some of which are lost, and then a window of them has no receipt: that does not
// feed on itself.
func TestLossDoesNotFeedPatience(t *testing.T) {
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
		if w.resendAfter(w.out[1]) > 3*w.cl.cfg.ResendAfter { // two repetitions of one were lost
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
