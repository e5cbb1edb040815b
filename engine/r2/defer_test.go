package r2

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/metrics"
	"drtmx/engine/sim"
)

// queues are locks of machine 0 whose waiters are served in turn.
type queues struct {
	held    [4]bool
	waiting [4][]*Ticket
	granted int
	elect   *Co // nil: whoever unlocks grants the next
	mail    []int
}

func le(x uint64) []byte { return binary.LittleEndian.AppendUint64(nil, x) }

// lockServer handles lock, which waits its turn, and unlock.
func (b *bed) lockServer() (q *queues, lock, unlock uint8) {
	q = new(queues)
	lock = b.cl.HandleDeferring("lock", func(c *Co, _ Peer, req, rep []byte) int {
		id := binary.LittleEndian.Uint64(req)
		k := id % 4
		c.Annotate(id)
		if q.held[k] {
			q.waiting[k] = append(q.waiting[k], c.Defer())
			return 0
		}
		q.held[k] = true
		q.granted++
		c.Annotate(^id)
		return copy(rep, req)
	})
	unlock = b.cl.Handle("unlock", func(c *Co, _ Peer, req, _ []byte) int {
		c.ChargeHandler(100)
		k := binary.LittleEndian.Uint64(req) % 4
		if q.elect != nil {
			q.mail = append(q.mail, int(k))
			c.Wake(q.elect)
			return 0
		}
		q.grant(c, int(k))
		return 0
	})
	return q, lock, unlock
}

// grant gives a lock to the next who waits.
func (q *queues) grant(c *Co, k int) {
	for q.held[k] = false; len(q.waiting[k]) > 0; {
		t := q.waiting[k][0]
		if q.waiting[k] = q.waiting[k][1:]; t.Gone() {
			t.Answer(c, func(*Co, []byte, []byte) int { return 0 })
			continue
		}
		q.held[k] = true
		t.Answer(c, func(c *Co, req, rep []byte) int {
			q.granted++
			c.Annotate(^binary.LittleEndian.Uint64(req))
			return copy(rep, req)
		})
		return
	}
}

// Requests that wait their turn are each answered once, whatever gets lost and however long it takes, on all
// transports, and by whichever thread of the machine: and while one is answered nobody else has the lock.
func TestDeferredRepliesExactlyOnce(t *testing.T) {
	tcp := vale(t)
	lossyTCP := tcp
	lossyTCP.LossPPM = 20_000
	for _, x := range []struct {
		name string
		c    Config
		fc   fabric.Config
		hold Time
	}{
		{"short", Config{}, fabric.Config{}, sim.Microsecond},
		{"long", Config{}, fabric.Config{}, 200 * sim.Microsecond},
		{"impatient", Config{ResendAfter: 20 * sim.Microsecond}, fabric.Config{}, 20 * sim.Microsecond},
		{"lossy", Config{ResendAfter: 20 * sim.Microsecond}, fabric.Config{LossPPM: 50_000}, 10 * sim.Microsecond},
		{"very lossy", Config{ResendAfter: 20 * sim.Microsecond}, fabric.Config{LossPPM: 300_000}, 10 * sim.Microsecond},
		{"writes", Config{Transport: Writes, ResendAfter: 20 * sim.Microsecond}, fabric.Config{LossPPM: 50_000}, 10 * sim.Microsecond},
		{"hybrid", Config{Transport: Hybrid, ResendAfter: 20 * sim.Microsecond}, fabric.Config{LossPPM: 50_000}, 10 * sim.Microsecond},
		{"tcp", Config{}, tcp, 20 * sim.Microsecond},
		{"lossy tcp", Config{ResendAfter: 100 * sim.Microsecond}, lossyTCP, 20 * sim.Microsecond},
	} {
		for _, other := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/by another thread %v", x.name, other), func(t *testing.T) {
				const machines, each = 3, 12
				x.c.Threads, x.c.Coroutines = 2, 4
				b := newBed(t, machines, x.c, x.fc)
				q, lock, unlock := b.lockServer()
				if other {
					q.elect = b.cl.SpawnBackground(0, 1, "elect", func(c *Co) {
						for {
							c.Suspend()
							for len(q.mail) > 0 {
								k := q.mail[0]
								q.mail = q.mail[1:]
								q.grant(c, k)
							}
						}
					})
				}
				done, inside := 0, [4]int{}
				for m := range machines { // 0 asks itself too
					for i := range 8 {
						b.cl.Spawn(m, i%2, func(c *Co) {
							for n := range each {
								c.Reset()
								c.Phase(all(phaseExecution))
								id := uint64(m)<<32 | uint64(i)<<16 | uint64(n)<<2 | uint64(i+n)%4
								r := c.CallThread(0, 0, lock, le(id))
								if err := c.Wait(); err != nil {
									t.Error(err)
									return
								}
								if got := binary.LittleEndian.Uint64(r.B); got != id {
									t.Fatalf("reply %x to %x", got, id)
								}
								checkNotes(t, r, id, ^id)
								if inside[id%4]++; inside[id%4] != 1 {
									t.Fatalf("%d have lock %d at %d ps", inside[id%4], id%4, c.Now())
								}
								c.Sleep(x.hold)
								inside[id%4]--
								c.CallThread(0, 0, unlock, le(id))
								if err := c.Wait(); err != nil {
									t.Error(err)
								}
							}
							done++
						})
					}
				}
				b.run(3000 * sim.Millisecond)
				if done != 8*machines || q.granted != 8*machines*each {
					t.Fatalf("%d of %d coroutines are done, %d of %d locks granted; %v", done, 8*machines, q.granted, 8*machines*each, b.cl.Waiting(9))
				}
				if !b.cl.Quiet() || len(b.cl.machines[0].workers[0].tickets) != 0 {
					t.Errorf("something is left: %v", b.cl.Waiting(9))
				}
			})
		}
	}
}

