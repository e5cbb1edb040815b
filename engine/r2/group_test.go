package r2

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/fabric"
	"drtmx/engine/metrics"
	"drtmx/engine/sim"
)

// A coroutine goes on with what is back while its other group is under way, and the other way round: the group that is waited for
// decides, not the order of posts. Each Wait is a round trip only where it has to wait.
func TestGroupsOverlap(t *testing.T) {
	const slow = 30 * sim.Microsecond
	b := newBed(t, 3, Config{Threads: 1}, fabric.Config{})
	b.cl.handle(3, func(c *Co, _ Peer, req, rep []byte) int {
		c.Compute(int(slow / sim.Nanosecond * 2)) // of at least 2 GHz
		return copy(rep, req)
	})
	var fast, late, zero, trips = Time(0), Time(0), Time(0), 0
	var value uint64
	b.cl.Spawn(0, 0, func(c *Co) {
		c.Phase(all(phaseExecution))
		from := c.Now()
		slowly, quickly, sums := c.Group(), c.Group(), metrics.ForPhases[uint32]()
		r := slowly.Call(2, 3, []byte("B"))
		l := quickly.List(b.loc(1, 0), true)
		was, got := l.CAS(b.loc(1, 0), 0, 7), l.Read(b.loc(1, 0), 8)
		l.Post()
		c.Write(b.loc(1, 64), make([]byte, 8))
		if err := quickly.Wait(); err != nil {
			t.Error(err)
		}
		fast = c.Now() - from
		value = binary.LittleEndian.Uint64(was.B)<<8 | binary.LittleEndian.Uint64(got.B)
		if err := c.Wait(); err != nil { // of group 0 alone
			t.Error(err)
		}
		zero = c.Now() - from
		if err := slowly.Wait(); err != nil || string(r.B) != "B" {
			t.Error(err, string(r.B))
		}
		late = c.Now() - from
		trips = c.TakeTrips(sums)
		if err := errors.Join(slowly.Wait(), quickly.Wait(), c.Wait()); err != nil {
			t.Error(err)
		}
		if n := c.TakeTrips(sums); n != 0 {
			t.Errorf("waiting for nothing: %d round trips", n)
		}
	})
	b.run(200 * sim.Microsecond)
	if value != 7 || fast == 0 || fast > 5*sim.Microsecond || zero > 5*sim.Microsecond || late < slow || trips < 2 || trips > 3 {
		t.Errorf("the CAS and READ gave %d after %d ps, group 0 was complete after %d, the call after %d, in %d round trips", value, fast, zero, late, trips)
	}
}

// A request that fails ends its own group with the error, and no other one; and what the group has posted since is new.
func TestGroupsFailApart(t *testing.T) {
	b := newBed(t, 3, Config{Threads: 1}, fabric.Config{})
	var bad, good, zero, long, again error
	b.cl.Spawn(0, 0, func(c *Co) {
		c.Phase(all(phaseExecution))
		a, z := c.Group(), c.Group()
		a.Read(b.loc(1, regionBytes), 8) // beyond the region
		z.Read(b.loc(2, 0), 8)
		c.FAA(b.loc(2, 64), 1)
		good, bad, zero = z.Wait(), a.Wait(), c.Wait()
		z.Call(2, 3, make([]byte, b.cl.MaxPayload()+1))
		a.Read(b.loc(2, 0), 8)
		again, long = a.Wait(), z.Wait()
	})
	b.run(100 * sim.Microsecond)
	if bad == nil || good != nil || zero != nil || again != nil || long == nil {
		t.Errorf("beyond the region: %v; elsewhere: %v and %v; later: %v; too long: %v", bad, good, zero, again, long)
	}
}

// groupRun has coroutines that post everything in groups at random, and that wait for them in any order.
type groupRun struct {
	*bed
	each, done int
	added      [3]uint64 // by FAA, by machine
	wrong      []string
}

func (x *groupRun) Errorf(format string, args ...any) {
	x.wrong = append(x.wrong, fmt.Sprintf(format, args...))
}

