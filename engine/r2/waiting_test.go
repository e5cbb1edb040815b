package r2

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/sim"
)

// A handler that waits asks another server, which asks the next: the answers come back through all of them,
// once each, however many are under way and whatever gets lost; all three machines do so at a time.
func TestWaitingHandlersCallEachOther(t *testing.T) {
	for _, x := range []struct {
		name string
		c    Config
		fc   fabric.Config
	}{
		{"ud", Config{}, fabric.Config{}},
		{"lossy", Config{ResendAfter: 20 * sim.Microsecond}, fabric.Config{LossPPM: 50_000}},
		{"writes", Config{Transport: Writes}, fabric.Config{}},
		{"tcp", Config{}, vale(t)},
	} {
		t.Run(x.name, func(t *testing.T) {
			x.c.Threads, x.c.Coroutines = 2, 8
			b := newBed(t, 3, x.c, x.fc)
			served := map[uint64]int{}
			var id uint8
			id = b.cl.HandleWaiting("visit", func(c *Co, from Peer, req, rep []byte) int {
				v := binary.LittleEndian.Uint64(req)
				served[v]++
				c.Annotate(v)
				if hops := v & 0xff; hops > 0 {
					c.Phase(all(phaseExecution))
					r := c.Call((c.Machine()+1)%3, id, le(v-1))
					if err := c.Wait(); err != nil {
						t.Error(err)
					}
					checkNotes(t, r, v-1)
					return copy(rep, le(binary.LittleEndian.Uint64(r.B)+1))
				}
				c.Sleep(sim.Microsecond)
				return copy(rep, le(v&^0xff))
			})
			done := 0
			for m := range 3 {
				for i := range 16 {
					b.cl.Spawn(m, i%2, func(c *Co) {
						for n := range 10 {
							c.Reset()
							c.Phase(all(phaseExecution))
							v := uint64(m)<<48 | uint64(i)<<32 | uint64(n)<<16 | 7
							r := c.Call((m+n)%3, id, le(v)) // itself too
							if err := c.Wait(); err != nil {
								t.Error(err)
							}
							if got := binary.LittleEndian.Uint64(r.B); got != v {
								t.Fatalf("%x came back as %x", v, got)
							}
							checkNotes(t, r, v)
						}
						done++
					})
				}
			}
			b.run(2000 * sim.Millisecond)
			if done != 48 || len(served) != 48*10*8 || !b.cl.Quiet() {
				t.Fatalf("%d of 48 are done, %d requests served: %v", done, len(served), b.cl.Waiting(5))
			}
			for v, n := range served {
				if n != 1 {
					t.Fatalf("request %x was served %d times", v, n)
				}
			}
			for _, w := range b.cl.workers {
				if p := &w.waiting; p.made == 0 || p.made > 24*3 || len(p.idle) != p.made {
					t.Errorf("%d coroutines were made for it, %d are idle", p.made, len(p.idle))
				}
			}
			if s := b.cl.Waiting(100); len(s) != 0 {
				t.Errorf("nothing waits, and it says %v", s)
			}
		})
	}
}

// Requests wait for each other: one that came later lets those before it go on. They begin in order, and
// while they wait the thread serves others.
func TestWaitingHandlersSuspend(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1, Coroutines: 64}, fabric.Config{})
	const n = 64
	var in []*Co
	var order []uint64
	id := b.cl.HandleWaiting("barrier", func(c *Co, _ Peer, req, rep []byte) int {
		order = append(order, binary.LittleEndian.Uint64(req))
		if len(order) == n {
			for _, o := range in {
				c.Wake(o)
			}
		} else {
			in = append(in, c)
			c.Suspend()
		}
		return copy(rep, req)
	})
	done := 0
	for i := range n {
		b.cl.Spawn(1, 0, func(c *Co) {
			c.Sleep(Time(i) * 300 * sim.Nanosecond)
			c.Phase(all(phaseExecution))
			r := c.Call(0, id, le(uint64(i)))
			if err := c.Wait(); err != nil || binary.LittleEndian.Uint64(r.B) != uint64(i) {
				t.Errorf("%d: %v, %v", i, err, r.B)
			}
			done++
		})
	}
	b.run(50 * sim.Microsecond)
	if done != n || b.cl.machines[0].workers[0].waiting.made != n {
		t.Errorf("%d of %d passed: %v", done, n, b.cl.Waiting(5))
	}
	for i, v := range order {
		if v != uint64(i) {
			t.Fatalf("request %d began as number %d", v, i)
		}
	}
}

