package fabric

import (
	"slices"
	"testing"

	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// The context cache against a plain list, most recent first: same hits, same
// victims, while queue pairs keep being added.
func TestContextsAreLRU(t *testing.T) {
	p := loadVal(t)
	p.NIC.QPContexts.Value = 20
	b, x, _ := pairBed(t, Config{Profile: p})
	n := x.ud.NIC()
	var list []*QP // most recent first
	for _, q := range n.qps[1:] {
		list = append(list, q)
		n.use(q, b.sim.Now())
	}
	slices.Reverse(list)
	var hits, misses int
	for step := range 20000 {
		if step%100 == 0 && len(n.qps) < 60 {
			if _, err := n.CreateQP(QPConfig{Transport: RC}); err != nil {
				t.Fatal(err)
			}
			if len(n.qps)-1 == 21 { // the order begins here, by number
				slices.SortFunc(list, func(a, b *QP) int { return int(b.qpn) - int(a.qpn) })
			}
		}
		q := n.qps[1+x.rand.Intn(len(n.qps)-1)]
		before := b.f.Counts().CtxMisses
		n.use(q, b.sim.Now())
		hit := b.f.Counts().CtxMisses == before
		i := slices.Index(list, q)
		if (i >= 0) != hit {
			t.Fatalf("step %d: hit %v, the list says %v", step, hit, i >= 0)
		}
		if hit {
			hits++
			list = slices.Delete(list, i, i+1)
		} else {
			misses++
		}
		list = slices.Insert(list, 0, q)
		list = list[:min(len(list), 20)]
	}
	if hits < 1000 || misses < 1000 {
		t.Errorf("%d hits and %d misses tell little", hits, misses)
	}
}

// A context that is not in the RNIC costs a fetch from the host.
func TestContextMissIsSlower(t *testing.T) {
	b, x, _ := pairBed(t, Config{})
	var at [2]sim.Time
	for i := range at {
		began := b.sim.Now()
		x.postAll(x.rc[1], x.read(1, 1, 8))
		b.run(20 * sim.Microsecond)
		var e [1]CQE
		if x.cq.Poll(e[:]) != 1 {
			t.Fatal("no completion")
		}
		at[i] = e[0].At - began
	}
	// Requester's and responder's context, the responder's translation.
	if d := at[0] - at[1]; d < 5*b.f.cost.roundTrip/2 {
		t.Errorf("the first READ took only %d ps more than the second", d)
	}
}

// Packets that arrive do not queue behind the contexts of requests that are to be sent.
func TestArrivalsGoAheadOfSends(t *testing.T) {
	const pairs = 256
	b, x, y := pairBed(t, Config{})
	for id := range uint64(pairs) {
		x.postAll(x.connect(y, x.cq), x.read(id, 1, 8))
	}
	y.postAll(y.rc[0], y.read(1, 0, 8))
	var e [pairs]CQE
	sent := 0
	for y.cq.Poll(e[:1]) == 0 {
		b.run(100 * sim.Nanosecond)
		sent += x.cq.Poll(e[:])
	}
	if sent > pairs/4 {
		t.Errorf("a READ that arrives behind %d requests whose contexts are missing was answered when %d of them had been", pairs, sent)
	}
	b.run(100 * sim.Microsecond)
	if sent += x.cq.Poll(e[:]); sent != pairs {
		t.Errorf("%d of %d requests complete", sent, pairs)
	}
}

// What a load costs: translation, LLC, DRAM, the other socket; and DMA writes
// that bring lines into the LLC unless DDIO is off.
func TestAccess(t *testing.T) {
	b, x, _ := pairBed(t, Config{})
	m, c := b.f.Machine(1), &b.f.cost
	other := m.PerSocket // a core of the second socket
	a, err := m.Mem.Alloc(host.Alloc{Name: "lines", Bytes: 1 << 20, Socket: 0})
	if err != nil {
		t.Fatal(err)
	}
	now := b.sim.Now
	expect := func(what string, got, want sim.Time) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d ps, want %d", what, got, want)
		}
	}
	expect("cold", m.Access(0, now(), a, 8, host.Load), c.Walk+c.DRAM)
	expect("warm", m.Access(0, now(), a+8, 8, host.Load), c.LLCHit)
	expect("from the other socket", m.Access(other, now(), a, 8, host.Load), c.Walk+c.LLCHit+c.Cross)
	b.run(sim.Microsecond)
	expect("other socket, cold", m.Access(other, now(), a+64, 8, host.Load), c.DRAM+c.Cross)
	b.run(sim.Microsecond)
	expect("four lines", m.Access(0, now(), a+256, 256, host.Load), c.DRAM+3*c.DRAMNext)
	expect("four lines again", m.Access(0, now(), a+256, 256, host.Load), c.LLCHit+3*c.LLCNext)
	expect("store", m.Access(0, now(), a+256, 8, host.Store), c.LLCStore)
	b.run(sim.Microsecond)
	expect("store, cold", m.Access(0, now(), a+1024, 8, host.Store), c.DRAMStore)
	m.Warm(host.Extent{At: a + 4096, Bytes: 64})
	expect("warmed", m.Access(0, now(), a+4096, 64, host.Load), c.LLCHit)

	r := m.Mem.Register(a, 1<<20, host.RemoteWrite)
	for i, ddio := range []bool{true, false} {
		b.f.SetDDIO(ddio)
		at := a + 8192 + space.Addr(i)*64
		x.postAll(x.rc[1], SendWR{Op: Write, Signaled: true, Local: x.scratch, LKey: x.key, Len: 64, Remote: at, RKey: r.RKey})
		b.run(20 * sim.Microsecond)
		want := c.LLCHit
		if !ddio {
			want = c.DRAM
		}
		expect("after a WRITE", m.Access(0, now(), at, 8, host.Load), want)
	}
}

