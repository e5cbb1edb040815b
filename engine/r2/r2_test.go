package r2

import (
	"encoding/binary"
	"slices"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/metrics"
	"drtmx/engine/sim"
)

// bed is a small cluster with one registered region per machine.
type bed struct {
	*testing.T
	s    *sim.Sim
	f    *fabric.Fabric
	cl   *Cluster
	base []Addr
	rkey []uint32
}

const regionBytes = 1 << 20

func newBed(t *testing.T, machines int, c Config, fc fabric.Config) *bed {
	t.Helper()
	b := &bed{T: t, s: sim.New(sim.Options{Seed: 1, Trace: true})}
	fc.Machines = machines
	var err error
	if b.f, err = fabric.New(b.s, fc); err != nil {
		t.Fatal(err)
	}
	if b.cl, err = New(b.s, b.f, c); err != nil {
		t.Fatal(err)
	}
	b.cl.Assembled()
	for m := range machines {
		mem := b.cl.Mem(m)
		a, err := mem.Alloc(host.Alloc{Name: "test", Bytes: regionBytes})
		if err != nil {
			t.Fatal(err)
		}
		b.base = append(b.base, a)
		b.rkey = append(b.rkey, mem.Register(a, regionBytes, host.LocalWrite|host.RemoteRead|host.RemoteWrite|host.RemoteAtomic).RKey)
	}
	t.Cleanup(func() {
		b.s.Close()
		if err := b.f.Close(); err != nil { // its address space, of which many tests take much
			t.Error(err)
		}
	})
	return b
}

func (b *bed) loc(m int, off Addr) Loc { return Loc{m, b.rkey[m], b.base[m] + off} }

func (b *bed) run(d Time) {
	b.Helper()
	if err := b.s.Run(b.s.Now() + d); err != nil {
		b.Fatal(err)
	}
	if n := b.f.OutOfOrder(); n != 0 {
		b.Fatalf("%d arrivals out of order", n)
	}
}

func (b *bed) word(m int, off Addr) uint64 {
	return binary.LittleEndian.Uint64(b.cl.Mem(m).Bytes(b.base[m]+off, 8))
}

func all(phase metrics.Phase) (metrics.Phase, Mode) {
	return phase, Mode{Outstanding: true, Doorbell: true}
}

func TestOneSided(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 2, Coroutines: 2}, fabric.Config{})
	var read, first, second, sum uint64
	var lone Time
	finished := false
	b.cl.Spawn(0, 0, func(c *Co) {
		c.Phase(all(phaseExecution))
		c.Write(b.loc(1, 0), binary.LittleEndian.AppendUint64(nil, 42))
		c.Wait()
		start := c.Now()
		r := c.Read(b.loc(1, 0), 8)
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
		lone = c.Now() - start
		read = binary.LittleEndian.Uint64(r.B)
		x := c.CAS(b.loc(1, 0), 42, 43)
		c.Wait()
		y := c.CAS(b.loc(1, 0), 42, 44)
		c.Wait()
		first, second = binary.LittleEndian.Uint64(x.B), binary.LittleEndian.Uint64(y.B)
		z := c.FAA(b.loc(1, 0), 7)
		c.Wait()
		sum = binary.LittleEndian.Uint64(z.B)
		finished = true
	})
	b.run(100 * sim.Microsecond)
	if !finished || read != 42 || first != 42 || second != 43 || sum != 43 || b.word(1, 0) != 50 {
		t.Fatalf("finished %v, read %d, CAS saw %d and %d, FAA saw %d, memory has %d", finished, read, first, second, sum, b.word(1, 0))
	}
	if lone < sim.Microsecond || lone > 4*sim.Microsecond {
		t.Errorf("a lone READ took %d ns", lone/sim.Nanosecond)
	}
}

