package r2

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/r2/datagram"
	"drtmx/engine/sim"
)

// content are the bytes of a message, all different from those of another and at another place.
func content(id uint64, n int) []byte {
	p := binary.LittleEndian.AppendUint64(nil, id)
	for i := len(p); i < n; i++ {
		p = append(p, byte(uint64(i)*2654435761>>7)^byte(id*31>>3))
	}
	return p[:max(n, 8)]
}

// replySize is how long the reply to a request is; its caller knows, too.
func replySize(id uint64, most int) int { return 8 + int(id*7919%uint64(most-7)) }

// longRun has every coroutine call others with requests of sizes that size chooses, every fifth
// of them passive. It returns what was wrong, nothing if each was served once and intact.
func longRun(t *testing.T, c Config, fc fabric.Config, each int, within Time, plant func(*Cluster), size func(id uint64, most int) int) (wrong []string, trace uint64, counts fabric.VerbCounts) {
	t.Helper()
	b := newBed(t, len(c.PerMachine), c, fc)
	if plant != nil {
		plant(b.cl)
	}
	say := func(format string, args ...any) {
		if len(wrong) < 5 {
			wrong = append(wrong, fmt.Sprintf(format, args...))
		}
	}
	mostRequest, mostReply := b.cl.MaxPayload(), b.cl.MaxReply()
	served := map[uint64]int{}
	b.cl.handle(3, func(co *Co, _ Peer, req, rep []byte) int {
		id := binary.LittleEndian.Uint64(req)
		served[id]++
		if !bytes.Equal(req, content(id, size(id, mostRequest))) {
			say("request %x came with other bytes", id)
		}
		co.Annotate(id)
		co.Load64(b.base[co.Machine()]) // waits for the core's local time
		co.Annotate(^id)
		return copy(rep, content(^id, replySize(id, mostReply)))
	})
	finished, wanted, machines := 0, 0, len(c.PerMachine)
	for m, threads := range c.PerMachine {
		for th := range threads {
			for k := range b.cl.cfg.Coroutines {
				wanted++
				b.cl.Spawn(m, th, func(co *Co) {
					for i := range each {
						id := uint64(m)<<40 | uint64(th)<<32 | uint64(k)<<24 | uint64(i)
						co.Reset()
						co.Phase(phaseExecution, Mode{Outstanding: true, Doorbell: i%3 == 0, Passive: i%5 == 0})
						r := co.Call((m+1+i%(machines-1))%machines, 3, content(id, size(id, mostRequest)))
						if err := co.Wait(); err != nil {
							say("request %x: %v", id, err)
						}
						if r != nil && !bytes.Equal(r.B, content(^id, replySize(id, mostReply))) {
							say("reply to %x came with other bytes", id)
						}
						if r != nil && !slices.Equal(notes(r), []uint64{id, ^id}) {
							say("reply to %x came with other notes", id)
						}
					}
					finished++
				})
			}
		}
	}
	for from := b.s.Now(); b.s.Now() < from+within && (finished < wanted || !b.cl.Quiet()); {
		b.run(100 * sim.Microsecond)
	}
	if finished != wanted || len(served) != wanted*each {
		say("%d of %d coroutines finished, %d of %d requests served; %v", finished, wanted, len(served), wanted*each, b.cl.Waiting(5))
	}
	for id, n := range served {
		if n != 1 {
			say("request %x was served %d times", id, n)
			break
		}
	}
	if !b.cl.Quiet() || b.cl.open != 0 {
		say("%d requests are open at the end", b.cl.open)
	}
	for _, w := range b.cl.workers {
		for _, ch := range w.chans {
			if n := len(ch.parts); n > 0 {
				say("%d requests are here in part at the end", n)
			}
		}
	}
	return wrong, b.s.TraceHash(), b.f.Counts()
}

var _ = 0

func anySize(id uint64, most int) int { return 8 + int(id*104729%uint64(most-7)) }

