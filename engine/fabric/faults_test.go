package fabric

import (
	"fmt"
	"math/rand"
	"testing"

	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// Random requests on random queue pairs while packets are lost, RNICs are slow or cut off, keys are taken back, queues
// overrun and machines crash. Whatever happens: a signaled request completes once, behind an error comes no success of
// its queue pair, what the milestones say adds up, and in the end nothing is under way and no buffer is missing.
func TestFaultsAtRandom(t *testing.T) {
	seeds := 100
	if testing.Short() {
		seeds = 30
	}
	for seed := range int64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			x := newFaults(t, seed)
			for range 200 {
				x.step()
			}
			x.settle()
			for _, q := range x.pairs {
				x.checkEnd(q)
			}
			x.checkFabric()
			for _, wrong := range x.wrong {
				t.Error(wrong)
			}
		})
	}
}

type faults struct {
	*bed
	rand  *rand.Rand
	pairs []*faultyPair
	uds   []AH
	mrs   []host.MR
	taken []bool // by machine: its key
	down  []bool
	kinds struct{ crash, keys, cut bool }
	wrong []string
}

// faultyPair is a queue pair with what is known of its requests, whose ids count.
type faultyPair struct {
	*QP
	cq         *CQ
	w          *bedWorker
	to         int
	posted     []sim.Time
	signaled   []bool
	completed  []bool
	confirmed  int // the last that succeeded, or -1
	failed     int // the first that did not, or -1
	recvs      int // posted, and not completed
	overflowed bool
}