func TestListExecutesInOrderAndIsOneRoundTrip(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 2}, fabric.Config{})
	trips, ok := 0, false
	b.cl.Spawn(0, 0, func(c *Co) {
		c.Phase(all(phaseLock))
		l := c.List(b.loc(1, 64), true)
		x := l.CAS(b.loc(1, 64), 0, 9)
		r := l.Read(b.loc(1, 64), 16)
		l.Post()
		c.Wait()
		trips = c.TakeTrips(metrics.ForPhases[uint32]())
		ok = binary.LittleEndian.Uint64(x.B) == 0 && binary.LittleEndian.Uint64(r.B) == 9
	})
	b.run(100 * sim.Microsecond)
	if !ok || trips != 1 {
		t.Fatalf("CAS then READ: right %v, %d round trips", ok, trips)
	}
}

func TestRemoteAccessErrorReachesTheCoroutine(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1}, fabric.Config{})
	var got error
	b.cl.Spawn(0, 0, func(c *Co) {
		c.Phase(all(phaseExecution))
		c.Read(b.loc(1, regionBytes), 8)
		got = c.Wait()
	})
	b.run(100 * sim.Microsecond)
	if got == nil {
		t.Fatal("a READ beyond the region succeeded")
	}
}

// echo counts what it served, so that a duplicate shows.
func (b *bed) echo(served map[uint64]int) {
	b.cl.handle(3, func(c *Co, from Peer, req, rep []byte) int {
		id := binary.LittleEndian.Uint64(req)
		served[id]++
		c.Annotate(id)
		c.Compute(200)
		return copy(rep, req)
	})
}

func TestRPCExactlyOnceUnderLoss(t *testing.T) {
	exactlyOnce(t, 100*sim.Millisecond, Config{ResendAfter: 20 * sim.Microsecond}, fabric.Config{LossPPM: 50_000})
}

// exactlyOnce has coroutines call each other and counts what their handlers saw.
func exactlyOnce(t *testing.T, within Time, c Config, fc fabric.Config) {
	t.Helper()
	for _, passive := range []bool{false, true} {
		c.Threads, c.Coroutines = 2, 4
		b := newBed(t, 3, c, fc)
		served := map[uint64]int{}
		b.echo(served)
		const each = 300
		finished := 0
		for m := range 3 {
			for th := range 2 {
				for k := range 4 {
					b.cl.Spawn(m, th, func(c *Co) {
						for i := range each {
							c.Reset()
							c.Phase(phaseExecution, Mode{Outstanding: true, Doorbell: true, Passive: passive && i%2 == 0})
							id := uint64(m)<<40 | uint64(th)<<32 | uint64(k)<<24 | uint64(i)
							r := c.Call((m+1+i%2)%3, 3, binary.LittleEndian.AppendUint64(nil, id))
							if err := c.Wait(); err != nil {
								t.Error(err)
							}
							if r != nil {
								checkNotes(t, r, id)
								if binary.LittleEndian.Uint64(r.B) != id {
									t.Errorf("reply %x to %x", r.B, id)
								}
							}
						}
						finished++
					})
				}
			}
		}
		b.run(within)
		if finished != 24 || len(served) != 24*each {
			t.Fatalf("passive %v: %d of 24 coroutines finished, %d of %d requests served; %v", passive, finished, len(served), 24*each, b.cl.Waiting(5))
		}
		for id, n := range served {
			if n != 1 {
				t.Fatalf("request %x was served %d times", id, n)
			}
		}
	}
}

func TestRPCToSelfIsAProcedureCall(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1}, fabric.Config{})
	served := map[uint64]int{}
	b.echo(served)
	ok := false
	b.cl.Spawn(1, 0, func(c *Co) {
		r := c.Call(1, 3, binary.LittleEndian.AppendUint64(nil, 5))
		ok = c.Wait() == nil && binary.LittleEndian.Uint64(r.B) == 5
		checkNotes(t, r, 5)
	})
	b.run(20 * sim.Microsecond)
	if !ok || b.f.Counts().Posted[fabric.Send] != 0 {
		t.Fatalf("answered %v with %d SENDs", ok, b.f.Counts().Posted[fabric.Send])
	}
}

