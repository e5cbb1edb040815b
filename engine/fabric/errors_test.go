package fabric

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// pairBed is two machines with one worker each, nothing runs by itself.
func pairBed(t *testing.T, c Config) (b *bed, x, y *bedWorker) {
	b = newBed(t, bedOptions{machines: 2, threads: 1, span: 1 << 20, config: c})
	return b, b.workers[0], b.workers[1]
}

// completions polls everything, formatted.
func (w *bedWorker) completions() []string {
	var out []string
	var e [64]CQE
	for n := w.cq.Poll(e[:]); n > 0; n = w.cq.Poll(e[:]) {
		for _, c := range e[:n] {
			out = append(out, fmt.Sprintf("%d %v %v", c.ID, c.Op, c.Status))
		}
	}
	return out
}

func expect(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		t.Errorf("%s:\n got  %s\n want %s", what, strings.Join(got, "; "), strings.Join(want, "; "))
	}
}

func (w *bedWorker) read(id uint64, m int, n uint32) SendWR {
	return SendWR{ID: id, Op: Read, Signaled: true, Local: w.scratch, LKey: w.key, Len: n, Remote: w.bed.data[m], RKey: w.bed.keys[m]}
}

func (w *bedWorker) write(id uint64, m int, n uint32) SendWR {
	return SendWR{ID: id, Op: Write, Signaled: true, Local: w.scratch, LKey: w.key, Len: n, Remote: w.bed.data[m], RKey: w.bed.keys[m]}
}

func (w *bedWorker) postAll(q *QP, list ...SendWR) {
	w.bed.t.Helper()
	if err := q.PostSend(w.bed.sim.Now(), list); err != nil {
		w.bed.t.Fatal(err)
	}
}

// connect makes one more RC queue pair to another worker's machine.
func (w *bedWorker) connect(to *bedWorker, cq *CQ) *QP {
	w.bed.t.Helper()
	q, err := w.ud.NIC().CreateQP(QPConfig{Transport: RC, SendCQ: cq})
	if err != nil {
		w.bed.t.Fatal(err)
	}
	r, err := to.ud.NIC().CreateQP(QPConfig{Transport: RC})
	if err == nil {
		err = Connect(q, r)
	}
	if err != nil {
		w.bed.t.Fatal(err)
	}
	return q
}

func (w *bedWorker) postRecv(q *QP, id uint64, n uint32) {
	w.bed.t.Helper()
	if err := q.PostRecv(w.bed.sim.Now(), []RecvWR{{ID: id, Local: w.scratch + 1<<20, LKey: w.key, Len: n}}); err != nil {
		w.bed.t.Fatal(err)
	}
}

// Thesis table 2-2: which transport supports which verb.
func TestTransportTable(t *testing.T) {
	b, w, _ := pairBed(t, Config{})
	table := map[Transport][]bool{ // SEND, WRITE, READ, CAS, FAA
		RC: {true, true, true, true, true},
		UC: {true, true, false, false, false},
		UD: {true, false, false, false, false},
	}
	for tr, row := range table {
		q, r := w.ud, b.workers[1].ud
		if tr != UD {
			var err error
			q, err = w.ud.NIC().CreateQP(QPConfig{Transport: tr})
			if err != nil {
				t.Fatal(err)
			}
			if r, err = b.workers[1].ud.NIC().CreateQP(QPConfig{Transport: tr}); err != nil {
				t.Fatal(err)
			}
			if err := Connect(q, r); err != nil {
				t.Fatal(err)
			}
		}
		for op, want := range row {
			op := Opcode(op)
			wr := SendWR{Op: op, Local: w.scratch, LKey: w.key, Len: 8, Remote: b.data[1], RKey: b.keys[1], Dest: r.Address()}
			err := q.PostSend(b.sim.Now(), []SendWR{wr})
			if (err == nil) != want || tr.Allows(op) != want {
				t.Errorf("%v on %v: %v, allowed %v, table says %v", op, tr, err, tr.Allows(op), want)
			}
			if err != nil && (!strings.Contains(err.Error(), op.String()) || !strings.Contains(err.Error(), tr.String())) {
				t.Errorf("%v on %v: the error does not name both: %v", op, tr, err)
			}
		}
	}
	if RC.Allows(Recv) {
		t.Error("RECV is not for the send queue")
	}
}