func newFaults(t *testing.T, seed int64) *faults {
	r := rand.New(rand.NewSource(seed))
	x := &faults{rand: r, taken: make([]bool, 3), down: make([]bool, 3)}
	x.bed = newBed(t, bedOptions{machines: 3, threads: 2, span: 1 << 20,
		config: Config{TornReads: r.Intn(2) == 0, LossPPM: uint32(r.Intn(3) * 100_000), NoDDIO: r.Intn(4) == 0}})
	x.kinds.crash, x.kinds.keys, x.kinds.cut = seed%3 == 1, seed%7 == 0, seed%11 == 0
	if seed%5 == 0 {
		x.f.SetRCLoss(50_000)
	}
	for range 6 {
		from, to := x.workers[r.Intn(6)], x.workers[r.Intn(6)]
		tr := []Transport{RC, RC, RC, UC}[r.Intn(4)]
		depth := []int{8192, 8192, 8192, 1, 3}[r.Intn(5)]
		p, q := x.pair(from, tr, depth), x.pair(to, tr, 8192)
		p.to, q.to = to.machine, from.machine
		if err := Connect(p.QP, q.QP); err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range x.workers {
		x.uds = append(x.uds, x.pair(w, UD, 8192).Address())
	}
	for m := range 3 {
		x.mrs = append(x.mrs, x.f.Machine(m).Mem.Register(x.data[m], 1<<20, host.LocalWrite|host.RemoteRead|host.RemoteWrite|host.RemoteAtomic))
	}
	return x
}

func (x *faults) pair(w *bedWorker, tr Transport, depth int) *faultyPair {
	n, r := w.ud.NIC(), x.rand
	cq := n.CreateCQ(depth)
	q, err := n.CreateQP(QPConfig{Transport: tr, SendCQ: cq, RecvCQ: cq, SendDepth: 1 + r.Intn(20), RecvDepth: 1 + r.Intn(8), MaxOutstanding: 1 + r.Intn(4)})
	if err != nil {
		x.t.Fatal(err)
	}
	p := &faultyPair{QP: q, cq: cq, w: w, confirmed: -1, failed: -1}
	x.pairs = append(x.pairs, p)
	return p
}

func (x *faults) fail(format string, a ...any) {
	x.wrong = append(x.wrong, fmt.Sprintf("at %d ps: ", x.sim.Now())+fmt.Sprintf(format, a...))
}

func (x *faults) step() {
	r := x.rand
	q, n := x.pairs[r.Intn(len(x.pairs))], x.f.nics[r.Intn(len(x.f.nics))]
	m, k := r.Intn(3), r.Intn(100)
	switch {
	case k < 60 && !x.down[q.w.machine]:
		x.post(q)
	case k < 80 && !x.down[q.w.machine]:
		w := RecvWR{Local: q.w.scratch + 1<<20, LKey: q.w.key, Len: 1 << (6 + r.Intn(12))}
		w.Further = x.cut(&w.Len, Recv, q.w)
		if q.PostRecv(x.sim.Now(), []RecvWR{w}) == nil {
			q.recvs++
		}
	case k < 82 && x.kinds.keys && !x.taken[m]:
		x.f.Machine(m).Mem.Deregister(x.mrs[m])
		x.taken[m] = true
	case k < 84 && x.kinds.cut:
		n.SetDown(r.Intn(3) == 0)
	case k < 86:
		n.SetSlowdown(r.Intn(3) * 500)
	case k < 88 && x.kinds.crash && !x.down[m]:
		if err := x.f.Machine(m).Crash(); err != nil {
			x.fail("%v", err)
		}
		x.down[m] = true
	case k < 93:
		x.poll()
	default:
		x.run(sim.Time(r.Intn(3_000_000)))
	}
}

// post posts a list of up to four requests.
func (x *faults) post(q *faultyPair) {
	r, first := x.rand, len(q.posted)
	at := x.sim.Now() + sim.Time(r.Intn(3))*100
	var list []SendWR
	for i := range 1 + r.Intn(4) {
		w := x.request(q, uint64(first+i))
		w.Further = x.cut(&w.Len, w.Op, q.w)
		if len(w.Further) > 0 && r.Intn(50) == 0 { // one piece that its key does not allow
			w.Further[r.Intn(len(w.Further))].LKey++
		}
		list = append(list, w)
	}
	switch err := q.PostSend(at, list); {
	case err == nil:
		for i := range list {
			q.posted, q.signaled, q.completed = append(q.posted, at), append(q.signaled, list[i].Signaled), append(q.completed, false)
		}
	case len(list) <= q.Free():
		x.fail("post: %v", err)
	}
}

// cut leaves some of a buffer, now and then, to further segments anywhere, which it returns.
func (x *faults) cut(n *uint32, op Opcode, w *bedWorker) (further []Segment) {
	r := x.rand
	if op.atomic() || r.Intn(4) > 0 {
		return nil
	}
	for left := *n; len(further) < 5; {
		part := uint32(r.Intn(int(left) + 1))
		if left -= part; len(further) == 0 {
			*n = part
		} else {
			further[len(further)-1].Len = part
		}
		further = append(further, Segment{Local: w.scratch + space.Addr(r.Intn(1<<20)), LKey: w.key, Len: left})
	}
	return further
}

func (x *faults) request(q *faultyPair, id uint64) SendWR {
	r := x.rand
	lengths := []uint32{0, 1, 8, 63, 64, 65, 100, 4096, 5000, 65536}
	w := SendWR{ID: id, Op: Send, Signaled: r.Intn(3) > 0, Local: q.w.scratch + space.Addr(r.Intn(1<<20)), LKey: q.w.key, Len: lengths[r.Intn(len(lengths))]}
	switch q.Transport() {
	case RC:
		w.Op = []Opcode{Send, Write, Write, Read, Read, CompareSwap, FetchAdd}[r.Intn(7)]
	case UC:
		w.Op = []Opcode{Send, Write}[r.Intn(2)]
	default:
		w.Dest, w.Len = x.uds[r.Intn(len(x.uds))], lengths[r.Intn(8)]
		return w
	}
	w.Remote, w.RKey = x.data[q.to]+space.Addr(r.Intn(5000)), x.mrs[q.to].RKey
	if w.Op.atomic() {
		w.Len, w.Remote = 8, x.data[q.to]+space.Addr(r.Intn(4))*8
	}
	if r.Intn(150) == 0 {
		w.RKey = 3
	}
	if r.Intn(200) == 0 && w.Op.atomic() {
		w.Remote++
	}
	w.Inline = w.Op <= Write && w.Len <= 64 && r.Intn(2) == 0
	return w
}

func (x *faults) poll() {
	var e [5]CQE
	for _, q := range x.pairs {
		for n := q.cq.Poll(e[:]); n > 0; n = q.cq.Poll(e[:]) {
			for i := range e[:n] {
				x.complete(q, &e[i])
			}
		}
		q.overflowed = q.cq.Overrun()
	}
}

func (x *faults) complete(q *faultyPair, e *CQE) {
	id := int(e.ID)
	switch {
	case e.Op == Recv:
		q.recvs--
		return
	case id >= len(q.posted) || q.completed[id]:
		x.fail("%v pair: completion of %d, which was not posted or has completed", q.Transport(), id)
		return
	case e.Status != Success && q.failed < 0:
		q.failed = id
	case e.Status != Success:
	case !q.signaled[id] || q.failed >= 0 || id <= q.confirmed:
		x.fail("%v pair: success of %d behind that of %d and the failure of %d", q.Transport(), id, q.confirmed, q.failed)
	default:
		q.confirmed = id
		way := e.At - q.posted[id]
		if got := e.Stamp.Total(); got != way && way < 4*sim.Millisecond { // it saturates
			x.fail("%v %d took %d ps, of which milestones explain %d", e.Op, id, way, got)
		}
	}
	q.completed[id] = true
}

// settle lets all end: the last retransmission waits for seconds.
func (x *faults) settle() {
	for _, n := range x.f.nics {
		n.SetDown(n.machine.Down())
	}
	for n := 0; n < 140 && (n < 40 || x.f.InFlight() > 0); n++ {
		d := 2 * sim.Millisecond
		if n >= 40 {
			d = sim.Second
		}
		x.run(d)
		x.poll()
	}
}

// checkEnd looks at a queue pair when nothing is under way any more. Of a machine that is down nobody polls, and
// completions that found no room are lost.
func (x *faults) checkEnd(q *faultyPair) {
	if x.down[q.w.machine] || q.overflowed {
		return
	}
	for id, done := range q.completed {
		if flushed := q.Transport() == RC && q.failed >= 0 && id > q.failed; !done && (q.signaled[id] || flushed) {
			x.fail("%v pair: no completion of %d, signaled %v; the first to fail was %d", q.Transport(), id, q.signaled[id], q.failed)
		}
	}
	if waiting := int(q.rqTail - q.rqHead); q.recvs != waiting {
		x.fail("%v pair: %d RECVs have no completion, %d wait", q.Transport(), q.recvs, waiting)
	}
	if !q.Failed() && q.outstanding != 0 {
		x.fail("%d READs and atomics count as under way", q.outstanding)
	}
}

func (x *faults) checkFabric() {
	if n := x.f.InFlight(); n != 0 {
		x.fail("%d verbs are under way", n)
	}
	waiting := 0
	for i := range x.f.nics {
		for _, q := range x.f.nics[i].qps[1:] {
			for at := q.rqHead; at != q.rqTail; at++ {
				if q.rq[at&uint16(len(q.rq)-1)].list != 0 {
					waiting++
				}
			}
		}
	}
	if n := x.f.listsInUse(); n != waiting {
		x.fail("%d gather lists are in use, of %d RECVs that wait", n, waiting)
	}
	for m := range 3 {
		if n := underWay(x.f.Machine(m).Mem); n != 0 {
			x.fail("accesses to machine %d count as under way: %d", m, n)
		}
	}
	if n := x.f.OutOfOrder(); n != 0 {
		x.fail("%d arrivals out of order", n)
	}
}