// Messages of any size arrive exactly once and intact, whatever gets lost, by datagrams, by WRITE
// and over TCP.
func TestLongMessages(t *testing.T) {
	for _, tt := range []struct {
		transport Transport
		loss      uint32
		resend    Time
		tcp       bool
	}{
		{Datagrams, 0, 0, false}, {Datagrams, 30_000, 20 * sim.Microsecond, false},
		{Datagrams, 30_000, 3 * sim.Microsecond, false}, // repeated while the first is under way
		{Writes, 0, 0, false}, {Writes, 20_000, 20 * sim.Microsecond, false}, {Writes, 0, 3 * sim.Microsecond, false},
		{Hybrid, 20_000, 20 * sim.Microsecond, false}, {Datagrams, 1000, 0, true},
	} {
		t.Run(fmt.Sprint(tt), func(t *testing.T) {
			c := Config{PerMachine: []int{2, 2, 1}, Coroutines: 3, MaxMessage: 256, MaxRequest: 3000, MaxReply: 9000, Transport: tt.transport, ResendAfter: tt.resend}
			fc := fabric.Config{LossPPM: tt.loss, TornReads: true}
			if tt.tcp {
				p, err := profile.Load("vale")
				if err != nil {
					t.Fatal(err)
				}
				fc.Profile = p
			}
			wrong, trace, _ := longRun(t, c, fc, 30, 2*sim.Second, nil, anySize)
			for _, s := range wrong {
				t.Error(s)
			}
			if _, again, _ := longRun(t, c, fc, 30, 2*sim.Second, nil, anySize); again != trace {
				t.Errorf("traces %x and %x of the same run", trace, again)
			}
		})
	}
}

// The same for any sizes, loss and limits.
func TestLongMessagesProperty(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := Config{PerMachine: []int{1, 1}, Coroutines: rapid.IntRange(1, 4).Draw(r, "coroutines"), MaxMessage: 64 * rapid.IntRange(1, 64).Draw(r, "message lines"),
			ResendAfter: 10 * sim.Microsecond}
		c.MaxRequest = rapid.IntRange(c.MaxMessage, 50_000).Draw(r, "request")
		c.MaxReply = rapid.IntRange(c.MaxMessage, datagram.MaxSize).Draw(r, "reply")
		loss := uint32(rapid.IntRange(0, 50_000).Draw(r, "loss"))
		sizes := rapid.SliceOfN(rapid.IntRange(8, c.MaxRequest-datagram.HeaderBytes), 8, 8).Draw(r, "sizes")
		wrong, _, _ := longRun(t, c, fabric.Config{LossPPM: loss}, 4, 10*sim.Second, nil, func(id uint64, _ int) int { return sizes[id%uint64(len(sizes))] })
		if len(wrong) > 0 {
			r.Fatal(wrong)
		}
	})
}

// Planted: the number of a segment is not looked at. What is lost or comes twice is then missed.
func TestSegmentsOutOfPlaceAreCaught(t *testing.T) {
	c := Config{PerMachine: []int{1, 1}, Coroutines: 2, MaxMessage: 256, MaxRequest: 3000, MaxReply: 9000, ResendAfter: 20 * sim.Microsecond}
	careless := func(cl *Cluster) { cl.follows = func(uint16, uint16) bool { return true } }
	if wrong, _, _ := longRun(t, c, fabric.Config{LossPPM: 30_000}, 20, 100*sim.Millisecond, careless, anySize); len(wrong) == 0 {
		t.Error("segments that are taken as they come passed for right")
	}
}

// All ask everybody for the largest replies at once: each finds its RECVs, so nothing is repeated.
func TestLongRepliesFindRecvs(t *testing.T) {
	c := Config{PerMachine: []int{2, 2, 2}, Coroutines: 8, MaxReply: 126 << 10}
	b := newBed(t, 3, c, fabric.Config{})
	long := content(1, b.cl.MaxReply())
	b.cl.handle(3, func(_ *Co, _ Peer, _, rep []byte) int { return copy(rep, long) })
	answered, last := 0, Time(0)
	for m := range 3 {
		for th := range 2 {
			for range 8 {
				b.cl.Spawn(m, th, func(co *Co) {
					co.Phase(all(phaseExecution))
					for range 2 {
						co.Reset()
						x, y := co.Call((m+1)%3, 3, []byte("x")), co.Call((m+2)%3, 3, []byte("y"))
						if err := co.Wait(); err != nil || !bytes.Equal(x.B, long) || !bytes.Equal(y.B, long) {
							t.Errorf("replies of %d and %d bytes, %v", len(x.B), len(y.B), err)
						}
						answered += 2
						last = max(last, co.Now())
					}
				})
			}
		}
	}
	b.run(20 * sim.Millisecond)
	n := b.f.Counts()
	if answered != 3*2*8*4 || n.NoRecv != 0 {
		t.Fatalf("%d of %d replies, %d datagrams found no RECV", answered, 3*2*8*4, n.NoRecv)
	}
	per := int(b.cl.whole) - datagram.SegmentHead
	segments := (b.cl.MaxReply() + per - 1) / per
	if sends, most := n.Posted[fabric.Send], uint64(answered*(1+segments+segments/(datagram.SegmentWindow/2)+1)); sends > most {
		t.Errorf("%d datagrams, at most %d without repetitions", sends, most)
	}
	rate := float64(answered*len(long)) / (float64(last) / float64(sim.Second)) / 1e9
	t.Logf("%.1f GB/s of replies over three machines", rate)
	if rate < 10 {
		t.Errorf("%.1f GB/s of replies: they wait for each other", rate)
	}
}