func TestPostErrors(t *testing.T) {
	b, x, y := pairBed(t, Config{})
	q := x.rc[1]
	long := x.write(1, 1, 93) // 64 asked for and 36 of segments are two blocks of 64
	long.Inline = true
	inlineRead := x.read(1, 1, 8)
	inlineRead.Inline = true
	lone, err := x.ud.NIC().CreateQP(QPConfig{Transport: RC})
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name string
		err  error
		has  string
	}{
		{"inline too long", q.PostSend(0, []SendWR{long}), "93 bytes"},
		{"inline READ", q.PostSend(0, []SendWR{inlineRead}), "inline READ"},
		{"not connected", lone.PostSend(0, []SendWR{x.read(1, 1, 8)}), "not connected"},
		{"datagram too long", x.ud.PostSend(0, []SendWR{{Op: Send, Len: 4097, Dest: y.ud.Address()}}), "4097"},
		{"no machine", x.ud.PostSend(0, []SendWR{{Op: Send, Dest: AH{Machine: 9}}}), "machine 9"},
		{"no such queue pair", x.ud.PostSend(0, []SendWR{{Op: Send, Dest: AH{Machine: 1, QPN: 99}}}), "queue pair 99"},
		{"datagram to RC", x.ud.PostSend(0, []SendWR{{Op: Send, Dest: y.rc[0].Address()}}), "not a UD"},
		{"queue full", q.PostSend(0, make([]SendWR, 129)), "129 posted"},
		{"RECV outside", y.ud.PostRecv(0, []RecvWR{{Local: y.scratch, LKey: y.key, Len: 4 << 20}}), "RECV into 4194304"},
		{"RECVs", y.ud.PostRecv(0, make([]RecvWR, 2049)), "holds 2048"},
		{"connect twice", Connect(q, y.rc[0]), "connected already"},
		{"connect UD", Connect(x.ud, y.ud), "not connected"},
		{"connect RC with UD", Connect(lone, y.ud), "RC with UD"},
		{"connect with itself", Connect(lone, lone), "itself"},
	}
	for _, c := range cases {
		if c.err == nil || !strings.Contains(c.err.Error(), c.has) {
			t.Errorf("%s: %v, want %q in it", c.name, c.err, c.has)
		}
	}
	for _, c := range []QPConfig{{SendDepth: 40000}, {RecvDepth: -1}, {MaxInline: 65}, {MaxOutstanding: 17}, {Transport: 7}} {
		if _, err := x.ud.NIC().CreateQP(c); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
	b.run(sim.Microsecond)
	if err := q.PostSend(0, []SendWR{x.read(1, 1, 8)}); err == nil {
		t.Error("a post in the past is accepted")
	}
	if n := b.f.InFlight(); n != 0 {
		t.Errorf("%d verbs left from refused posts", n)
	}
}

func TestSendQueueFull(t *testing.T) {
	b, x, _ := pairBed(t, Config{})
	q := x.rc[1]
	for id := range uint64(128) {
		w := x.write(id, 1, 8)
		w.Signaled = id == 127
		x.postAll(q, w)
	}
	if err := q.PostSend(b.sim.Now(), []SendWR{x.read(0, 1, 8)}); !errors.Is(err, ErrSendQueueFull) {
		t.Fatalf("post 129: %v", err)
	}
	b.run(100 * sim.Microsecond)
	if q.Free() != 0 {
		t.Errorf("%d slots are free before anything is polled", q.Free())
	}
	expect(t, "one completion for all", x.completions(), "127 WRITE success")
	if q.Free() != 128 || q.Outstanding() != 0 {
		t.Errorf("%d slots are free after the poll", q.Free())
	}
}

// A local buffer that the key does not cover: the request fails when it is its
// turn, what was before is done, what comes behind is flushed.
func TestLocalProtection(t *testing.T) {
	b, x, _ := pairBed(t, Config{})
	bad := x.write(3, 1, 8)
	bad.LKey = 77
	quiet := x.read(2, 1, 64)
	quiet.Signaled = false
	x.postAll(x.rc[1], x.read(1, 1, 64), quiet, bad, x.write(4, 1, 8), x.read(5, 1, 8))
	b.run(50 * sim.Microsecond)
	expect(t, "completions", x.completions(), "1 READ success", "3 WRITE local protection error",
		"4 WRITE work request flushed", "5 READ work request flushed")
	if !x.rc[1].Failed() {
		t.Error("the queue pair is not in the error state")
	}
	if b.f.InFlight() != 0 {
		t.Errorf("%d verbs never ended", b.f.InFlight())
	}
	// Reading into memory that may not be written locally.
	mem := b.f.Machine(0).Mem
	ro := mem.Register(x.scratch, 4096, 0)
	r := x.read(6, 0, 8)
	r.LKey = ro.LKey
	x.postAll(x.rc[0], r)
	b.run(50 * sim.Microsecond)
	expect(t, "read-only destination", x.completions(), "6 READ local protection error")
}

