package fabric

import (
	"testing"

	"drtmx/engine/fabric/profile"
	"drtmx/engine/fabric/space"
	"drtmx/engine/metrics"
	"drtmx/engine/sim"
)

// crowd is many connections from machine 0 to one queue pair of machine 1.
type crowd struct {
	*sockets
	from []*QP
}

func newCrowd(t *testing.T, connections, messages int, c Config) *crowd {
	x := &crowd{sockets: newSockets(t, c)}
	for range connections {
		q, err := x.f.Machine(0).NICs[0].CreateQP(QPConfig{Transport: TCP, SendCQ: x.cq[0], RecvCQ: x.cq[0], SendDepth: 1024})
		if err != nil {
			t.Fatal(err)
		}
		x.from = append(x.from, q)
	}
	for i := range messages {
		w := RecvWR{ID: uint64(i), Local: x.base[1] + space.Addr(i*64), LKey: x.key[1], Len: 64}
		if err := x.qp[1].PostRecv(0, []RecvWR{w}); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

// post sends message i by its turn's connection.
func (x *crowd) post(i int) {
	x.Helper()
	w := SendWR{ID: uint64(i), Op: Send, Local: x.base[0], LKey: x.key[0], Len: 16, Dest: x.qp[1].Address()}
	if err := x.from[i%len(x.from)].PostSend(x.sim.Now(), []SendWR{w}); err != nil {
		x.Fatal(err)
	}
}

// gap is the time between two messages of many that come as fast as they can.
func (x *crowd) gap(messages int) sim.Time {
	x.Helper()
	for i := range messages {
		x.post(i)
	}
	got := x.arrived(20 * sim.Millisecond)
	if len(got) != messages {
		x.Fatalf("%d of %d messages", len(got), messages)
	}
	if n := x.f.OutOfOrder(); n != 0 {
		x.Errorf("%d arrivals out of order", n)
	}
	return (got[len(got)-1].At - got[0].At) / sim.Time(messages-1)
}

// One connection has one core's softirq time, many have that of all queues, and never more: of two queues two.
func TestSoftirqSaturates(t *testing.T) {
	const messages = 960
	for _, c := range []struct{ connections, queues, of int }{{1, 8, 1}, {480, 8, 8}, {480, 2, 2}, {480, 128, 24}} {
		p, err := profile.Load("vale")
		if err != nil {
			t.Fatal(err)
		}
		p.TCP.Queues.Value, p.TCP.Softirq.Value = float64(c.queues), 12_600 // above the NIC's and the link's time of a message
		x := newCrowd(t, c.connections, messages, Config{Profile: p})
		least := p.TCP.Softirq.Time() / sim.Time(c.of)
		if gap := x.gap(messages); gap < least*99/100 || gap > least*3/2 {
			t.Errorf("%d connections and %d queues: a message in %d ps, %d queues allow %d", c.connections, c.queues, gap, c.of, least)
		}
		used := 0
		for _, u := range x.f.Usage(nil) {
			if u.Node == 1 && u.Resource == SoftirqCore && u.BusyPS > 0 {
				used++
			}
		}
		if used != c.of {
			t.Errorf("%d connections and %d queues: %d cores had softirq work, want %d", c.connections, c.queues, used, c.of)
		}
	}
}

// Messages of a connection stay in order, whatever comes between.
func TestSoftirqKeepsConnectionsInOrder(t *testing.T) {
	const connections, messages = 40, 900
	x := newCrowd(t, connections, messages, Config{})
	for i := range messages {
		x.post(i)
	}
	turn := map[AH]sim.Time{} // by sender: when its latest came
	overtaken, all := 0, x.arrived(10*sim.Millisecond)
	ids := map[AH]uint64{}
	for k, e := range all {
		if e.At < turn[e.Src] || k > 0 && e.At < all[k-1].At {
			t.Errorf("a message of %+v came at %d, behind one of %d", e.Src, e.At, turn[e.Src])
		}
		if id := e.ID; id < ids[e.Src] { // buffers are taken in the order of arrival at the NIC
			t.Errorf("message %d of %+v came behind %d", id, e.Src, ids[e.Src])
		} else {
			ids[e.Src] = id
		}
		if k > 0 && e.ID < all[k-1].ID {
			overtaken++
		}
		turn[e.Src] = e.At
	}
	if len(all) != messages || overtaken == 0 {
		t.Errorf("%d of %d messages; no two connections overtook each other in %d", len(all), messages, overtaken)
	}
}

// Milestones have the softirq work and the wait for it.
func TestSoftirqInMilestones(t *testing.T) {
	x := newCrowd(t, 1, 100, Config{})
	for i := range 100 {
		x.post(i)
	}
	before := uint32(0)
	for _, e := range x.arrived(sim.Millisecond) {
		if wait := e.Stamp[metrics.Completion]; wait <= before {
			t.Fatalf("message %d waited %d ps for its core, the one before %d", e.ID, wait, before)
		}
		before = e.Stamp[metrics.Completion]
	}
}

// After the limit a thread that wants the core has half of it, and what is not wanted is not shared.
func TestSoftirqSharesAfterItsLimit(t *testing.T) {
	for _, wanted := range []bool{false, true} {
		const messages = 900
		p, err := profile.Load("vale")
		if err != nil {
			t.Fatal(err)
		}
		p.TCP.SoftirqLimit.Value = 300 * p.TCP.Softirq.Value
		x := newCrowd(t, 1, messages, Config{Profile: p})
		var taken sim.Time
		x.f.Machine(1).Interrupted = func(core int, d sim.Time) bool {
			taken += d
			return wanted
		}
		for i := range messages {
			x.post(i)
		}
		got, d := x.arrived(10*sim.Millisecond), p.TCP.Softirq.Time()
		if taken != messages*d {
			t.Errorf("%d ps taken of the core for %d messages of %d", taken, messages, d)
		}
		after := d
		if wanted {
			after *= 2
		}
		if a, b := got[200].At-got[199].At, got[800].At-got[799].At; a != d || b != after {
			t.Errorf("wanted %v: a message took %d ps within the limit and %d behind it, want %d and %d", wanted, a, b, d, after)
		}
	}
}

// closed is how many messages clients that wait for theirs have taken to their sockets in some time.
func closed(t *testing.T, clients int, shared bool) (served int) {
	t.Helper()
	x := newCrowd(t, 1, 0, Config{})
	x.f.Machine(1).Interrupted = func(int, sim.Time) bool { return shared }
	warmup := 4 * x.f.cost.softirqLimit
	left := clients
	w := []SendWR{{Op: Send, Signaled: true, Local: x.base[0], LKey: x.key[0], Len: 16, Dest: x.qp[1].Address()}}
	var sent [64]CQE
	for x.sim.Now() < 2*warmup {
		for ; left > 0; left-- {
			if err := x.qp[1].PostRecv(x.sim.Now(), []RecvWR{{Local: x.base[1], LKey: x.key[1], Len: 64}}); err != nil {
				t.Fatal(err)
			}
			if err := x.from[0].PostSend(x.sim.Now(), w); err != nil {
				t.Fatal(err)
			}
		}
		left = len(x.arrived(500 * sim.Nanosecond))
		for x.cq[0].Poll(sent[:]) > 0 {
		}
		if x.sim.Now() >= warmup {
			served += left
		}
	}
	return served
}

// A closed loop is slower with more clients once they keep its queue busy, for then the queue's core
// is shared; if it is not, more clients only wait longer.
func TestSoftirqFallsBeyondItsPeak(t *testing.T) {
	peak, many := closed(t, 5, true), closed(t, 64, true)
	alone := closed(t, 64, false)
	if many < alone*49/100 || many > alone*51/100 {
		t.Errorf("64 clients have %d messages of a shared core, want half of %d", many, alone)
	}
	if peak < many*5/4 || peak > alone {
		t.Errorf("5 clients have %d messages, want more than the %d of 64 and no more than %d", peak, many, alone)
	}
	if few := closed(t, 5, false); few != peak {
		t.Errorf("5 clients leave gaps: they have %d messages of a core that would be shared and %d of another", peak, few)
	}
}

// What a crashed machine's kernel had on its way to a socket is gone, and nothing is left over.
func TestSoftirqOfACrash(t *testing.T) {
	x := newCrowd(t, 1, 50, Config{})
	for i := range 50 {
		x.post(i)
	}
	if err := x.sim.Run(x.f.cost.interrupt + 20*sim.Microsecond); err != nil {
		t.Fatal(err)
	}
	told := false
	x.f.Machine(1).Interrupted = func(int, sim.Time) bool { told = true; return true }
	if err := x.f.Machine(1).Crash(); err != nil {
		t.Fatal(err)
	}
	if got := x.arrived(10 * sim.Millisecond); len(got) != 0 || x.f.InFlight() != 0 || told {
		t.Errorf("%d messages came, %d are under way, interrupted %v", len(got), x.f.InFlight(), told)
	}
	if err := x.f.Machine(1).Restart(); err != nil {
		t.Error(err)
	}
}

// The way of a message through the kernel takes no memory.
func TestSoftirqAllocatesNothing(t *testing.T) {
	x := newCrowd(t, 1, 1000, Config{})
	i, out := 0, make([]CQE, 64)
	w := []SendWR{{Op: Send, Local: x.base[0], LKey: x.key[0], Len: 16, Dest: x.qp[1].Address()}}
	one := func() {
		if err := x.from[0].PostSend(x.sim.Now(), w); err != nil {
			t.Fatal(err)
		}
		if err := x.sim.Run(x.sim.Now() + 20*sim.Microsecond); err != nil {
			t.Fatal(err)
		}
		i += x.cq[1].Poll(out)
	}
	one()
	if n := testing.AllocsPerRun(500, one); n != 0 || i != 502 {
		t.Errorf("%g allocations for each of %d messages", n, i)
	}
}