// Where RECVs are few, long replies take their turns: what finds none is repeated, and all come.
func TestLongRepliesWithFewRecvs(t *testing.T) {
	c := Config{PerMachine: []int{1, 1, 1}, Coroutines: 6, MaxRequest: 60_000, MaxReply: 120_000, RecvDepth: []int{12, 12, 12}}
	wrong, _, n := longRun(t, c, fabric.Config{}, 6, 500*sim.Millisecond, nil, anySize)
	for _, s := range wrong {
		t.Error(s)
	}
	if n.NoRecv == 0 {
		t.Error("every datagram found a RECV")
	}
	per := 4096 - datagram.HeaderBytes - datagram.SegmentHead
	if least, sends := uint64(3*6*6*90_000/per), n.Posted[fabric.Send]; sends > 6*least {
		t.Errorf("%d datagrams for what some %d carry", sends, least)
	}
}

// A server that crashes in the middle of a long reply, and a caller in the middle of a long
// request: whoever is left has an error, nothing stays, and afterwards all works again.
func TestCrashInTheMiddleOfLongMessages(t *testing.T) {
	for _, victim := range []int{0, 1} {
		for at := 2 * sim.Microsecond; at < 60*sim.Microsecond; at += 7 * sim.Microsecond {
			b := newBed(t, 2, Config{Threads: 1, Coroutines: 2, MaxRequest: 100_000, MaxReply: 120_000}, fabric.Config{})
			lives := map[uint64]int{}
			b.cl.handle(3, func(_ *Co, _ Peer, req, rep []byte) int {
				id := binary.LittleEndian.Uint64(req)
				lives[id]++
				if !bytes.Equal(req, content(id, 90_000)) {
					t.Errorf("request %x came with other bytes", id)
				}
				return copy(rep, content(^id, 110_000))
			})
			answered, lost, id := 0, 0, uint64(0)
			for range 2 {
				b.cl.Spawn(0, 0, func(co *Co) {
					co.Phase(all(phaseExecution))
					for {
						co.Reset()
						id++
						mine := id
						r := co.Call(1, 3, content(mine, 90_000))
						switch err := co.Wait(); {
						case errors.Is(err, ErrUnreachable):
							lost++
							co.Sleep(20 * sim.Microsecond)
						case err != nil || !bytes.Equal(r.B, content(^mine, 110_000)):
							t.Errorf("reply to %d: %v", mine, err)
						default:
							answered++
						}
					}
				})
			}
			b.run(at)
			if err := b.cl.Crash(victim); err != nil {
				t.Fatal(err)
			}
			b.run(100 * sim.Microsecond)
			before := answered
			if victim == 1 && lost == 0 {
				t.Errorf("crash at %d: nobody has noticed", at)
			}
			if _, err := b.cl.Restart(victim); err != nil {
				t.Fatal(err)
			}
			b.run(2 * sim.Millisecond)
			if answered < before+10 {
				t.Errorf("crash of %d at %d: %d calls answered since, %v", victim, at, answered-before, b.cl.Waiting(3))
			}
			for id, n := range lives {
				if n != 1 {
					t.Errorf("request %d was served %d times", id, n)
				}
			}
		}
	}
}