// Passive requests save the replies: half of the messages (thesis figure 2-3).
func TestPassiveSavesReplies(t *testing.T) {
	sends := func(passive bool) uint64 {
		b := newBed(t, 2, Config{Threads: 1, Coroutines: 1}, fabric.Config{})
		b.echo(map[uint64]int{})
		for m := range 2 {
			b.cl.Spawn(m, 0, func(c *Co) {
				for i := range 1000 {
					c.Reset()
					c.Phase(phaseCommit, Mode{Outstanding: true, Doorbell: true, Passive: passive})
					c.Call(1-m, 3, binary.LittleEndian.AppendUint64(nil, uint64(i)))
					c.Wait()
					c.Sleep(sim.Microsecond)
				}
			})
		}
		b.run(20 * sim.Millisecond)
		return b.f.Counts().Posted[fabric.Send]
	}
	if n := sends(false); n != 4000 {
		t.Errorf("%d messages for 2000 requests with replies", n)
	}
	if n := sends(true); n < 2000 || n > 2100 {
		t.Errorf("%d messages for 2000 passive requests", n)
	}
}

// A machine that has nothing to send does not let others wait for receipts until a
// timer reminds it, however few machines there are.
func TestReceiptsOfAServer(t *testing.T) {
	for _, machines := range []int{2, 3} {
		b := newBed(t, machines, Config{Threads: 1}, fabric.Config{})
		served := 0
		b.cl.handle(3, func(c *Co, _ Peer, req, rep []byte) int { served++; return 0 })
		b.cl.Spawn(0, 0, func(c *Co) {
			for {
				c.Reset()
				c.Phase(phaseLogging, Mode{Outstanding: true, Doorbell: true, Passive: true})
				c.Call(1+c.Rand().Intn(machines-1), 3, make([]byte, 8))
				c.Room()
			}
		})
		b.run(200 * sim.Microsecond)
		if served < 500 { // of a thread that never waits for a receipt for long
			t.Errorf("%d machines: %d requests in 200 µs", machines, served)
		}
	}
}

func TestSkipGoesOnOverWhatIsHere(t *testing.T) {
	var ch channel
	ch.Admit(1)
	ch.Admit(3)
	ch.Skip(1) // request 0 was given up
	if ch.Arrived != 2 || ch.Admit(1) || !ch.Admit(2) || ch.Arrived != 4 {
		t.Errorf("all below %d are here", ch.Arrived)
	}
}

// Every coroutine that may send to a thread has a RECV there; where machines have different
// numbers of threads, every request.
func TestRecvDepths(t *testing.T) {
	for _, c := range []struct {
		threads    []int
		coroutines int
		want       []int
	}{
		{[]int{1, 1}, 8, []int{64, 64}},
		{[]int{24, 24, 24, 24}, 24, []int{96, 96, 96, 96}},
		{[]int{1, 24, 24}, 8, []int{2048, 64, 64}},
		{[]int{20, 24, 24, 24}, 24, []int{(1 + 3*2) * 128, 96, 96, 96}},
		{[]int{1, 24, 24, 24}, 64, []int{2048, 256, 256, 256}},
	} {
		if got := RecvDepths(c.threads, c.coroutines, RequestWindow); !slices.Equal(got, c.want) {
			t.Errorf("threads %v, %d coroutines: %d RECVs, want %d", c.threads, c.coroutines, got, c.want)
		}
	}
	b := newBed(t, 3, Config{PerMachine: []int{1, 24, 24}, Coroutines: 8}, fabric.Config{})
	b.cl.handle(3, func(c *Co, _ Peer, req, rep []byte) int { return 8 })
	for i := range 2 * 24 * 8 {
		b.cl.Spawn(1+i%2, i/2%24, func(c *Co) {
			for {
				c.Reset()
				c.Phase(all(phaseExecution))
				c.Call(0, 3, make([]byte, 8))
				c.Wait()
			}
		})
	}
	b.run(500 * sim.Microsecond)
	if n := b.f.Counts().NoRecv; n != 0 {
		t.Errorf("%d messages found no RECV", n)
	}
}