// holder is a request that is answered when the test says so.
type holder struct {
	tickets []*Ticket
	id      uint8
}

func (b *bed) holder() *holder {
	h := new(holder)
	h.id = b.cl.HandleDeferring("hold", func(c *Co, _ Peer, _, _ []byte) int {
		h.tickets = append(h.tickets, c.Defer())
		return 0
	})
	return h
}

// A request that is answered before it is repeated costs what any other does: two messages. A long one
// costs three more per repetition, which are few, and is never given up.
func TestMessagesOfADeferredRequest(t *testing.T) {
	for _, x := range []struct {
		after Time
		sends uint64
	}{
		{100 * sim.Microsecond, 2},
		{500 * sim.Microsecond, 5},
		{5000 * sim.Millisecond, 2 + 3*3200},
	} {
		b := newBed(t, 2, Config{Threads: 1, Coroutines: 1}, fabric.Config{})
		h := b.holder()
		var took Time
		spent := metrics.NewBreakdown()
		b.cl.Spawn(1, 0, func(c *Co) {
			c.Phase(all(phaseExecution))
			start := c.Now()
			r := c.Call(0, h.id, make([]byte, 100))
			if err := c.Wait(); err != nil {
				t.Error(err)
			}
			if took = c.Now() - start; len(r.B) != 8 {
				t.Errorf("%d bytes of reply", len(r.B))
			}
			c.TakeBreakdown(spent)
		})
		b.run(10 * sim.Microsecond)
		if len(h.tickets) != 1 || h.tickets[0].From() != (Peer{1, 0, 0}) || len(h.tickets[0].Req()) != 100 || h.tickets[0].Gone() || b.cl.Quiet() {
			t.Fatal("it is not held")
		}
		if w := strings.Join(b.cl.Waiting(5), "\n"); !strings.Contains(w, "m0.t0: has deferred a hold of machine 1 thread 0") {
			t.Errorf("what waits: %s", w)
		}
		b.cl.Spawn(0, 0, func(c *Co) {
			c.Sleep(x.after)
			h.tickets[0].Answer(c, func(_ *Co, req, rep []byte) int { return 8 })
		})
		b.run(x.after + sim.Millisecond)
		if n := b.f.Counts().Posted[fabric.Send]; n < 2 || n > x.sends || x.sends < 10 && n != x.sends {
			t.Errorf("held for %d ps: %d messages, want %d", x.after, n, x.sends)
		}
		if took < x.after || took > x.after+20*sim.Microsecond || !b.cl.Quiet() {
			t.Errorf("held for %d ps, it took %d; quiet: %v", x.after, took, b.cl.Quiet())
		}
		// A stamp holds 4.3 ms of a milestone; what is more counts as polling.
		row := &spent[phaseExecution]
		if wait := row[metrics.LockWait]; wait < min(x.after, 1<<32-1)-sim.Microsecond || wait > x.after+15*sim.Microsecond {
			t.Errorf("held for %d ps, of which %d count", x.after, wait)
		}
		if sum := spent.Total(); sum < took-sim.Microsecond || sum > took+3*sim.Microsecond {
			t.Errorf("it took %d ps, and the breakdown has %d", took, sum)
		}
		if p := b.cl.machines[1].workers[0].rtos.Shared; p.Mean != 0 {
			t.Errorf("the wait counts as the network's: %d ps", p.Mean)
		}
	}
}