func TestRemoteAccess(t *testing.T) {
	for _, c := range []struct {
		name   string
		spoil  func(w *SendWR)
		status Status
	}{
		{"wrong key", func(w *SendWR) { w.RKey = 9999 }, RemoteAccess},
		{"key 0", func(w *SendWR) { w.RKey = 0 }, RemoteAccess},
		{"behind the end", func(w *SendWR) { w.Remote += 1<<20 - 63 }, RemoteAccess},
		{"before the start", func(w *SendWR) { w.Remote -= 8 }, RemoteAccess},
		{"wrap", func(w *SendWR) { w.Remote = ^space.Addr(0) - 7 }, RemoteAccess},
		{"misaligned atomic", func(w *SendWR) { w.Op, w.Remote = FetchAdd, w.Remote+4 }, RemoteInvalidRequest},
	} {
		b, x, y := pairBed(t, Config{TornReads: true})
		bad := x.read(2, 1, 64)
		bad.Signaled = false // an error completes even so
		c.spoil(&bad)
		y.postRecv(y.rc[0], 50, 64)
		x.postAll(x.rc[1], x.read(1, 1, 4096), bad, x.read(3, 1, 8), x.write(4, 1, 8))
		b.run(100 * sim.Microsecond)
		expect(t, c.name, x.completions(), "1 READ success", fmt.Sprintf("2 %v %v", bad.Op, c.status),
			"3 READ work request flushed", "4 WRITE work request flushed")
		// The responder's end fails as well, and its RECVs with it.
		expect(t, c.name+", responder", y.completions(), "50 RECV work request flushed")
		x.postAll(x.rc[1], x.read(5, 1, 8))
		b.run(100 * sim.Microsecond)
		expect(t, c.name+", later", x.completions(), "5 READ work request flushed")
		b.run(2 * b.f.cost.timeout) // packets to the failed end wait for their retransmission
		if b.f.InFlight() != 0 {
			t.Errorf("%s: %d verbs never ended", c.name, b.f.InFlight())
		}
	}
}

// What UC and UD have sent is complete before what fails behind it, however long it
// takes to get onto the wire.
func TestLocalProtectionBehindWhatIsSent(t *testing.T) {
	for _, tr := range []Transport{UC, UD} {
		b, x, y := pairBed(t, Config{})
		q, err := x.ud.NIC().CreateQP(QPConfig{Transport: tr, SendCQ: x.cq})
		if err != nil {
			t.Fatal(err)
		}
		r, err := y.ud.NIC().CreateQP(QPConfig{Transport: tr})
		if err == nil && tr == UC {
			err = Connect(q, r)
		}
		if err != nil {
			t.Fatal(err)
		}
		var list []SendWR
		for id := range uint64(4) {
			list = append(list, SendWR{ID: id, Op: Send, Signaled: true, Local: x.scratch, LKey: x.key, Len: 4096, Dest: r.Address()})
		}
		list[2].LKey = 77
		x.postAll(q, list...)
		b.run(50 * sim.Microsecond)
		expect(t, tr.String(), x.completions(), "0 SEND success", "1 SEND success",
			"2 SEND local protection error", "3 SEND work request flushed")
	}
}

// Permissions of the remote region, one by one.
func TestPermissions(t *testing.T) {
	perms := map[Opcode]host.Perm{Read: host.RemoteRead, Write: host.RemoteWrite, CompareSwap: host.RemoteAtomic, FetchAdd: host.RemoteAtomic}
	for op, need := range perms {
		for _, have := range []host.Perm{0, host.LocalWrite, host.RemoteRead, host.RemoteWrite, host.RemoteAtomic, host.LocalWrite | host.RemoteRead | host.RemoteWrite | host.RemoteAtomic} {
			b, x, _ := pairBed(t, Config{})
			r := b.f.Machine(1).Mem.Register(b.data[1], 4096, have)
			w := x.read(1, 1, 8)
			w.Op, w.RKey = op, r.RKey
			x.postAll(x.rc[1], w)
			b.run(50 * sim.Microsecond)
			want := "success"
			if have&need == 0 {
				want = "remote access error"
			}
			expect(t, fmt.Sprintf("%v with permissions %b", op, have), x.completions(), fmt.Sprintf("1 %v %s", op, want))
		}
	}
	b, x, _ := pairBed(t, Config{})
	r := b.f.Machine(1).Mem.Register(b.data[1], 4096, host.RemoteRead)
	b.f.Machine(1).Mem.Deregister(r)
	w := x.read(1, 1, 8)
	w.RKey = r.RKey
	x.postAll(x.rc[1], w)
	b.run(50 * sim.Microsecond)
	expect(t, "deregistered", x.completions(), "1 READ remote access error")
}

