package fabric

import (
	"testing"

	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// bed is a cluster with closed-loop clients that are plain callbacks: each has
// some requests under way and posts the next one when a completion comes. Cores
// cost nothing, so what saturates is the fabric.
type bed struct {
	t       testing.TB
	sim     *sim.Sim
	f       *Fabric
	data    []space.Addr // per machine
	keys    []uint32
	span    uint64
	workers []*bedWorker
	kWork   sim.Kind
	kPost   sim.Kind
	done    uint64
	buf     [32]CQE
}

type bedWorker struct {
	bed     *bed
	machine int
	core    int
	cq      *CQ
	rc      []*QP // by machine
	ud      *QP
	scratch space.Addr
	key     uint32
	rand    *sim.Rand
	sends   int
	next    func(w *bedWorker, id uint64) // posts the next request in the name of id
	done    func(w *bedWorker, e *CQE)
}

type bedOptions struct {
	machines, threads int
	span              uint64 // bytes of remote data per machine
	config            Config
	trace             bool
	queue             sim.QueueKind
}

func newBed(t testing.TB, o bedOptions) *bed {
	t.Helper()
	b := &bed{t: t, sim: sim.New(sim.Options{Seed: 7, Trace: o.trace, Queue: o.queue}), span: o.span}
	o.config.Machines = o.machines
	f, err := New(b.sim, o.config)
	if err != nil {
		t.Fatal(err)
	}
	b.f = f
	t.Cleanup(func() {
		b.sim.Close()
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	b.kWork = b.sim.Register("bed.work", b.onWork)
	for m := range o.machines {
		mem := f.Machine(m).Mem
		all := space.RoundUp(max(o.span, 1<<20), 1<<space.HugeShift)
		half := space.RoundUp(max(o.span, 1<<20)/2, 1<<space.HugeShift) // the upper half lives on the other socket
		a, err := mem.Alloc(host.Alloc{Name: "data", Bytes: half, Dense: o.span > 2<<20})
		if err == nil && half < all {
			_, err = mem.Alloc(host.Alloc{Name: "data", Bytes: all - half, Socket: 1 % f.Machine(m).Type.Sockets.Int(), Dense: o.span > 2<<20})
		}
		if err != nil {
			t.Fatal(err)
		}
		r := mem.Register(a, max(o.span, 1<<20), host.LocalWrite|host.RemoteRead|host.RemoteWrite|host.RemoteAtomic)
		b.data, b.keys = append(b.data, a), append(b.keys, r.RKey)
	}
	for m := range o.machines {
		for th := range o.threads {
			b.worker(m, th)
		}
	}
	b.connect()
	return b
}

// connect gives every worker a queue pair to the workers of its index.
func (b *bed) connect() {
	threads := len(b.workers) / b.f.Machines()
	for i, w := range b.workers {
		for m := range b.f.Machines() {
			if w.rc[m] == nil {
				b.pair(w, b.workers[m*threads+i%threads])
			}
		}
	}
}

func (b *bed) worker(m, th int) {
	mach := b.f.Machine(m)
	core, nic := mach.Assign(th)
	n := mach.NICs[nic]
	w := &bedWorker{bed: b, machine: m, core: core, cq: n.CreateCQ(8192), rc: make([]*QP, b.f.Machines()),
		rand: b.sim.Stream("bed", uint64(len(b.workers)))}
	a, err := mach.Mem.Alloc(host.Alloc{Name: "scratch", Bytes: 1 << 21, Socket: mach.CoreSocket(core)})
	if err != nil {
		b.t.Fatal(err)
	}
	w.scratch, w.key = a, mach.Mem.Register(a, 1<<21, host.LocalWrite).LKey
	if w.ud, err = n.CreateQP(QPConfig{Transport: UD, SendCQ: w.cq, RecvCQ: w.cq, SendDepth: 4096}); err != nil {
		b.t.Fatal(err)
	}
	b.workers = append(b.workers, w)
}

// pair joins two workers; one worker with itself over two queue pairs.
func (b *bed) pair(x, y *bedWorker) {
	make := func(w *bedWorker) *QP {
		n := b.f.Machine(w.machine).NICs[w.ud.NIC().Index]
		q, err := n.CreateQP(QPConfig{Transport: RC, SendCQ: w.cq, RecvCQ: w.cq})
		if err != nil {
			b.t.Fatal(err)
		}
		return q
	}
	p, q := make(x), make(y)
	if err := Connect(p, q); err != nil {
		b.t.Fatal(err)
	}
	x.rc[y.machine] = p
	if x != y {
		y.rc[x.machine] = q
	}
}

// onWork polls a worker's queue when something came.
func (b *bed) onWork(i uint32) {
	w := b.workers[i]
	for {
		n := w.cq.Poll(b.buf[:])
		for k := range b.buf[:n] {
			w.done(w, &b.buf[k])
		}
		if n < len(b.buf) {
			break
		}
	}
	w.cq.Arm(b.sim.Now(), b.kWork, i)
}

// start begins with clients requests per worker.
func (b *bed) start(clients int, next func(w *bedWorker, id uint64), done func(w *bedWorker, e *CQE)) {
	for i, w := range b.workers {
		w.next, w.done = next, done
		if done == nil {
			w.done = func(w *bedWorker, e *CQE) {
				if e.Status != Success {
					b.t.Errorf("request %d: %v", e.ID, e.Status)
				}
				b.done++
				w.next(w, e.ID)
			}
		}
		for c := range clients {
			w.next(w, uint64(c))
		}
		w.cq.Arm(b.sim.Now(), b.kWork, uint32(i))
	}
}

func (b *bed) run(d sim.Time) {
	b.t.Helper()
	if err := b.sim.Run(b.sim.Now() + d); err != nil {
		b.t.Fatal(err)
	}
}

// rate is the number of requests per machine and microsecond (millions per
// second) over d, after a warm-up.
func (b *bed) rate(warm, d sim.Time) float64 {
	b.t.Helper()
	b.run(warm)
	from := b.done
	b.run(d)
	if n := b.f.OutOfOrder(); n != 0 {
		b.t.Errorf("%d arrivals out of order", n)
	}
	return float64(b.done-from) / (float64(d) / float64(sim.Microsecond)) / float64(b.f.Machines())
}

// post is one request with one doorbell.
func (w *bedWorker) post(q *QP, r SendWR) {
	list := [1]SendWR{r}
	if err := q.PostSend(w.bed.sim.Now(), list[:]); err != nil {
		w.bed.t.Fatal(err)
	}
}

// target picks an address somewhere.
func (w *bedWorker) target(align uint64) (machine int, a space.Addr, key uint32) {
	b := w.bed
	m := w.rand.Intn(b.f.Machines())
	return m, b.data[m] + w.rand.Uint64n(b.span/align)*align, b.keys[m]
}

// oneSided posts READs, WRITEs or atomics to random addresses.
func oneSided(op Opcode, bytes uint32, align uint64) func(w *bedWorker, id uint64) {
	return func(w *bedWorker, id uint64) {
		m, a, key := w.target(align)
		w.post(w.rc[m], SendWR{ID: id, Op: op, Signaled: true, Inline: op == Write && bytes <= 64,
			Local: w.scratch + space.Addr(id)*bedSlot(bytes), LKey: w.key, Len: bytes, Remote: a, RKey: key, Compare: 1, Swap: 2})
	}
}

// bedSlot is the room of a local buffer: small ones are kept close together, as
// they are in engine/r2, for the host's sake.
func bedSlot(bytes uint32) space.Addr { return space.RoundUp(uint64(bytes), 128) }

// underWay is how many of the counters of accesses under way in a memory are not 0.
func underWay(mem *host.Memory) (n int) {
	for l := range space.Addr(1 << 11) {
		if mem.BeginAccess(l<<space.LineShift, 1, true) {
			n++
		}
		mem.EndAccess(l<<space.LineShift, 1, true)
	}
	return n
}