// A request that waits does not keep back the others of its thread, one of which may hold what it waits for.
func TestDeferredRequestLeavesTheWindow(t *testing.T) {
	for _, tr := range []Transport{Datagrams, Hybrid, Writes} {
		b := newBed(t, 2, Config{Threads: 1, Coroutines: 3, Transport: tr}, fabric.Config{})
		h := b.holder()
		echo := b.cl.Handle("echo", func(_ *Co, _ Peer, _, _ []byte) int { return 8 })
		answered, calls := 0, 0
		for range 2 {
			b.cl.Spawn(1, 0, func(c *Co) {
				c.Phase(all(phaseExecution))
				c.Call(0, h.id, make([]byte, 8))
				if err := c.Wait(); err != nil {
					t.Error(err)
				}
				answered++
			})
		}
		b.cl.Spawn(1, 0, func(c *Co) {
			c.Sleep(5 * sim.Microsecond)
			for range 20 * RequestWindow {
				c.Reset()
				c.Phase(all(phaseExecution))
				c.Call(0, echo, make([]byte, 8))
				if err := c.Wait(); err != nil {
					t.Error(err)
				}
				calls++
			}
		})
		b.run(20 * sim.Millisecond)
		if calls != 20*RequestWindow || answered != 0 || len(h.tickets) != 2 {
			t.Fatalf("%v: %d of %d calls were made while two wait (%d do); %v", tr, calls, 20*RequestWindow, len(h.tickets), b.cl.Waiting(5))
		}
		b.cl.Spawn(0, 0, func(c *Co) {
			for _, x := range h.tickets {
				x.Answer(c, func(*Co, []byte, []byte) int { return 0 })
			}
		})
		b.run(20 * sim.Millisecond)
		if answered != 2 || !b.cl.Quiet() {
			t.Errorf("%v: %d of 2 are answered: %v", tr, answered, b.cl.Waiting(5))
		}
	}
}

// A full window is not waited for until the next repetition: the request that keeps it back is asked about at once.
func TestFullWindowHurries(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1, Coroutines: 4, ResendAfter: 500 * sim.Microsecond}, fabric.Config{})
	h := b.holder()
	echo := b.cl.Handle("echo", func(_ *Co, _ Peer, _, _ []byte) int { return 8 })
	b.cl.Spawn(1, 0, func(c *Co) {
		c.Phase(all(phaseExecution))
		c.Call(0, h.id, make([]byte, 8))
		c.Wait()
	})
	calls := 0
	for range 3 {
		b.cl.Spawn(1, 0, func(c *Co) {
			for range RequestWindow {
				c.Reset()
				c.Phase(all(phaseExecution))
				c.Call(0, echo, make([]byte, 8))
				c.Wait()
				calls++
			}
		})
	}
	b.run(400 * sim.Microsecond) // before the first repetition is due
	if calls != 3*RequestWindow {
		t.Errorf("%d of %d calls in less than the time of a repetition: %v", calls, 3*RequestWindow, b.cl.Waiting(5))
	}
}

// Long requests and long replies can be deferred too, and the bytes are those of the request when it came.
func TestDeferredSegments(t *testing.T) {
	for _, loss := range []uint32{0, 50_000} {
		b := newBed(t, 2, Config{Threads: 1, Coroutines: 4, MaxMessage: 512, MaxRequest: 8192, MaxReply: 16384}, fabric.Config{LossPPM: loss})
		h := b.holder()
		done := 0
		for i := range 4 {
			b.cl.Spawn(1, 0, func(c *Co) {
				for n := range 10 {
					c.Reset()
					c.Phase(all(phaseExecution))
					req := make([]byte, 5000)
					for j := range req {
						req[j] = byte(j*7 + i + n)
					}
					r := c.Call(0, h.id, req)
					clear(req)
					if err := c.Wait(); err != nil {
						t.Error(err)
					}
					if len(r.B) != 10_000 {
						t.Fatalf("%d bytes of reply", len(r.B))
					}
					for j, x := range r.B {
						if x != byte(j%5000*7+i+n) {
							t.Fatalf("byte %d is wrong", j)
						}
					}
				}
				done++
			})
		}
		b.cl.SpawnBackground(0, 0, "answers", func(c *Co) {
			for {
				c.Sleep(300 * sim.Microsecond)
				for _, x := range h.tickets {
					x.Answer(c, func(_ *Co, req, rep []byte) int { return copy(rep, req) + copy(rep[len(req):], req) })
				}
				h.tickets = nil
			}
		})
		b.run(2000 * sim.Millisecond)
		if done != 4 {
			t.Errorf("loss %d: %d of 4 are done: %v", loss, done, b.cl.Waiting(5))
		}
	}
}

