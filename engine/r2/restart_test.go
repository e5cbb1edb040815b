package r2

import (
	"encoding/binary"
	"errors"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

func (b *bed) crash(m int) {
	b.Helper()
	if err := b.cl.Crash(m); err != nil {
		b.Fatal(err)
	}
}

func (b *bed) restart(m int) (up Time) {
	b.Helper()
	up, err := b.cl.Restart(m)
	if err != nil {
		b.Fatal(err)
	}
	return up
}

// A machine crashes while completions of READs to it are booked far ahead: all of
// them come in order, or complete would not know whose they are.
func TestCrashUnderLoad(t *testing.T) {
	b := newBed(t, 3, Config{Threads: 24, Coroutines: 16}, fabric.Config{NICs: 1})
	failed, done := 0, 0
	for i := range 24 * 16 {
		b.cl.Spawn(0, i%24, func(c *Co) {
			for {
				c.Reset()
				c.Phase(all(phaseExecution))
				for range 4 {
					c.Read(b.loc(1+c.Rand().Intn(2), Addr(c.Rand().Intn(4096))*64), 64)
				}
				if err := c.Wait(); err != nil {
					failed++
				} else {
					done++
				}
			}
		})
	}
	b.run(50 * sim.Microsecond)
	b.crash(1)
	before := done
	b.run(50 * sim.Microsecond)
	if failed < 24*16/2 || done == before {
		t.Errorf("%d failed, %d done after the crash", failed, done-before)
	}
}

// A coroutine that waits for room in the window to a machine while that is started
// again goes on with the new conversation.
func TestStalledOverARestart(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1}, fabric.Config{})
	b.cl.handle(3, func(c *Co, _ Peer, req, rep []byte) int { return 0 })
	var up Time
	var first, second error
	ended := false
	b.cl.Spawn(0, 0, func(c *Co) {
		for up == 0 {
			c.Sleep(sim.Microsecond)
		}
		c.Sleep(up - 2*sim.Microsecond - c.Now())
		c.Compute(22_000) // beyond up: the calls are opened before, and the wait for room ends after
		c.Phase(all(phaseExecution))
		for range RequestWindow + 1 {
			c.Call(1, 3, []byte{1})
		}
		first = c.Wait()
		c.Reset()
		c.Phase(all(phaseExecution))
		c.Call(1, 3, []byte{1})
		second = c.Wait()
		ended = true
	})
	b.run(5 * sim.Microsecond)
	b.crash(1)
	b.run(20 * sim.Microsecond)
	up = b.restart(1)
	b.run(up - b.s.Now() + sim.Millisecond)
	if !ended || !errors.Is(first, ErrUnreachable) || second != nil {
		t.Errorf("ended %v, with %v and %v; %v", ended, first, second, b.cl.Waiting(4))
	}
}

// A call whose doorbell waits for the core's non-temporal stores, while its machine is
// started again, belongs to the new conversation.
func TestFenceOverARestart(t *testing.T) {
	p, err := profile.Load("r74v")
	if err != nil {
		t.Fatal(err)
	}
	for step := range Time(20) {
		b := newBed(t, 2, Config{Threads: 1}, fabric.Config{Profile: p, Durability: true,
			NVM: func(int, int, *profile.NodeType) (host.Device, error) { return &slowDevice{}, nil }})
		a, err := b.cl.Mem(0).Alloc(host.Alloc{Name: "nvm", Bytes: 1 << 20, NVM: true})
		if err != nil {
			t.Fatal(err)
		}
		b.cl.handle(3, func(c *Co, _ Peer, req, rep []byte) int { return 0 })
		var up Time
		ended := false
		b.cl.Spawn(0, 0, func(c *Co) {
			for up == 0 {
				c.Sleep(sim.Microsecond)
			}
			c.Sleep(up - 3*sim.Microsecond + step*200*sim.Nanosecond - c.Now())
			c.StoreNT(a, make([]byte, 20*space.LineBytes))
			c.Phase(phaseExecution, Mode{Outstanding: true})
			c.Call(1, 3, []byte{1})
			if err := c.Wait(); err != nil && !errors.Is(err, ErrUnreachable) {
				t.Error(err)
			}
			ended = true
		})
		b.run(5 * sim.Microsecond)
		b.crash(1)
		b.run(20 * sim.Microsecond)
		up = b.restart(1)
		b.run(up - b.s.Now() + 5*sim.Millisecond)
		if !ended {
			t.Errorf("step %d: the call never ended: %v, open %d", step, b.cl.Waiting(4), b.cl.open)
		}
	}
}