// A passive request has its receipt when it is there, and is served all the same.
func TestWaitingHandlersOfPassiveRequests(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1, Coroutines: 1}, fabric.Config{})
	served, receipts := 0, 0
	id := b.cl.HandleWaiting("tell", func(c *Co, _ Peer, _, _ []byte) int {
		c.Sleep(50 * sim.Microsecond)
		served++
		return 8
	})
	b.cl.OnReceipt(id, func(int, int, int, []byte) { receipts++ })
	b.cl.Spawn(1, 0, func(c *Co) {
		for m := range 2 {
			c.Phase(phaseExecution, Mode{Outstanding: true, Doorbell: true, Passive: true})
			if r := c.Call(m, id, make([]byte, 8)); r != nil {
				t.Error("a passive request has a reply")
			}
		}
		if err := c.Wait(); err != nil || c.Now() > 20*sim.Microsecond {
			t.Errorf("somebody waited until %d ps: %v", c.Now(), err)
		}
	})
	b.run(30 * sim.Microsecond)
	if served != 0 || b.cl.Quiet() {
		t.Error("served already")
	}
	b.run(300 * sim.Microsecond)
	if served != 2 || receipts != 2 || !b.cl.Quiet() {
		t.Errorf("%d of 2 served, %d receipts: %v", served, receipts, b.cl.Waiting(5))
	}
}

// A crash ends what handlers wait for; after a restart they serve as before.
func TestWaitingHandlersAndACrash(t *testing.T) {
	b := newBed(t, 3, Config{Threads: 1, Coroutines: 4}, fabric.Config{})
	inside := b.cl.HandleDeferring("inside", func(c *Co, _ Peer, _, _ []byte) int { c.Defer(); return 0 })
	var seen []error
	id := b.cl.HandleWaiting("outer", func(c *Co, _ Peer, req, _ []byte) int {
		c.Phase(all(phaseExecution))
		c.Call(2, inside, nil)
		seen = append(seen, c.Wait())
		return 0
	})
	echo := b.cl.HandleWaiting("echo", func(*Co, Peer, []byte, []byte) int { return 8 })
	var got []error
	for range 4 {
		b.cl.Spawn(1, 0, func(c *Co) {
			c.Phase(all(phaseExecution))
			c.Call(0, id, nil)
			got = append(got, c.Wait())
			c.Call(0, echo, nil)
			got = append(got, c.Wait())
		})
	}
	b.run(50 * sim.Microsecond)
	if len(got) != 0 {
		t.Fatalf("answered: %v", got)
	}
	if err := b.cl.Crash(2); err != nil { // whom the handlers wait for
		t.Fatal(err)
	}
	b.run(100 * sim.Microsecond)
	if len(seen) != 4 || !errors.Is(seen[3], ErrUnreachable) || len(got) != 8 || got[7] != nil {
		t.Errorf("handlers saw %v, their callers %v", seen, got)
	}
	if _, err := b.cl.Restart(2); err != nil {
		t.Fatal(err)
	}
	b.run(2 * sim.Millisecond)
	got = nil
	for range 3 {
		b.cl.Spawn(1, 0, func(c *Co) {
			c.Phase(all(phaseExecution))
			c.Call(0, id, nil)
			got = append(got, c.Wait())
		})
	}
	b.run(50 * sim.Microsecond)
	if err := b.cl.Crash(0); err != nil { // where they run
		t.Fatal(err)
	}
	b.run(50 * sim.Microsecond)
	if len(got) != 3 || !errors.Is(got[0], ErrUnreachable) {
		t.Errorf("callers got %v", got)
	}
	if _, err := b.cl.Restart(0); err != nil {
		t.Fatal(err)
	}
	b.run(2 * sim.Millisecond)
	if w := b.cl.machines[0].workers[0]; len(w.waiting.idle) != 4 || w.waiting.made != 4 || len(w.tickets) != 0 {
		t.Errorf("after the restart %d of %d coroutines are idle, with %d tickets", len(w.waiting.idle), w.waiting.made, len(w.tickets))
	}
	for range 3 {
		b.cl.Spawn(1, 0, func(c *Co) {
			c.Phase(all(phaseExecution))
			c.Call(0, echo, nil)
			got = append(got, c.Wait())
		})
	}
	b.run(100 * sim.Microsecond)
	if len(got) != 6 || got[5] != nil {
		t.Errorf("after the restart callers got %v", got)
	}
}

