package fabric

import (
	"strings"
	"testing"

	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// sockets is two machines of a profile without RDMA with one endpoint each.
type sockets struct {
	*testing.T
	sim  *sim.Sim
	f    *Fabric
	cq   [2]*CQ
	qp   [2]*QP
	base [2]space.Addr
	key  [2]uint32
}

func newSockets(t *testing.T, c Config) *sockets {
	t.Helper()
	b := &sockets{T: t, sim: sim.New(sim.Options{Seed: 3})}
	var err error
	if c.Profile == nil {
		if c.Profile, err = profile.Load("vale"); err != nil {
			t.Fatal(err)
		}
	}
	c.Machines = 2
	if b.f, err = New(b.sim, c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.sim.Close()
		if err := b.f.Close(); err != nil {
			t.Error(err)
		}
	})
	for m := range 2 {
		n := b.f.Machine(m).NICs[0]
		b.cq[m] = n.CreateCQ(1024)
		if b.qp[m], err = n.CreateQP(QPConfig{Transport: TCP, SendCQ: b.cq[m], RecvCQ: b.cq[m], SendDepth: 1024}); err != nil {
			t.Fatal(err)
		}
		mem := b.f.Machine(m).Mem
		if b.base[m], err = mem.Alloc(host.Alloc{Name: "test", Bytes: 4 << 20}); err != nil {
			t.Fatal(err)
		}
		b.key[m] = mem.Register(b.base[m], 4<<20, host.LocalWrite|host.RemoteRead).LKey
	}
	return b
}

const socketRoom = 8192

// receive gives machine 1 room for messages first to first+n-1.
func (b *sockets) receive(first, n int) {
	b.Helper()
	for i := first; i < first+n; i++ {
		w := RecvWR{ID: uint64(i), Local: b.base[1] + space.Addr(i*socketRoom), LKey: b.key[1], Len: socketRoom}
		if err := b.qp[1].PostRecv(b.sim.Now(), []RecvWR{w}); err != nil {
			b.Fatal(err)
		}
	}
}

// send posts message i of n bytes, each with the value i.
func (b *sockets) send(i, n int) {
	b.Helper()
	a := b.base[0] + space.Addr(i*socketRoom)
	for k := range b.f.Machine(0).Mem.Bytes(a, n) {
		b.f.Machine(0).Mem.Bytes(a, n)[k] = byte(i)
	}
	w := SendWR{ID: uint64(i), Op: Send, Local: a, LKey: b.key[0], Len: uint32(n), Dest: b.qp[1].Address()}
	if err := b.qp[0].PostSend(b.sim.Now(), []SendWR{w}); err != nil {
		b.Fatal(err)
	}
}

// arrived polls machine 1.
func (b *sockets) arrived(d sim.Time) []CQE {
	b.Helper()
	if err := b.sim.Run(b.sim.Now() + d); err != nil {
		b.Fatal(err)
	}
	var all []CQE
	var e [64]CQE
	for n := b.cq[1].Poll(e[:]); n > 0; n = b.cq[1].Poll(e[:]) {
		all = append(all, e[:n]...)
	}
	return all
}

// Without RDMA there is TCP and nothing else, and with RDMA there is no TCP.
func TestTCPOrRDMA(t *testing.T) {
	b := newSockets(t, Config{})
	n := b.f.Machine(0).NICs[0]
	for _, tr := range []Transport{RC, UC, UD} {
		if _, err := n.CreateQP(QPConfig{Transport: tr}); err == nil || !strings.Contains(err.Error(), "vale have no RDMA; use TCP") {
			t.Errorf("%v on vale: %v", tr, err)
		}
	}
	for _, op := range []Opcode{Write, Read, CompareSwap, FetchAdd} {
		w := SendWR{Op: op, Local: b.base[0], LKey: b.key[0], Len: 8, Dest: b.qp[1].Address()}
		if err := b.qp[0].PostSend(0, []SendWR{w}); err == nil || !strings.Contains(err.Error(), "does not support it") {
			t.Errorf("%v over TCP: %v", op, err)
		}
	}
	if err := Connect(b.qp[0], b.qp[1]); err == nil {
		t.Error("TCP queue pairs were connected")
	}
	val, w, _ := pairBed(t, Config{})
	if _, err := w.ud.NIC().CreateQP(QPConfig{Transport: TCP}); err == nil || !strings.Contains(err.Error(), "a profile with a section tcp") {
		t.Errorf("TCP on val: %v", err)
	}
	if val.f.TCP() != nil || b.f.TCP() == nil {
		t.Error("the kernel's costs belong to vale alone")
	}
}