func (x *groupRun) client(c *Co) {
	for range x.each {
		c.Reset()
		c.Phase(phaseExecution, Mode{Outstanding: c.Rand().Intn(4) > 0, Doorbell: c.Rand().Intn(2) > 0})
		groups := []*Group{&c.zero}
		for range c.Rand().Intn(4) {
			groups = append(groups, c.Group())
		}
		checks := make([][]func(), len(groups))
		for range 1 + c.Rand().Intn(12) {
			k := c.Rand().Intn(len(groups))
			checks[k] = append(checks[k], x.post(c, groups[k]))
		}
		for _, k := range c.Rand().Perm(len(groups)) {
			if err := groups[k].Wait(); err != nil {
				x.Errorf("%v", err)
			}
			for _, check := range checks[k] {
				check()
			}
		}
	}
	x.done++
}

// post posts one request of a group, and returns what holds when the group is complete.
func (x *groupRun) post(c *Co, g *Group) (check func()) {
	m := c.Rand().Intn(3)
	own := Addr(4096 + 64*(int(c.ID())%64))
	switch c.Rand().Intn(5) {
	case 0: // words that hold their address
		at := Addr(8 * c.Rand().Intn(256))
		r := g.Read(x.loc(m, at), 64)
		return func() {
			if v := binary.LittleEndian.Uint64(r.B); v != uint64(at) {
				x.Errorf("the word at %d is %d", at, v)
			}
		}
	case 1:
		x.added[m]++
		g.FAA(x.loc(m, 1<<16), 1)
		return func() {}
	case 2: // what a list writes it reads
		v := c.Rand().Uint64()
		l := g.List(x.loc(m, own), false)
		l.Write(x.loc(m, own), binary.LittleEndian.AppendUint64(nil, v))
		r := l.Read(x.loc(m, own), 8)
		l.Post()
		return func() {
			if got := binary.LittleEndian.Uint64(r.B); got != v {
				x.Errorf("%x was written, and %x read", v, got)
			}
		}
	default:
		n := 1 + c.Rand().Intn(64)
		if c.Rand().Intn(8) == 0 {
			n = x.cl.MaxPayload()
		}
		req := strings.Repeat(string(rune('a'+c.Rand().Intn(26))), n)
		r := g.Call(m, 3, []byte(req))
		return func() {
			if string(r.B) != req {
				x.Errorf("%d bytes asked, %d answered", n, len(r.B))
			}
		}
	}
}

// Whatever is in which group and in whatever order they are waited for: a group that is complete has all its results, through lost
// packets and datagrams, repeated requests, long messages, lists and rings, in every mode; nothing is done twice; and two runs are the same.
func TestGroupsAtRandom(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := Config{Threads: 1 + rapid.IntRange(0, 1).Draw(r, "threads"), Coroutines: 4, MaxMessage: 256, MaxRequest: 1024, ResendAfter: 20 * sim.Microsecond,
			SendDepth: rapid.IntRange(8, 64).Draw(r, "depth"), Transport: Transport(rapid.IntRange(0, 2).Draw(r, "transport"))}
		loss := uint32(rapid.IntRange(0, 2).Draw(r, "loss") * 20_000)
		var hashes [2]uint64
		for k := range hashes {
			x := &groupRun{bed: newBed(t, 3, c, fabric.Config{LossPPM: loss, TornReads: true}), each: 8}
			x.cl.handle(3, func(c *Co, _ Peer, req, rep []byte) int { return copy(rep, req) })
			for m := range 3 {
				for at := Addr(0); at < 4096; at += 8 {
					binary.LittleEndian.PutUint64(x.cl.Mem(m).Bytes(x.base[m]+at, 8), uint64(at))
				}
				for i := range 4 {
					x.cl.Spawn(m, i%x.cl.Threads(m), x.client)
				}
			}
			for until := x.s.Now() + 100*sim.Millisecond; x.done < 12 && x.s.Now() < until; {
				x.run(500 * sim.Microsecond)
			}
			if x.done != 12 || len(x.wrong) > 0 {
				r.Fatalf("%d of 12 are done; %v; %v", x.done, x.wrong, x.cl.Waiting(3))
			}
			for m, n := range x.added {
				if got := x.word(m, 1<<16); got != n {
					r.Fatalf("machine %d: %d were added, there are %d", m, n, got)
				}
			}
			hashes[k] = x.s.TraceHash()
			x.s.Close()
			if err := x.f.Close(); err != nil {
				r.Fatal(err)
			}
		}
		if hashes[0] != hashes[1] {
			r.Errorf("two runs differ")
		}
	})
}