// A message finds no RECV: RC tries again and goes on when one is posted, with
// everything behind it in order; if none comes it gives up.
func TestReceiverNotReady(t *testing.T) {
	b, x, y := pairBed(t, Config{})
	send := func(id uint64) SendWR {
		return SendWR{ID: id, Op: Send, Signaled: true, Local: x.scratch, LKey: x.key, Len: 16}
	}
	x.postAll(x.rc[1], send(1), x.write(2, 1, 8), send(3))
	b.run(25 * sim.Microsecond)
	expect(t, "nothing yet", x.completions())
	y.postRecv(y.rc[0], 51, 64)
	y.postRecv(y.rc[0], 52, 64)
	b.run(50 * sim.Microsecond)
	expect(t, "in order after the retry", x.completions(), "1 SEND success", "2 WRITE success", "3 SEND success")
	expect(t, "received", y.completions(), "51 RECV success", "52 RECV success")
	if b.f.Counts().Retries == 0 {
		t.Error("no retry was counted")
	}
	x.postAll(x.rc[1], send(4), x.write(5, 1, 8))
	b.run(200 * sim.Microsecond)
	expect(t, "given up", x.completions(), "4 SEND RNR retry counter exceeded", "5 WRITE work request flushed")
	if b.f.InFlight() != 0 {
		t.Errorf("%d verbs never ended", b.f.InFlight())
	}

	// UD just drops.
	x.postAll(x.ud, SendWR{ID: 9, Op: Send, Signaled: true, Local: x.scratch, LKey: x.key, Len: 16, Dest: y.ud.Address()})
	b.run(50 * sim.Microsecond)
	expect(t, "datagram without RECV", x.completions(), "9 SEND success")
	if b.f.Counts().NoRecv != 1 {
		t.Errorf("%d datagrams dropped for want of a RECV, want 1", b.f.Counts().NoRecv)
	}
}

func TestMessageTooLong(t *testing.T) {
	b, x, y := pairBed(t, Config{})
	y.postRecv(y.rc[0], 51, 8)
	x.postAll(x.rc[1], SendWR{ID: 1, Op: Send, Local: x.scratch, LKey: x.key, Len: 16}, x.read(2, 1, 8))
	b.run(50 * sim.Microsecond)
	expect(t, "sender", x.completions(), "1 SEND remote invalid request error", "2 READ work request flushed")
	expect(t, "receiver", y.completions(), "51 RECV local length error")
}

// The peer's RNIC is off: packets are sent again until the retries are used up,
// or until it is back.
func TestRetryExceeded(t *testing.T) {
	b, x, _ := pairBed(t, Config{})
	timeout := b.f.cost.timeout
	off := b.f.Machine(1).NICs[0]
	off.SetDown(true)
	x.postAll(x.rc[1], x.write(1, 1, 8), x.read(2, 1, 8))
	b.run(2 * timeout)
	expect(t, "still trying", x.completions())
	off.SetDown(false)
	b.run(2 * timeout)
	expect(t, "back again", x.completions(), "1 WRITE success", "2 READ success")
	off.SetDown(true)
	x.postAll(x.rc[1], x.write(3, 1, 8), x.read(4, 1, 8))
	b.run(10 * timeout)
	expect(t, "gone", x.completions(), "3 WRITE transport retry counter exceeded", "4 READ work request flushed")
	b.run(20 * timeout)
	if b.f.InFlight() != 0 {
		t.Errorf("%d verbs never ended", b.f.InFlight())
	}
}

