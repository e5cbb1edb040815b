package r2

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/sim"
)

// A memory node is filled before the run, which takes no virtual time and posts nothing, and is then used by one-sided requests
// alone: threads of two machines take locks there by CAS and count under them, and no count is lost. Its RNICs know a queue pair of
// each thread, and no event of its own is left when all is quiet.
func TestLocksOnAMemoryNode(t *testing.T) {
	const words, each = 4, 50
	b := newBed(t, 3, Config{PerMachine: []int{2, 3, 0}, Coroutines: 2, EmulatedNodes: 6}, fabric.Config{TornReads: true})
	for i := range words {
		binary.LittleEndian.PutUint64(b.cl.Mem(2).Bytes(b.base[2]+Addr(64*i+8), 8), 1000)
	}
	if posted := b.f.Counts().Posted; b.s.Now() != 0 || posted != (fabric.VerbCounts{}).Posted {
		t.Errorf("filling it took until %d ps, and posted %v", b.s.Now(), posted)
	}
	done := 0
	for m := range 2 {
		for th := range b.cl.Threads(m) {
			for range 2 {
				b.cl.Spawn(m, th, func(c *Co) {
					for range each {
						c.Reset()
						c.Phase(all(phaseExecution))
						b.countLocked(c, Addr(64*c.Rand().Intn(words)))
					}
					done++
				})
			}
		}
	}
	b.run(20 * sim.Millisecond)
	sum := uint64(0)
	for i := range words {
		sum += b.word(2, Addr(64*i+8)) - 1000
	}
	if done != 10 || sum != 10*each {
		t.Errorf("%d of 10 coroutines are done, %d counts of %d; %v", done, sum, 10*each, b.cl.Waiting(5))
	}
	if !b.cl.Quiet() || b.cl.Threads(2) != 0 {
		t.Errorf("quiet: %v, %d threads", b.cl.Quiet(), b.cl.Threads(2))
	}
}

// countLocked adds 1 to the word behind a lock of machine 2.
func (b *bed) countLocked(c *Co, at Addr) {
	for {
		l := c.List(b.loc(2, at), true)
		was, n := l.CAS(b.loc(2, at), 0, 1), l.Read(b.loc(2, at+8), 8)
		l.Post()
		if err := c.Wait(); err != nil {
			b.Error(err)
			return
		}
		if binary.LittleEndian.Uint64(was.B) != 0 {
			continue
		}
		c.Write(b.loc(2, at), binary.LittleEndian.AppendUint64(make([]byte, 8), binary.LittleEndian.Uint64(n.B)+1))
		if err := c.Wait(); err != nil {
			b.Error(err)
		}
		return
	}
}

// An RPC to a memory node is refused by Wait, whatever its mode, and the coroutine goes on.
func TestMemoryNodesServeNoRPC(t *testing.T) {
	for _, mode := range []Mode{{}, {Outstanding: true, Doorbell: true}, {Passive: true}} {
		b := newBed(t, 2, Config{PerMachine: []int{1, 0}}, fabric.Config{})
		rpc := b.cl.Handle("test.echo", func(_ *Co, _ Peer, req, rep []byte) int { return copy(rep, req) })
		var call, thread, read error
		b.cl.Spawn(0, 0, func(c *Co) {
			c.Phase(phaseExecution, mode)
			c.Call(1, rpc, []byte("hello"))
			call = c.Wait()
			c.CallThread(1, 1, rpc, []byte("hello"))
			thread = c.Wait()
			c.Read(b.loc(1, 0), 8)
			read = c.Wait()
		})
		b.run(100 * sim.Microsecond)
		want := "r2: rpc test.echo from machine 0 to machine 1: the machine has no threads, so it serves no RPCs; use one-sided requests"
		if !errors.Is(call, ErrNoThreads) || call.Error() != want || !errors.Is(thread, ErrNoThreads) || read != nil {
			t.Errorf("%+v: Call: %v, CallThread: %v, Read: %v", mode, call, thread, read)
		}
		if !b.cl.Quiet() {
			t.Errorf("%+v: not quiet; %v", mode, b.cl.Waiting(5))
		}
	}
}

// A cluster needs threads somewhere, no more than there are cores, and a memory node needs RDMA.
func TestThreadsOfMachines(t *testing.T) {
	for _, x := range []struct {
		threads []int
		tcp     bool
		want    string
	}{
		{[]int{1, 0, 0}, false, ""},
		{[]int{0, 1, 24}, false, ""},
		{[]int{0, 0, 0}, false, "r2: no machine has threads: give at least one some"},
		{[]int{1, -1, 1}, false, "r2: -1 threads on machine 1, it has 24 cores"},
		{[]int{1, 1, 25}, false, "r2: 25 threads on machine 2, it has 24 cores"},
		{[]int{1, 0, 1}, true, "r2: machine 1 has no threads, and the NICs of profile vale have no RDMA: nothing could reach it; give it threads"},
	} {
		s := sim.New(sim.Options{Seed: 1})
		fc := fabric.Config{}
		if x.tcp {
			fc = vale(t)
		}
		fc.Machines = len(x.threads)
		f, err := fabric.New(s, fc)
		if err != nil {
			t.Fatal(err)
		}
		cl, err := New(s, f, Config{PerMachine: x.threads})
		if (err == nil) != (x.want == "") || err != nil && err.Error() != x.want {
			t.Errorf("threads %v: %v, want %q", x.threads, err, x.want)
		}
		if err == nil {
			mustPanic(t, "r2: thread ", func() { cl.Spawn(0, cl.Threads(0), func(*Co) {}) })
		}
		s.Close()
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// mustPanic holds that f panics with a message that begins so.
func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		if got, _ := recover().(string); !strings.HasPrefix(got, want) {
			t.Errorf("panics with %q, want %q", got, want)
		}
	}()
	f()
}