// A core that waits for its own stores is at work until its machine crashes, and no longer.
func TestCrashInAStall(t *testing.T) {
	p, err := profile.Load("r74v")
	if err != nil {
		t.Fatal(err)
	}
	b := newBed(t, 2, Config{Threads: 1}, fabric.Config{Profile: p, Durability: true,
		NVM: func(int, int, *profile.NodeType) (host.Device, error) { return &slowDevice{}, nil }})
	a, err := b.cl.Mem(0).Alloc(host.Alloc{Name: "nvm", Bytes: 1 << 20, NVM: true})
	if err != nil {
		t.Fatal(err)
	}
	b.cl.Spawn(0, 0, func(c *Co) {
		c.StoreNT(a, make([]byte, 4096)) // 6.4 us
		c.Fence()
	})
	b.run(5 * sim.Microsecond)
	busy := b.cl.BusyPS(0, 0)
	b.crash(0)
	if crashed := b.cl.BusyPS(0, 0); busy < 4*sim.Microsecond || crashed != busy {
		t.Errorf("busy for %d ps of 5 µs, after the crash for %d", busy, crashed)
	}
	b.run(5 * sim.Microsecond)
	if down := b.cl.BusyPS(0, 0); down != busy {
		t.Errorf("busy for %d ps, and for %d more while its machine was down", busy, down-busy)
	}
}

// A core stops in the middle of a store: after the restart the bytes are not taken
// for such that are being written.
func TestCrashInAStore(t *testing.T) {
	const bytes = 4096
	cut := 0
	for step := range Time(20) {
		b := newBed(t, 2, Config{Threads: 1, ConnectTime: sim.Microsecond}, fabric.Config{TornReads: true})
		lives := 0
		b.cl.Spawn(1, 0, func(c *Co) {
			if lives++; lives > 1 {
				return
			}
			for {
				c.Store(b.base[1], make([]byte, bytes))
				c.Yield()
			}
		})
		b.cl.Spawn(0, 0, func(c *Co) {
			for err := error(nil); err == nil; err = c.Wait() {
				c.Reset()
				c.Phase(all(phaseExecution))
				c.Read(b.loc(1, 0), bytes)
			}
		})
		b.run(20_300*sim.Nanosecond + step*61*sim.Nanosecond)
		mem := b.cl.Mem(1)
		b.crash(1)
		b.run(50 * sim.Microsecond)
		if mem.BeginAccess(b.base[1], bytes, false) {
			cut++
		}
		mem.EndAccess(b.base[1], bytes, false)
		b.restart(1)
		b.run(100 * sim.Microsecond)
		if mem.BeginAccess(b.base[1], bytes, false) {
			t.Errorf("a crash at %d ns into a store, and after the restart it is under way", step*61)
		}
	}
	if cut == 0 {
		t.Error("no crash met a store")
	}
}

// Doorbell buffers come back with the queue pairs of a machine that starts again.
func TestBuffersOverARestart(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1, ConnectTime: sim.Microsecond, SharedContext: true}, fabric.Config{NICs: 1})
	b.cl.handle(1, func(c *Co, _ Peer, req, rep []byte) int { return 1 })
	for m := range 2 {
		b.cl.Spawn(m, 0, func(c *Co) {
			for {
				c.Reset()
				c.Phase(all(phaseLock))
				c.Read(b.loc(0, 0), 8)
				c.Read(b.loc(1, 0), 8)
				c.Call(1-m, 1, []byte{1})
				c.Wait()
				c.Sleep(sim.Microsecond)
			}
		})
	}
	b.run(50 * sim.Microsecond)
	buffers := func() (out []fabric.MMIOBuffer) {
		for _, w := range b.cl.workers {
			out = append(out, w.ud.Buffer)
			w.pairs.Each(func(q *queuePair) { out = append(out, q.Buffer) })
		}
		return out
	}
	before := buffers()
	for range 8 { // more than there are buffers
		b.crash(1)
		b.run(50 * sim.Microsecond)
		b.restart(1)
		b.run(50 * sim.Microsecond)
	}
	for i, after := range buffers() {
		if before[i] != after || after == 0 {
			t.Errorf("queue pair %d has buffer %d, and after restarts %d", i, before[i], after)
		}
	}
}