// What is posted behind a request that is given up is flushed and never executed, also
// when nothing is lost any more.
func TestNothingIsExecutedBehindWhatIsGivenUp(t *testing.T) {
	b, x, _ := pairBed(t, Config{})
	mem := b.f.Machine(1).Mem
	b.f.Machine(0).Mem.Bytes(x.scratch, 1)[0] = 7
	b.f.SetRCLoss(1_000_000)
	second := x.write(2, 1, 1)
	second.Remote += 64
	x.postAll(x.rc[1], x.write(1, 1, 1), second)
	for b.f.Counts().Retries < uint64(b.f.cost.retries) {
		b.run(100 * sim.Nanosecond)
	}
	b.run(b.f.cost.recovery)
	b.f.SetRCLoss(0)
	b.run(sim.Millisecond)
	expect(t, "completions", x.completions(), "1 WRITE transport retry counter exceeded", "2 WRITE work request flushed")
	if got := mem.Bytes(b.data[1], 65); got[0] != 0 || got[64] != 0 {
		t.Errorf("executed: the first %v, the second %v", got[0] != 0, got[64] != 0)
	}
	if b.f.InFlight() != 0 {
		t.Errorf("%d verbs never ended", b.f.InFlight())
	}
}

// A request that fails before it is sent waits for those before it, however long they
// take, and does nothing meanwhile.
func TestLocalProtectionBehindARetry(t *testing.T) {
	b, x, _ := pairBed(t, Config{})
	off := b.f.Machine(1).NICs[0]
	off.SetDown(true)
	bad := x.write(2, 1, 8)
	bad.LKey = 77
	x.postAll(x.rc[1], x.write(1, 1, 8), bad)
	b.run(b.f.cost.timeout / 2)
	if n := b.sim.Events(); n > 100 {
		t.Errorf("%d events", n)
	}
	off.SetDown(false)
	b.run(b.f.cost.timeout)
	expect(t, "completions", x.completions(), "1 WRITE success", "2 WRITE local protection error")
}

// A completion queue that is too small loses completions and the queue pair.
func TestCompletionQueueOverrun(t *testing.T) {
	b, x, y := pairBed(t, Config{})
	cq := x.ud.NIC().CreateCQ(4)
	q := x.connect(y, cq)
	for id := range uint64(8) {
		x.postAll(q, x.read(id, 1, 8))
	}
	b.run(50 * sim.Microsecond)
	if cq.Len() != 4 || !cq.Overrun() || !q.Failed() || b.f.Counts().CQOverruns == 0 {
		t.Errorf("%d completions, overrun %v, queue pair failed %v", cq.Len(), cq.Overrun(), q.Failed())
	}
	var e [8]CQE
	if n := cq.Poll(e[:]); n != 4 || e[3].ID != 3 || e[3].Status != Success {
		t.Errorf("%d completions, the last one %v", n, e[3])
	}
	if b.f.InFlight() != 0 {
		t.Errorf("%d verbs never ended", b.f.InFlight())
	}
}

// Completions of a queue pair come in the order of posting, also of one that fails
// under a load whose completions PCIe has booked long ahead, and is posted to again
// by whoever sees the first flushed ones.
func TestFlushedInOrder(t *testing.T) {
	b := newBed(t, bedOptions{machines: 3, threads: 8, span: 1 << 20, config: Config{NICs: 1}})
	const flushes = 4000
	posted, last := map[uint32]uint64{}, map[uint32]uint64{} // by queue pair
	flushed := 0
	b.start(64, func(w *bedWorker, id uint64) {
		if w.machine != 0 {
			return
		}
		m := 1 + w.rand.Intn(2)
		q := w.rc[m]
		posted[q.qpn]++
		w.post(q, SendWR{ID: posted[q.qpn], Op: Read, Signaled: true, Local: w.scratch + space.Addr(id)*64, LKey: w.key, Len: 64,
			Remote: b.data[m] + w.rand.Uint64n(1<<13)*64, RKey: b.keys[m]})
	}, func(w *bedWorker, e *CQE) {
		if e.ID != last[e.QPN]+1 {
			t.Fatalf("queue pair %d: %d (%v) comes behind %d", e.QPN, e.ID, e.Status, last[e.QPN])
		}
		last[e.QPN] = e.ID
		if e.Status == Flushed {
			flushed++
		}
		if flushed < flushes {
			w.next(w, e.ID%64)
		}
	})
	b.run(50 * sim.Microsecond)
	if err := b.f.Machine(1).Crash(); err != nil {
		t.Fatal(err)
	}
	b.run(100 * sim.Microsecond)
	if flushed < flushes {
		t.Errorf("%d flushed", flushed)
	}
}