// Whoever asked and has crashed is gone; its answer is written for nobody. Whoever is asked and crashes takes
// the tickets along, and a late answer to one of before does nothing.
func TestCrashesAroundADeferredRequest(t *testing.T) {
	for _, crash := range []int{0, 1} {
		for _, again := range []bool{false, true} { // the caller has asked again before the crash
			for _, restart := range []bool{false, true} {
				name := fmt.Sprintf("machine %d crashes, asked again %v, restarts %v", crash, again, restart)
				b := newBed(t, 3, Config{Threads: 1, Coroutines: 1}, fabric.Config{})
				h := b.holder()
				var got []error
				b.cl.Spawn(1, 0, func(c *Co) {
					c.Phase(all(phaseExecution))
					c.Call(0, h.id, make([]byte, 8))
					got = append(got, c.Wait())
				})
				b.run(100 * sim.Microsecond)
				if again {
					b.run(400 * sim.Microsecond)
				}
				old := h.tickets[0]
				if err := b.cl.Crash(crash); err != nil {
					t.Fatal(err)
				}
				if !old.Gone() {
					t.Errorf("%s: the ticket is not gone", name)
				}
				if restart {
					if _, err := b.cl.Restart(crash); err != nil {
						t.Fatal(err)
					}
				}
				b.run(2 * sim.Millisecond)
				if crash == 0 && (len(got) != 1 || !errors.Is(got[0], ErrUnreachable)) {
					t.Errorf("%s: the caller got %v", name, got)
				}
				if !old.Gone() {
					t.Errorf("%s: the ticket is not gone after a while", name)
				}
				ran := 0
				answer := func(c *Co) {
					if ran == 0 {
						old.Answer(c, func(*Co, []byte, []byte) int { ran++; return 8 })
					}
				}
				if crash == 0 && !restart {
					continue
				}
				b.cl.SpawnBackground(0, 0, "answer", answer)
				b.run(2 * sim.Millisecond)
				if want := crash; ran != want {
					t.Errorf("%s: the answer was written %d times, want %d", name, ran, want)
				}
				if restart { // the machine that began anew asks, or is asked, anew
					b.cl.SpawnBackground(0, 0, "all", func(c *Co) {
						for _, x := range h.tickets[1:] {
							x.Answer(c, func(*Co, []byte, []byte) int { return 8 })
						}
					})
					if crash == 0 {
						b.cl.Spawn(2, 0, func(c *Co) {
							c.Call(0, h.id, make([]byte, 8))
							got = append(got, c.Wait())
						})
						b.run(100 * sim.Microsecond)
						b.cl.SpawnBackground(0, 0, "late", func(c *Co) {
							h.tickets[1].Answer(c, func(*Co, []byte, []byte) int { return 8 })
						})
					}
					b.run(2 * sim.Millisecond)
					if last := got[len(got)-1]; last != nil {
						t.Errorf("%s: after the restart %v", name, got)
					}
				}
				if !b.cl.Quiet() {
					t.Errorf("%s: not quiet: %v", name, b.cl.Waiting(5))
				}
			}
		}
	}
}

// The answer lies with the server while its caller is on its way to ask again, and the caller crashes.
func TestCallerCrashesOnItsWayToAskAgain(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1, Coroutines: 1}, fabric.Config{})
	h := b.holder()
	b.cl.Spawn(1, 0, func(c *Co) {
		c.Phase(all(phaseExecution))
		c.Call(0, h.id, make([]byte, 8))
		c.Wait()
	})
	b.run(20 * sim.Microsecond)
	x := h.tickets[0]
	for range 5000 {
		if b.run(100 * sim.Nanosecond); x.moved {
			break
		}
	}
	b.cl.SpawnBackground(0, 0, "answer", func(c *Co) {
		x.Answer(c, func(*Co, []byte, []byte) int { return 8 })
	})
	b.run(500 * sim.Nanosecond)
	if x.state != ticketAnswered {
		t.Fatalf("the ticket's state is %d", x.state)
	}
	if err := b.cl.Crash(1); err != nil {
		t.Fatal(err)
	}
	if _, err := b.cl.Restart(1); err != nil {
		t.Fatal(err)
	}
	h.tickets = nil
	b.run(2 * sim.Millisecond)
	for _, y := range h.tickets { // it began anew
		b.cl.SpawnBackground(0, 0, "answer again", func(c *Co) { y.Answer(c, func(*Co, []byte, []byte) int { return 8 }) })
	}
	b.run(2 * sim.Millisecond)
	if len(h.tickets) != 1 || !b.cl.Quiet() {
		t.Errorf("asked %d times since; %v", len(h.tickets), b.cl.Waiting(5))
	}
}

