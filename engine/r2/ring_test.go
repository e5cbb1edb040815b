package r2

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/r2/datagram"
	"drtmx/engine/sim"
)

// ringRun has every coroutine call the others with payloads of all sizes, and
// checks that handlers get exactly these bytes, once each, and callers theirs.
func ringRun(t *testing.T, transport Transport, lossPPM uint32, resend Time) (trace uint64, counts fabric.VerbCounts) {
	const each, coroutines = 200, 4
	perMachine := []int{2, 2, 1} // threads that serve several, too
	b := newBed(t, 3, Config{PerMachine: perMachine, Coroutines: coroutines, MaxMessage: 256, Transport: transport, ResendAfter: resend},
		fabric.Config{LossPPM: lossPPM, TornReads: true})
	payload := func(id uint64) []byte {
		p := binary.LittleEndian.AppendUint64(nil, id)
		for n := int(id*7%200) + 1; len(p) < n; {
			p = append(p, byte(id)^byte(len(p)))
		}
		return p
	}
	served := map[uint64]int{}
	b.cl.handle(3, func(c *Co, from Peer, req, rep []byte) int {
		id := binary.LittleEndian.Uint64(req)
		served[id]++
		if !bytes.Equal(req, payload(id)) {
			t.Errorf("request %x came as %x", payload(id), req)
		}
		c.Annotate(id)
		c.Load64(b.base[c.Machine()]) // waits for the core's local time
		for i, x := range req {
			rep[len(req)-1-i] = x
		}
		return len(req)
	})
	finished, wanted := 0, 0
	for m, threads := range perMachine {
		for th := range threads {
			for k := range coroutines {
				wanted++
				b.cl.Spawn(m, th, func(c *Co) {
					for i := range each {
						id := uint64(m)<<40 | uint64(th)<<32 | uint64(k)<<24 | uint64(i)
						c.Reset()
						c.Phase(phaseExecution, Mode{Outstanding: true, Doorbell: i%3 == 0, Passive: i%4 == 0})
						r := c.Call((m+1+i%2)%3, 3, payload(id))
						if err := c.Wait(); err != nil {
							t.Error(err)
						}
						if r == nil {
							continue
						}
						checkNotes(t, r, id)
						want := payload(id)
						for l, h := 0, len(want)-1; l < h; l, h = l+1, h-1 {
							want[l], want[h] = want[h], want[l]
						}
						if !bytes.Equal(r.B, want) {
							t.Errorf("reply %x, want %x", r.B, want)
						}
					}
					finished++
				})
			}
		}
	}
	b.run(50 * sim.Millisecond)
	if finished != wanted || len(served) != wanted*each {
		t.Fatalf("%d of %d coroutines finished, %d of %d requests served; %v", finished, wanted, len(served), wanted*each, b.cl.Waiting(5))
	}
	for id, n := range served {
		if n != 1 {
			t.Fatalf("request %x was served %d times", id, n)
		}
	}
	if !b.cl.Quiet() || b.cl.open != 0 {
		t.Errorf("%d requests are open at the end", b.cl.open)
	}
	return b.s.TraceHash(), b.f.Counts()
}

// By WRITE, and by WRITE with replies over UD: the very bytes, exactly once,
// the same in every run, whatever gets lost.
func TestRings(t *testing.T) {
	for _, tt := range []struct {
		transport Transport
		loss      uint32
		resend    Time
	}{
		{Writes, 0, 0}, {Hybrid, 0, 0}, {Hybrid, 50_000, 20 * sim.Microsecond},
		{Writes, 0, 3 * sim.Microsecond}, // repeated while the first is under way
		{Hybrid, 50_000, 3 * sim.Microsecond},
	} {
		t.Run(fmt.Sprint(tt), func(t *testing.T) {
			trace, n := ringRun(t, tt.transport, tt.loss, tt.resend)
			if again, _ := ringRun(t, tt.transport, tt.loss, tt.resend); again != trace {
				t.Errorf("traces %x and %x of the same run", trace, again)
			}
			if tt.resend == 0 {
				// Passive requests may owe receipts of their own, as datagrams.
				requests, sends := uint64(20*200), n.Posted[fabric.Send]
				switch writes := n.Posted[fabric.Write]; {
				case tt.transport == Writes && (writes != requests+requests*3/4 || sends > requests/8):
					t.Errorf("%d WRITEs and %d SENDs for %d requests, a quarter of them without reply", writes, sends, requests)
				case tt.transport == Hybrid && (writes != requests || sends < requests*3/4):
					t.Errorf("%d WRITEs and %d SENDs for %d requests, a quarter of them without reply", writes, sends, requests)
				}
			}
		})
	}
}