// Sizes that no header can tell, and segments without room, are refused.
func TestLongMessageLimits(t *testing.T) {
	for _, c := range []Config{{MaxReply: datagram.MaxSize + datagram.HeaderBytes + 1}, {MaxRequest: 1 << 20}, {MaxMessage: 32, MaxReply: 100}} {
		s := sim.New(sim.Options{Seed: 1})
		f, err := fabric.New(s, fabric.Config{Machines: 2})
		if err != nil {
			t.Fatal(err)
		}
		c.Threads = 1
		if _, err := New(s, f, c); err == nil {
			t.Errorf("%+v was taken", c)
		}
		s.Close()
	}
	b := newBed(t, 2, Config{Threads: 1, Coroutines: 1, MaxRequest: 5000, MaxReply: 3000}, fabric.Config{})
	if b.cl.MaxPayload() != 4992 || b.cl.MaxReply() != 4992 {
		t.Errorf("requests of %d and replies of %d bytes", b.cl.MaxPayload(), b.cl.MaxReply())
	}
	var got error
	b.cl.Spawn(0, 0, func(co *Co) {
		co.Call(1, 0, make([]byte, 4993))
		got = co.Wait()
	})
	b.run(10 * sim.Microsecond)
	if got == nil {
		t.Error("a request beyond MaxPayload was taken")
	}
}

// Long messages allocate nothing once their buffers are there.
func TestLongMessagesAllocateNothing(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1, Coroutines: 2, MaxRequest: 64 << 10, MaxReply: 126 << 10}, fabric.Config{})
	long := content(1, b.cl.MaxReply())
	b.cl.handle(3, func(_ *Co, _ Peer, _, rep []byte) int { return copy(rep, long) })
	n := 0
	for k := range 2 {
		b.cl.Spawn(0, 0, func(co *Co) {
			co.Phase(all(phaseExecution))
			req := long[:30_000*(k+1)]
			for {
				co.Reset()
				co.Call(1, 3, req)
				if co.Wait() != nil {
					t.Error("an error")
				}
				n++
			}
		})
	}
	b.run(20 * sim.Millisecond)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	from := n
	b.run(20 * sim.Millisecond)
	runtime.ReadMemStats(&after)
	if calls, objects := n-from, after.Mallocs-before.Mallocs; calls < 100 || objects > uint64(calls)/10 {
		t.Errorf("%d objects allocated in %d calls", objects, calls)
	}
}

func BenchmarkLongReply(bench *testing.B) {
	s := sim.New(sim.Options{Seed: 1})
	defer s.Close()
	f, err := fabric.New(s, fabric.Config{Machines: 2})
	if err != nil {
		bench.Fatal(err)
	}
	cl, err := New(s, f, Config{Threads: 1, Coroutines: 1, MaxReply: 64 << 10})
	if err != nil {
		bench.Fatal(err)
	}
	cl.handle(3, func(_ *Co, _ Peer, _, rep []byte) int { return len(rep) })
	done := 0
	cl.Spawn(0, 0, func(co *Co) {
		req := slices.Repeat([]byte("x"), 8)
		for ; done < bench.N; done++ {
			co.Reset()
			co.Call(1, 3, req)
			if err := co.Wait(); err != nil {
				bench.Error(err)
			}
		}
	})
	bench.ReportAllocs()
	for bench.ResetTimer(); done < bench.N; {
		if err := s.Run(s.Now() + sim.Millisecond); err != nil {
			bench.Fatal(err)
		}
	}
}

// What is here of a request that its caller no longer repeats is given back, and nothing else.
func TestAbandonedRequests(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1, Coroutines: 1, MaxRequest: 50_000}, fabric.Config{})
	w := b.cl.machines[1].workers[0]
	ch := w.out[0]
	for _, seq := range []uint32{5, 7, 9} {
		ch.parts.Of(&w.messages, seq, 40_000).Message[0] = 1
	}
	w.retireBefore(ch, datagram.Header{Kind: datagram.Request, Seq: 10, Lag: 2})
	if len(ch.parts) != 1 || ch.parts[0].Seq != 9 {
		t.Fatalf("%d requests are here in part", len(ch.parts))
	}
	again := [][]byte{w.messages.Take(40_000), w.messages.Take(40_000), w.messages.Take(40_000)}
	if used := func(b []byte) bool { return b[0] != 0 }; !used(again[0]) || !used(again[1]) || used(again[2]) {
		t.Errorf("buffers %v are used again, want the two of the abandoned requests", []bool{used(again[0]), used(again[1]), used(again[2])})
	}
}