// The lines of one access are asked for at once and wait for their channels at the same time: what is
// longer than the cores' rate of neighbours takes what the channels need for it, and no more.
func TestAccessWaitsOnce(t *testing.T) {
	b, _, _ := pairBed(t, Config{})
	m, c := b.f.Machine(1), &b.f.cost
	line := space.LineBytes * m.Type.ChannelBandwidth.PerKB() >> 10 // on a channel
	a, err := m.Mem.Alloc(host.Alloc{Name: "lines", Bytes: 2 << 20, Socket: 0})
	if err != nil {
		t.Fatal(err)
	}
	for at, n := 0, 64; n <= 64<<10; at, n = at+n, 4*n {
		m.Access(0, b.sim.Now(), a+2<<20-space.LineBytes, 8, host.Load) // its page is known
		b.run(sim.Millisecond)
		lines := sim.Time(n / space.LineBytes)
		idle := c.DRAM + (lines-1)*c.DRAMNext
		slow := c.DRAM + lines*line // were all on one channel
		if got := m.Access(0, b.sim.Now(), a+space.Addr(at), n, host.Load); got < idle || got > max(idle, slow) {
			t.Errorf("%d bytes: %d ps, at least %d at the core's rate and at most %d from one channel", n, got, idle, slow)
		}
	}
	// Stores do not wait for each other either.
	b.run(sim.Millisecond)
	if got, want := m.Access(0, b.sim.Now(), a+1<<20, 4096, host.Store), 64*max(c.DRAMStore, line); got > want+c.Walk {
		t.Errorf("stores of 4096 bytes: %d ps, at most %d", got, want)
	}
}

// A partial line written by DMA is read first, a whole one is not.
func TestPartialWrite(t *testing.T) {
	for _, ddio := range []bool{true, false} {
		for _, bytes := range []uint32{16, 64} {
			b, x, _ := pairBed(t, Config{NoDDIO: !ddio})
			x.postAll(x.rc[1], x.write(1, 1, bytes))
			b.run(20 * sim.Microsecond)
			var lines uint64
			for _, s := range b.f.Machine(1).Load().Sockets {
				for _, c := range s.Channels {
					lines += c.N
				}
			}
			want := uint64(0)
			if bytes < 64 {
				want++ // read for the rest of the line
			}
			if !ddio {
				want++ // written through
			}
			if lines != want {
				t.Errorf("WRITE of %d bytes, DDIO %v: %d lines to or from DRAM, want %d", bytes, ddio, lines, want)
			}
		}
	}
}

// A core that knows its addresses overlaps its loads (thesis §3.2: 43 M/s), one that
// does not waits for each.
func TestRandomLoads(t *testing.T) {
	b := newBed(t, bedOptions{machines: 1, threads: 1, span: 1 << 20})
	m := b.f.Machine(0)
	const loads = 4096
	base, err := m.Mem.Alloc(host.Alloc{Name: "random", Bytes: 512 << 20})
	if err != nil {
		t.Fatal(err)
	}
	at := make([]space.Addr, loads)
	for i := range at {
		at[i] = base + space.Addr(i)*(512<<20/loads)
	}
	near(t, "s3-core-random-reads", loads/(float64(m.Gather(0, 0, at, 64))/float64(sim.Microsecond)), 43)
	b.run(sim.Millisecond) // the channels are free again
	lone := at[:1]
	fresh := at[0] + 4096
	if d := m.Gather(0, 0, []space.Addr{fresh}, 64); d != b.f.cost.DRAM {
		t.Errorf("a lone load takes %d ps, DRAM %d", d, b.f.cost.DRAM)
	}
	if d := m.Gather(0, 0, lone, 64); d != m.Access(0, 0, lone[0], 64, host.Load) {
		t.Errorf("a load that hits takes %d ps", d)
	}
	b.run(sim.Millisecond)
	two := []space.Addr{at[0] + 8192, at[1] + 8192}
	if d := m.Gather(0, 0, two, 64); d != b.f.cost.DRAM+b.f.cost.DRAMRandom {
		t.Errorf("two loads take %d ps", d)
	}
}