// A coroutine of another worker is woken by a locked instruction, whenever it comes: while that worker idles,
// is busy or waits for its local time, and before the coroutine suspends itself.
func TestWakeAcrossWorkers(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 2, Coroutines: 1}, fabric.Config{})
	woken, early := 0, 0
	sleeper := b.cl.SpawnBackground(0, 0, "sleeper", func(c *Co) {
		for {
			c.Suspend()
			woken++
		}
	})
	b.cl.Spawn(0, 0, func(c *Co) {
		for i := range 300 {
			c.Phase(all(phaseExecution))
			c.Compute(500 + i)
			c.Store64(b.base[0], 1)
			c.Read(b.loc(1, 0), 64)
			c.Wait()
		}
	})
	b.cl.Spawn(0, 1, func(c *Co) {
		for i := range 600 { // beyond the end of the other one's work
			c.Sleep(sim.Microsecond + Time(i)*7*sim.Nanosecond)
			before := c.w.Busy
			if c.w.mc.workers[0].Current != nil {
				early++
			}
			c.Wake(sleeper)
			if spent := c.w.Busy - before; spent < c.w.CPU.Atomic {
				t.Fatalf("the wake took %d ps, a locked instruction %d", spent, c.w.CPU.Atomic)
			}
		}
	})
	b.run(3 * sim.Millisecond)
	if woken != 600 || early == 0 || !b.cl.Quiet() {
		t.Fatalf("woken %d times of 600, %d while the worker waited for its local time: %v", woken, early, b.cl.Waiting(5))
	}
	far, said := b.cl.Spawn(1, 0, func(c *Co) { c.Suspend() }), ""
	b.cl.Spawn(0, 0, func(c *Co) {
		defer func() { said = fmt.Sprint(recover()) }()
		c.Wake(far)
	})
	b.run(10 * sim.Microsecond)
	if !strings.Contains(said, "on another machine") {
		t.Errorf("a wake on another machine: %q", said)
	}
}

// A thread that shares its core leaves mail too.
func TestSharedThreadWakesACoroutine(t *testing.T) {
	b := newBed(t, 1, Config{Threads: 1, Coroutines: 1}, fabric.Config{})
	woken := 0
	sleeper := b.cl.SpawnBackground(0, 0, "sleeper", func(c *Co) {
		for {
			c.Suspend()
			woken++
		}
	})
	b.cl.SpawnShared(0, 0, "trainer", func(c *Co) {
		for range 3 {
			c.Wake(sleeper)
			c.Sleep(sim.Millisecond)
		}
	})
	b.run(200 * sim.Millisecond)
	if woken != 3 {
		t.Errorf("woken %d times, want 3", woken)
	}
}

// A reserved thread's coroutines stop at their gate, those in the background go on, and nothing else of the
// machine stops. Draining is what ShutGate says.
func TestReserve(t *testing.T) {
	b := newBed(t, 1, Config{Threads: 2, Coroutines: 2}, fabric.Config{})
	var rounds [2]int
	background := 0
	for i := range 4 {
		b.cl.Spawn(0, i%2, func(c *Co) {
			for {
				c.Gate()
				rounds[i%2]++
				c.Sleep(sim.Microsecond)
			}
		})
	}
	b.cl.SpawnBackground(0, 1, "background", func(c *Co) {
		for {
			background++
			c.Sleep(sim.Microsecond)
		}
	})
	b.run(10 * sim.Microsecond)
	b.cl.Reserve(0, 1, true)
	b.run(5 * sim.Microsecond)
	was, then := rounds, background
	b.run(10 * sim.Microsecond)
	if rounds[1] != was[1] || rounds[0] < was[0]+10 || background < then+5 {
		t.Errorf("reserved: %d and %d rounds, and %d in the background", rounds[0]-was[0], rounds[1]-was[1], background-then)
	}
	b.cl.Reserve(0, 1, false)
	b.run(10 * sim.Microsecond)
	if rounds[1] < was[1]+10 {
		t.Error("given back, it stands still")
	}
	if b.cl.ShutGate(); !b.cl.Draining() {
		t.Error("shut, and not draining")
	}
	b.cl.Reserve(0, 1, true)
	if b.cl.OpenGate(); b.cl.Draining() {
		t.Error("open, and draining")
	}
	was = rounds
	b.run(10 * sim.Microsecond)
	if rounds[0] < was[0]+10 || rounds[1] > was[1]+2 {
		t.Errorf("the gate opened for a reserved thread: %d and %d rounds", rounds[0]-was[0], rounds[1]-was[1])
	}
}