// An answer by another thread of the machine goes by a line that both have in their caches, at the time of
// the one and when the other's loop gets to it.
func TestAnswerByAnotherThread(t *testing.T) {
	took := func(thread int) (Time, Time) {
		b := newBed(t, 2, Config{Threads: 2, Coroutines: 1}, fabric.Config{})
		h := b.holder()
		var at, took Time
		var on []int
		b.cl.Spawn(1, 0, func(c *Co) {
			c.Phase(all(phaseExecution))
			c.Call(0, h.id, make([]byte, 8))
			c.Wait()
			took = c.Now() - at
		})
		b.run(10 * sim.Microsecond)
		busy := b.cl.BusyPS(0, thread)
		b.cl.SpawnBackground(0, thread, "answers", func(c *Co) {
			c.Compute(1000)
			at = c.Now()
			h.tickets[0].Answer(c, func(c *Co, _, _ []byte) int {
				on = append(on, c.Thread())
				return 8
			})
		})
		b.run(20 * sim.Microsecond)
		if len(on) != 1 || on[0] != 0 || took <= 0 {
			t.Fatalf("answered on threads %v in %d ps", on, took)
		}
		return took, b.cl.BusyPS(0, thread) - busy
	}
	cpu := newBed(t, 2, Config{Threads: 1}, fabric.Config{}).f.Machine(0).CPU
	own, _ := took(0)
	other, busy := took(1)
	if other < own || other > own+sim.Microsecond {
		t.Errorf("%d ps by the own thread, %d by another", own, other)
	}
	if computed := 1000 * 1_000_000 / cpu.MHz; busy < computed+cpu.Atomic {
		t.Errorf("another thread was busy for %d ps, of which it computed for %d: a locked instruction takes %d", busy, computed, cpu.Atomic)
	}
}

// A ticket is not answered twice, nor kept by whom it is not for.
func TestMisuseOfTickets(t *testing.T) {
	for want, f := range map[string]func(b *bed, c *Co){
		"handles no request": func(_ *bed, c *Co) { c.Defer() },
		"have it handled by HandleDeferring": func(b *bed, c *Co) {
			id := b.cl.Handle("plain", func(c *Co, _ Peer, _, _ []byte) int { c.Defer(); return 0 })
			c.Call(0, id, nil)
		},
		"no reply to defer": func(b *bed, c *Co) {
			id := b.cl.HandleDeferring("d", func(c *Co, _ Peer, _, _ []byte) int { c.Defer(); return 0 })
			c.Phase(phaseExecution, Mode{Passive: true})
			c.Call(0, id, nil)
		},
		"twice": func(b *bed, c *Co) {
			id := b.cl.HandleDeferring("d", func(c *Co, _ Peer, _, _ []byte) int { c.Defer(); c.Defer(); return 0 })
			c.Call(0, id, nil)
		},
		"that is answered already": func(b *bed, c *Co) {
			var x *Ticket
			id := b.cl.HandleDeferring("d", func(c *Co, _ Peer, _, _ []byte) int { x = c.Defer(); return 0 })
			c.Phase(all(phaseExecution))
			c.Call(0, id, nil)
			for range 2 {
				x.Answer(c, func(*Co, []byte, []byte) int { return 0 })
			}
		},
		"on which it does not run": func(b *bed, c *Co) {
			c.w.cl.machines[1].workers[0].post(c, mail{})
		},
	} {
		t.Run(want, func(t *testing.T) {
			b := newBed(t, 2, Config{Threads: 1, Coroutines: 1}, fabric.Config{})
			said := ""
			b.cl.Spawn(0, 0, func(c *Co) {
				defer func() { said = fmt.Sprint(recover()) }()
				f(b, c)
			})
			b.run(20 * sim.Microsecond)
			if !strings.Contains(said, want) {
				t.Errorf("it says %q", said)
			}
		})
	}
}

// Plain systems have no further rpc for it.
func TestPlainSystemsDoNotDefer(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1}, fabric.Config{})
	if b.cl.Handle("a", nil) != 0 || b.cl.Handle("b", nil) != 1 || b.cl.RPCName(2) != "" {
		t.Error("an rpc of its own for nothing")
	}
	if b.cl.HandleDeferring("c", nil) != 3 || b.cl.RPCName(2) != "r2.again" || b.cl.HandleDeferring("d", nil) != 4 {
		t.Errorf("rpcs %s, %s, %s", b.cl.RPCName(2), b.cl.RPCName(3), b.cl.RPCName(4))
	}
}