func TestSynchronisesLocalAccess(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 2, Coroutines: 2}, fabric.Config{})
	// A core that is busy for 50 us sees a WRITE that arrived meanwhile.
	saw := uint64(0)
	b.cl.Spawn(1, 0, func(c *Co) {
		c.Compute(50 * 2200)
		saw = c.Load64(b.base[1])
	})
	b.cl.Spawn(0, 0, func(c *Co) {
		c.Phase(all(phaseCommit))
		c.Write(b.loc(1, 0), binary.LittleEndian.AppendUint64(nil, 77))
		c.Wait()
	})
	b.run(100 * sim.Microsecond)
	if saw != 77 {
		t.Fatalf("saw %d", saw)
	}
}

func TestGateHoldsAndLetsGo(t *testing.T) {
	b := newBed(t, 1, Config{Threads: 1, Coroutines: 4}, fabric.Config{})
	var turns [4]int
	for k := range 4 {
		b.cl.Spawn(0, 0, func(c *Co) {
			for {
				c.Gate()
				turns[k]++
				c.Sleep(sim.Microsecond)
			}
		})
	}
	b.cl.SetCoroutines(2)
	b.run(20 * sim.Microsecond)
	if turns[0] == 0 || turns[1] == 0 || turns[2] != 0 || turns[3] != 0 {
		t.Fatalf("two coroutines let through, turns %v", turns)
	}
	b.cl.SetCoroutines(4)
	b.run(20 * sim.Microsecond)
	if turns[3] == 0 {
		t.Fatalf("four let through, turns %v", turns)
	}
	b.cl.ShutGate()
	b.run(5 * sim.Microsecond)
	before := turns
	b.run(20 * sim.Microsecond)
	if turns != before {
		t.Fatalf("shut gate, turns went from %v to %v", before, turns)
	}
}

func TestBreakdownCoversTheWholeTime(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 2}, fabric.Config{})
	b.echo(map[uint64]int{})
	spent := metrics.NewBreakdown()
	var took Time
	b.cl.Spawn(0, 0, func(c *Co) {
		c.TakeBreakdown(metrics.NewBreakdown())
		start := c.Now()
		c.Phase(all(phaseExecution))
		c.Read(b.loc(1, 0), 64)
		c.Wait()
		c.Phase(all(phaseLock))
		c.Call(1, 3, make([]byte, 8))
		c.Wait()
		c.Phase(all(metrics.Backoff))
		c.Sleep(2 * sim.Microsecond)
		c.TakeBreakdown(spent)
		took = c.Now() - start
	})
	b.run(100 * sim.Microsecond)
	var sum Time
	for p := range spent {
		for _, d := range spent[p] {
			sum += d
		}
	}
	if sum != took || took == 0 {
		t.Fatalf("milestones add up to %d ps of %d", sum, took)
	}
	if slept := spent[metrics.Backoff][metrics.Asleep]; slept != 2*sim.Microsecond {
		t.Errorf("asleep for %d ps of 2 µs", slept)
	}
	if spent[phaseLock][metrics.Handler] < 200*1_000_000/2200 || spent[phaseExecution][metrics.Handler] != 0 {
		t.Errorf("handler time %d ps in lock, %d in execution", spent[phaseLock][metrics.Handler], spent[phaseExecution][metrics.Handler])
	}
}