// A reply stays in its slot while passive requests pass by, until its sequence number
// comes again: it must not answer that request.
func TestReplyOfALapBefore(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1, Coroutines: 1, Transport: Writes, MaxMessage: 64}, fabric.Config{})
	b.cl.handle(3, func(c *Co, _ Peer, req, rep []byte) int { return copy(rep, req) })
	const laps = 1 << datagram.SeqBits
	var replies []uint64
	b.cl.Spawn(0, 0, func(c *Co) {
		for i := range uint64(laps + 1) {
			c.Reset()
			c.Phase(phaseExecution, Mode{Outstanding: true, Doorbell: true, Passive: i%laps != 0})
			r := c.Call(1, 3, binary.LittleEndian.AppendUint64(nil, i))
			if err := c.Wait(); err != nil {
				t.Error(err)
			}
			if r != nil {
				replies = append(replies, binary.LittleEndian.Uint64(r.B))
			}
		}
	})
	b.run(5 * sim.Millisecond)
	if len(replies) != 2 || replies[0] != 0 || replies[1] != laps {
		t.Errorf("requests 0 and %d have the replies of %d", laps, replies)
	}
}

// A core that waits for its local time in the middle of a turn has looked at its rings in that turn:
// what it does from then on is work, when it is over.
func TestWorkBehindRingsInVain(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1, Coroutines: 1, Transport: Writes, MaxMessage: 64}, fabric.Config{})
	var work Time
	b.cl.Spawn(0, 0, func(c *Co) {
		began := c.Now()
		c.Compute(10_000)
		c.Load64(b.base[0])
		c.Compute(10_000)
		work = c.Now() - began
	})
	for range 100 {
		b.run(100 * sim.Nanosecond)
		if busy := b.cl.BusyPS(0, 0); busy > b.s.Now() {
			t.Fatalf("busy for %d ps of %d", busy, b.s.Now())
		}
	}
	if busy := b.cl.BusyPS(0, 0); work == 0 || busy < work {
		t.Errorf("busy for %d ps, its work took %d", busy, work)
	}
}

// writers is the rate of WRITEs of one machine's threads, each with its own
// queue pair, a doorbell for every request.
func writers(t *testing.T, threads int, shared bool, change func(*profile.Profile)) int {
	p, err := profile.Load("val")
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(p)
	}
	s := sim.New(sim.Options{Seed: 1})
	defer s.Close()
	f, err := fabric.New(s, fabric.Config{Profile: p, Machines: 2, NICs: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cl, err := New(s, f, Config{Threads: threads, SharedContext: shared})
	if err != nil {
		t.Fatal(err)
	}
	a, err := cl.Mem(1).Alloc(host.Alloc{Name: "target", Bytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	key := cl.Mem(1).Register(a, 1<<20, host.RemoteWrite).RKey
	n := 0
	for th := range threads {
		for range 6 {
			cl.Spawn(0, th, func(c *Co) {
				for {
					c.Phase(phaseExecution, Mode{Outstanding: true})
					c.Write(Loc{1, key, a + Addr(c.Rand().Uint64n(1<<14))*64}, make([]byte, 64))
					if err := c.Wait(); err != nil {
						t.Error(err)
						return
					}
					n++
				}
			})
		}
	}
	if err := s.Run(60 * sim.Microsecond); err != nil {
		t.Fatal(err)
	}
	return n
}

// The false synchronisation of a shared context (thesis figure 2-2a) comes from
// its buffers: up to seven queue pairs there is none, and none with enough of
// them either.
func TestSharedContext(t *testing.T) {
	enough := func(p *profile.Profile) { p.NIC.MMIODedicated.Value = 24 }
	few, fewShared := writers(t, 7, false, nil), writers(t, 7, true, nil)
	if few != fewShared {
		t.Errorf("seven threads: %d WRITEs with contexts of their own, %d with a shared one", few, fewShared)
	}
	own, shared, ablated := writers(t, 24, false, nil), writers(t, 24, true, nil), writers(t, 24, true, enough)
	if ablated != own {
		t.Errorf("24 threads: %d WRITEs with contexts of their own, %d with a shared one of 24 buffers", own, ablated)
	}
	if drop := 1 - float64(shared)/float64(own); drop < 0.4 {
		t.Errorf("24 threads: a shared context costs %.0f %%", 100*drop)
	}
	t.Logf("24 threads: %d WRITEs, shared %d", own, shared)
}