// A machine with threads that recover is up when all of them have done so. Until then nothing else of it runs and nobody reaches it.
func TestRecoveringThreads(t *testing.T) {
	const long = 300 * sim.Microsecond
	b := newBed(t, 2, Config{Threads: 2, Coroutines: 1}, quick(t))
	b.echo(map[uint64]int{})
	var up, recovered, began, answered Time
	lives := [2]int{}
	for th := range 2 {
		b.cl.SpawnShared(1, th, "logger", func(c *Co) {
			if lives[th]++; c.Recovering() {
				for until := c.Now() + Time(th+1)*long; c.Now() < until; {
					c.Compute(1000)
				}
				recovered = c.Now()
				c.Recovered()
			}
			b.compute(c) // behind that it has no right to the core any more
		}).Recovers()
		b.cl.SpawnShared(1, th, "trainer", func(c *Co) { began = c.Now() })
		b.cl.Spawn(1, th, func(c *Co) { began = c.Now() })
	}
	b.cl.Spawn(0, 0, func(c *Co) {
		c.Phase(all(phaseExecution))
		for n := uint64(1); ; n++ {
			c.Reset()
			c.Call(1, 3, binary.LittleEndian.AppendUint64(nil, n))
			if c.Wait() == nil {
				answered = c.Now()
			} else {
				c.Sleep(10 * sim.Microsecond)
			}
		}
	})
	b.run(sim.Millisecond)
	b.crash(1)
	b.run(50 * sim.Microsecond)
	began, answered = 0, 0
	up = b.restart(1)
	for end := up + 2*long; b.s.Now() < end; b.run(5 * sim.Microsecond) {
		if b.cl.Up(1) || began > 0 || answered > 0 {
			t.Fatalf("up: %v, others began at %d, an answer at %d; ready to recover at %d, now is %d", b.cl.Up(1), began, answered, up, b.s.Now())
		}
	}
	b.run(5 * sim.Millisecond)
	if !b.cl.Up(1) || recovered < up+2*long || began < recovered || answered < recovered || lives != [2]int{2, 2} {
		t.Errorf("recovered at %d, others began at %d, an answer at %d; threads began %v times", recovered, began, answered, lives)
	}
	b.crash(1)
	b.restart(1)
	b.run(5 * sim.Millisecond)
	if !b.cl.Up(1) || lives != [2]int{3, 3} {
		t.Errorf("up: %v, threads began %v times", b.cl.Up(1), lives)
	}
}

// What is kept beside replies is dropped with their conversation.
func TestAnswersOverRestarts(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1}, fabric.Config{})
	b.cl.handle(3, func(c *Co, _ Peer, req, rep []byte) int {
		c.Annotate(uint64(req[0]))
		return copy(rep, req)
	})
	for m := range 2 {
		b.cl.Spawn(m, 0, func(c *Co) {
			c.Phase(all(phaseExecution))
			for i := byte(0); ; i++ {
				c.Reset()
				if r := c.Call(1-m, 3, []byte{i}); c.Wait() == nil {
					checkNotes(t, r, uint64(i))
				}
			}
		})
	}
	for range 5 {
		b.run(20 * sim.Microsecond)
		b.crash(1)
		b.run(20 * sim.Microsecond)
		b.run(b.restart(1) - b.s.Now() + 20*sim.Microsecond)
	}
	for _, w := range b.cl.workers {
		if n := w.answers.Len(); n == 0 || n > 2 {
			t.Errorf("machine %d keeps %d answers of one caller with one request at a time", w.mc.id, n)
		}
	}
}