func reads(tb testing.TB, machines, threads, coroutines int) (*sim.Sim, *fabric.Fabric, *Cluster) {
	p, err := profile.Load("val")
	if err != nil {
		tb.Fatal(err)
	}
	s := sim.New(sim.Options{Seed: 1})
	f, err := fabric.New(s, fabric.Config{Profile: p, Machines: machines, TornReads: true})
	if err != nil {
		tb.Fatal(err)
	}
	cl, err := New(s, f, Config{Threads: threads, Coroutines: coroutines})
	if err != nil {
		tb.Fatal(err)
	}
	const bytes = 16 << 20
	locs := make([]Loc, machines)
	for m := range machines {
		a, err := cl.Mem(m).Alloc(host.Alloc{Name: "table", Bytes: bytes})
		if err != nil {
			tb.Fatal(err)
		}
		locs[m] = Loc{m, cl.Mem(m).Register(a, bytes, host.RemoteRead|host.LocalWrite).RKey, a}
	}
	for m := range machines {
		for th := range threads {
			for range coroutines {
				cl.Spawn(m, th, func(c *Co) {
					c.Phase(phaseExecution, Mode{})
					for {
						c.Reset()
						at := locs[(m+1+c.Rand().Intn(machines-1))%machines]
						at.Addr += Addr(c.Rand().Intn(bytes/64)) * 64
						c.Read(at, 64)
					}
				})
			}
		}
	}
	return s, f, cl
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	s, f, _ := reads(t, 4, 4, 8)
	defer s.Close()
	step := func() {
		if err := s.Run(s.Now() + 50*sim.Microsecond); err != nil {
			t.Fatal(err)
		}
	}
	for range 10 {
		step()
	}
	before := f.Counts().Posted[fabric.Read]
	allocs := testing.AllocsPerRun(20, step)
	if per := allocs * 21 / float64(f.Counts().Posted[fabric.Read]-before); per > 0.001 {
		t.Errorf("%.4f allocations per READ", per)
	}
}

// BenchmarkRead is the closed loop of des.md: 16 machines, 24 threads, 12
// coroutines, one 64-byte READ each.
func BenchmarkRead(b *testing.B) { benchmarkReads(b, 16, 24, 12) }

// BenchmarkReadSmall is the default cluster's size.
func BenchmarkReadSmall(b *testing.B) { benchmarkReads(b, 4, 4, 8) }

func benchmarkReads(b *testing.B, machines, threads, coroutines int) {
	s, f, _ := reads(b, machines, threads, coroutines)
	defer s.Close()
	s.Run(100 * sim.Microsecond)
	b.ResetTimer()
	from := f.Counts().Posted[fabric.Read]
	for b.Loop() {
		if err := s.Run(s.Now() + 100*sim.Microsecond); err != nil {
			b.Fatal(err)
		}
	}
	n := f.Counts().Posted[fabric.Read] - from
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/verb")
	b.ReportMetric(float64(n)/float64(b.N)/float64(machines)/100, "sim-Mops/machine")
}

// Atomics go to the home RNIC of their page, which is the other one's of every other page.
func TestAtomicsOnInterleavedPages(t *testing.T) {
	for _, nics := range []int{1, 2} {
		b := newBed(t, 2, Config{Threads: 2}, fabric.Config{NICs: nics})
		mem := b.cl.Mem(1)
		const pages = 4
		a, err := mem.Alloc(host.Alloc{Name: "interleaved", Bytes: pages << 21, Interleaved: true})
		if err != nil {
			t.Fatal(err)
		}
		key := mem.Register(a, pages<<21, host.RemoteAtomic).RKey
		for k := range 2 {
			b.cl.Spawn(0, k, func(c *Co) {
				c.Phase(all(phaseLock))
				for range 100 {
					for p := range pages {
						c.FAA(Loc{1, key, a + Addr(p)<<21}, 1)
					}
					c.Wait()
					c.Reset()
				}
			})
		}
		b.run(2 * sim.Millisecond)
		for p := range pages {
			if got := binary.LittleEndian.Uint64(mem.Bytes(a+Addr(p)<<21, 8)); got != 200 {
				t.Errorf("%d RNICs: page %d counts %d of 200", nics, p, got)
			}
		}
	}
}