// Reset takes groups back, and not those with requests under way: their buffers would be others'. A crash takes all.
func TestGroupsAreTakenBack(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1, ConnectTime: 2 * sim.Microsecond}, fabric.Config{})
	rounds, same := 0, true
	b.cl.Spawn(0, 0, func(c *Co) {
		var first *Group
		for range 100 {
			c.Reset()
			c.Phase(all(phaseExecution))
			g := c.Group()
			if first == nil {
				first = g
			}
			same = same && g == first && g != c.Group()
			g.Read(b.loc(1, 0), 8)
			if err := g.Wait(); err != nil && !errors.Is(err, ErrUnreachable) {
				t.Error(err)
			}
			rounds++
		}
	})
	b.run(20 * sim.Microsecond)
	b.crash(0)
	b.restart(0)
	b.run(500 * sim.Microsecond)
	if n := len(b.cl.machines[0].workers[0].groups); rounds < 101 || !same || n != 2 {
		t.Errorf("%d rounds, the same groups: %v, %d in all", rounds, same, n)
	}
	var said string
	b.cl.Spawn(1, 0, func(c *Co) {
		defer func() { said = fmt.Sprint(recover()) }()
		c.Phase(all(phaseExecution))
		c.Group().Read(b.loc(0, 0), 8)
		c.Reset()
	})
	b.run(100 * sim.Microsecond)
	if !strings.HasPrefix(said, "r2: Reset of m1.t0.c0 at ") || !strings.HasSuffix(said, " while a group has 1 requests under way; Wait for it first") {
		t.Errorf("it panics with %q", said)
	}
}

// A watchdog says what a coroutine waits for, in a group of its own too.
func TestWaitingForAGroup(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1}, fabric.Config{})
	b.cl.Spawn(0, 0, func(c *Co) {
		c.Phase(all(phaseLock))
		g := c.Group()
		g.Read(b.loc(1, 0), 8)
		g.Read(b.loc(1, 64), 8)
		g.Wait()
	})
	b.run(1500 * sim.Nanosecond)
	if got := b.cl.Waiting(5); len(got) != 1 || got[0] != "m0.t0.c0: waits for 2 requests in phase lock" {
		t.Errorf("%q", got)
	}
}

// Requests in groups allocate nothing once their buffers are there.
func TestGroupsAllocateNothing(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1, Coroutines: 4}, fabric.Config{})
	b.cl.handle(3, func(c *Co, _ Peer, req, rep []byte) int { return copy(rep, req) })
	rounds := 0
	word, req := make([]byte, 8), make([]byte, 16)
	for range 4 {
		b.cl.Spawn(0, 0, func(c *Co) {
			for {
				c.Reset()
				c.Phase(all(phaseExecution))
				x, y := c.Group(), c.Group()
				l := x.List(b.loc(1, 0), true)
				l.CAS(b.loc(1, 0), 1, 2)
				l.Read(b.loc(1, 0), 64)
				l.Post()
				y.Write(b.loc(1, 64), word)
				y.Call(1, 3, req)
				x.Wait()
				c.Read(b.loc(1, 128), 8)
				y.Wait()
				c.Wait()
				rounds++
			}
		})
	}
	b.run(2 * sim.Millisecond)
	var before, after runtime.MemStats
	from := rounds
	runtime.ReadMemStats(&before)
	b.run(2 * sim.Millisecond)
	runtime.ReadMemStats(&after)
	if n := after.Mallocs - before.Mallocs; n > uint64(rounds-from)/100 || rounds-from < 1000 {
		t.Errorf("%d allocations in %d rounds", n, rounds-from)
	}
}