// A message takes its segments' headers on the wire, and is seen after the interrupt.
func TestTCPWay(t *testing.T) {
	b := newSockets(t, Config{})
	c, p := &b.f.cost, b.f.profile
	b.receive(0, 3)
	var took [3]sim.Time
	sizes := [3]int{64, 1448, 1449}
	for i, n := range sizes {
		start := b.sim.Now()
		b.send(i, n)
		got := b.arrived(100 * sim.Microsecond)
		if len(got) != 1 || got[0].Op != Recv || got[0].Bytes != uint32(n) || got[0].Src != b.qp[0].Address() {
			t.Fatalf("%d bytes: got %+v", n, got)
		}
		for _, x := range b.f.Machine(1).Mem.Bytes(b.base[1]+space.Addr(i*socketRoom), n) {
			if x != byte(i) {
				t.Fatalf("%d bytes: %d arrived in place of %d", n, x, i)
			}
		}
		took[i] = got[0].At - start
	}
	least := p.TCP.Interrupt.Time() + p.TCP.Softirq.Time() + c.hop + c.txLatency + c.rxLatency + 6*c.oneWay + c.serialize(64, 90)
	if took[0] < least || took[0] > least+sim.Microsecond {
		t.Errorf("64 bytes took %d ps, the parts sum up to %d", took[0], least)
	}
	second := 91*c.wire>>10 + c.softirqSegment // one byte and the headers of its segment
	if n := b.f.Counts(); n.CtxMisses+n.XlateMisses != 0 {
		t.Errorf("a NIC without RDMA fetched %d contexts and %d translations", n.CtxMisses, n.XlateMisses)
	}
	if d := took[2] - took[1]; d < second || d > second+100*sim.Nanosecond {
		t.Errorf("one byte in a segment of its own took %d ps more, on the wire alone it takes %d", d, second)
	}
}

// The link carries its 10 Gbps less the headers, whatever the message.
func TestTCPBandwidth(t *testing.T) {
	b := newSockets(t, Config{})
	const n, size = 256, 4000
	b.receive(0, n)
	for i := range n {
		b.send(i, size)
	}
	got := b.arrived(2 * sim.Millisecond)
	if len(got) != n {
		t.Fatalf("%d of %d messages", len(got), n)
	}
	wire := b.f.cost.serialize(size, 90)
	if d := got[n-1].At - got[0].At; d < (n-1)*wire*99/100 || d > (n-1)*wire*102/100 {
		t.Errorf("%d messages took %d ps, %d on the wire", n-1, d, (n-1)*wire)
	}
}

// What is lost comes late, and nothing is dropped.
func TestTCPLoss(t *testing.T) {
	b := newSockets(t, Config{LossPPM: 200_000})
	const n = 200
	b.receive(0, n)
	for i := range n {
		b.send(i, 100)
	}
	late := b.f.TCP().Retransmit
	soon := len(b.arrived(late / 2))
	if soon == n || soon < n/2 {
		t.Errorf("%d of %d messages were not lost at a loss of 20 %%", soon, n)
	}
	rest := b.arrived(10 * late)
	if x := b.f.Counts(); soon+len(rest) != n || x.Retries < uint64(n-soon) || x.Lost != 0 {
		t.Errorf("%d and %d of %d messages came; %+v", soon, len(rest), n, x)
	}
	for _, e := range rest {
		if e.At < late {
			t.Errorf("message %d was lost and came at %d ps", e.ID, e.At)
		}
	}
	if b.f.InFlight() != 0 {
		t.Errorf("%d messages under way", b.f.InFlight())
	}
}

// A message without a buffer waits for one.
func TestTCPClosedWindow(t *testing.T) {
	b := newSockets(t, Config{})
	b.send(0, 100)
	if got := b.arrived(sim.Millisecond); len(got) != 0 {
		t.Fatalf("%+v without a buffer", got)
	}
	b.receive(0, 1)
	if got := b.arrived(50 * sim.Microsecond); len(got) != 1 || b.f.Counts().NoRecv != 0 {
		t.Errorf("%+v with a buffer, counts %+v", got, b.f.Counts())
	}
}

// A machine that is off gets nothing, and no client waits for it for ever.
func TestTCPOff(t *testing.T) {
	b := newSockets(t, Config{})
	b.receive(0, 1)
	b.f.Machine(1).NICs[0].SetDown(true)
	b.send(0, 100)
	if got := b.arrived(sim.Millisecond); len(got) != 0 || b.f.InFlight() != 0 {
		t.Errorf("%+v arrived, %d under way", got, b.f.InFlight())
	}
}
