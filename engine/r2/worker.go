package r2

import (
	"drtmx/engine/fabric"
	"drtmx/engine/fabric/host"
	"drtmx/engine/r2/beside"
	"drtmx/engine/r2/core"
	"drtmx/engine/r2/datagram"
	"drtmx/engine/r2/queuepair"
	"drtmx/engine/r2/ready"
	"drtmx/engine/r2/registered"
	"drtmx/engine/r2/rings"
	"drtmx/engine/r2/sendq"
	"drtmx/engine/sim"
)

// Worker is one thread: a loop on its core. Hundreds of them take turns on the
// host's cache, so what every turn needs comes first.
type Worker struct {
	core.Core
	cl *Cluster

	// The state of the loop. Exactly one work event is pending unless the worker idles.
	tickDue bool
	ticking bool
	fencing bool // at the end of a turn
	mailed  bool // there is mail
	pairs   queuepair.Set
	batch   []fabric.CQE // polled, see keep
	next    int          // in batch
	ready   ready.Queue[Co]
	until   int                    // in ready: what this turn runs
	running bool                   // this turn has come to the ready coroutines
	machine int                    // number of mc, without its line
	thread  int                    // on it
	lkey    uint32                 // of its buffers
	rings   *rings.Rings[*channel] // nil: none
	ud      *queuePair
	out     []*channel // by machine: to our mate there, before others
	owing   int        // channels on which owedWaiting receipts are owed, or more
	held    []*Co      // wait for room
	serving *sim.Proc  // the handler's

	handler    *Co // runs requests to completion
	mc         *machine
	id         int // in the cluster
	home       int // its socket's RNIC
	cos        []*Co
	groups     []*Group // of these, but for group 0 of each
	background int      // of these, coroutines of SpawnBackground
	job        job      // that the handler works on

	buffers  registered.Memory
	refill   []fabric.RecvWR
	messages datagram.Pool
	answers  beside.Answers // beside the replies that are kept
	answer   []byte         // where handlers write their reply

	rtos        datagram.RTOs // of requests
	tickAt      Time          // when the next tick is, while ticking
	unconfirmed int           // passive requests without receipt
	kept        []fabric.CQE  // batch of an interrupted turn
	chans       []*channel    // all, those that others opened towards us too
	rand        *Rand

	own      job       // of a request of a thread to itself that may be deferred
	deferred *Ticket   // of the request that is being handled; nil: it is not
	tickets  []*Ticket // all that are not answered
	spare    []*Ticket
	mail     []mail
	box      Addr // of the mail; 0: none was sent
	waiting  waiting
	reserved bool // see Reserve
}

func newWorker(cl *Cluster, mc *machine, id, thread int) (*Worker, error) {
	w := &Worker{cl: cl, mc: mc, answers: beside.NewAnswers(), id: id, thread: thread, machine: mc.id, rand: cl.sim.Stream("r2.worker", uint64(id)), rtos: datagram.RTOs{Least: cl.cfg.ResendAfter}}
	w.Init(cl.cores, mc.id, thread, mc.kWork, uint32(id), w.lookAround)
	_, w.home = w.HW.Assign(thread)
	w.pairs.Init(&mc.pairs, &w.Core, mc.id, thread, w.rand)
	w.ready.Init(cl.cfg.Coroutines + 1)
	w.refill = make([]fabric.RecvWR, 0, min(cl.cfg.PollBatch, w.recvDepth()))
	w.answer = make([]byte, cl.MaxReply())
	w.begin(0)
	var err error
	if w.lkey, err = w.buffers.Init(mc.mem, mc.id, thread, w.home, w.sizes()); err != nil {
		return nil, err
	}
	w.handler = newCo(w, -1, "", func(*Co) { w.serve() })
	w.handler.begin()
	return w, nil
}

// sizes are those of the thread's registered memory.
func (w *Worker) sizes() registered.Sizes {
	c := &w.cl.cfg
	return registered.Sizes{Message: c.MaxMessage, Recvs: w.recvDepth(), Coroutines: c.Coroutines, Reply: c.MaxReply, Scratch: c.Scratch}
}

// stored has what the core wrote into a send buffer in its caches, where the RNIC will
// find it. The core's time is not in this: the program that copies is charged for copying.
func (w *Worker) stored(a Addr, n int, inline bool) {
	if !inline {
		w.HW.Access(w.Number, max(w.Local, w.Clock.Now()), a, n, host.Store)
	}
}

// begin begins the thread's time when its machine starts, or a moment later: the
// threads of a real process do not start at the same instant.
func (w *Worker) begin(at Time) {
	w.Local = at + Time(w.rand.Uint64n(uint64(2*sim.Microsecond)))
	w.Begun = w.Local
}

// lookAround has an idle worker that gets its core back see whether there is something to do.
func (w *Worker) lookAround() {
	w.pairs.CQ.Disarm()
	w.rest()
}

// wake gets an idle worker to look around.
func (w *Worker) wake() {
	if !w.Idle {
		return
	}
	w.pairs.CQ.Disarm()
	w.Schedule(max(w.Clock.Now(), w.Local))
}

// event is one turn of the loop, or the continuation of one that was
// interrupted because code on it had to wait for its core's local time.
func (w *Worker) event(gen uint32) {
	if w.Void(gen) || w.Off() {
		return
	}
	w.Idle = false
	if w.Postponed() {
		return
	}
	if w.fencing {
		w.fence()
		return
	}
	if c := w.Current; c != nil {
		w.Current = nil
		if core.Resume(c); w.Current != nil {
			return
		}
	} else if w.alignPoll(); w.next == len(w.batch) {
		w.poll()
	}
	if w.work(); w.Current != nil {
		w.keep()
		return
	}
	if w.pairs.Dirty() && w.HW.Streaming(w.Number) {
		w.fencing = true
		w.Schedule(w.Local)
		return
	}
	w.flush()
	w.rest()
}

// fence is the sfence in front of the doorbells: drivers have one there, and it
// waits for the non-temporal stores of this turn.
func (w *Worker) fence() {
	if !w.HW.Await(w.Number, true, w.mc.kWork, w.Next()) {
		w.Gen++
		w.Stalled = true
		return
	}
	w.fencing = false
	w.EndStall()
	w.flush()
	w.rest()
}

// keep saves what is left of the batch of an interrupted turn: all workers poll
// into one array, which stays in the host's cache that way.
func (w *Worker) keep() {
	if w.next < len(w.batch) {
		w.kept = append(w.kept[:0], w.batch[w.next:]...)
		w.batch, w.next = w.kept, 0
	}
}

// alignPoll moves a core that span on an empty queue to the poll that sees
// what has arrived. Part of that poll lies ahead, and is no work either.
func (w *Worker) alignPoll() {
	if gap := w.Clock.Now() - w.Local; gap > 0 {
		p := w.CPU.PollEmpty
		w.Local += (gap + p - 1) / p * p
		w.Begun = w.Local
	}
}

func (w *Worker) poll() {
	n := w.pairs.CQ.Poll(w.mc.polled)
	w.batch, w.next = w.mc.polled[:n], 0
	w.Charge(w.CPU.PollEmpty + Time(n)*w.CPU.PollCQE)
	if !w.HW.DDIO(w.HW.CoreSocket(w.Number)) { // completions come from memory (§2.3.4.1)
		w.Charge(Time(n) * w.CPU.MemoryLine)
	}
	if r := w.rings; r != nil {
		r.At, r.Found = 0, false
	}
}

// work handles the completions of the batch, then runs the coroutines that are
// ready by then: those that become so meanwhile wait for the next turn, or else the
// thread would not get to its completions and doorbells while there are enough of
// them. It returns early when one of them has to wait for local time.
func (w *Worker) work() {
	for w.next < len(w.batch) {
		cqe := &w.batch[w.next]
		w.next++
		if w.complete(cqe); w.Current != nil {
			return
		}
	}
	if w.rings != nil && !w.running {
		if w.lookAtRings(); w.Current != nil {
			return
		}
	}
	if w.tickDue {
		w.tickDue = false
		w.retransmit()
	}
	if w.mailed {
		if w.readMail(); w.Current != nil {
			return
		}
	}
	if !w.running {
		w.running, w.until = true, w.ready.Tail
	}
	for w.ready.Head < w.until {
		c := w.ready.Pop()
		w.Charge(w.CPU.CoroutineSwitch)
		c.woken()
		if w.resume(c); w.Current != nil {
			return
		}
	}
	w.running = false
}

// rest plans the next turn: at once if there is something to do, else when
// something arrives.
func (w *Worker) rest() {
	if w.ready.Len() > 0 || w.tickDue || w.mailed || w.pairs.CQ.Len() > 0 || w.spins() {
		w.Schedule(w.Local)
		return
	}
	w.Idle = true
	w.pairs.CQ.Arm(w.Local, w.mc.kWork, w.Next())
	w.Gen++
}

// makeReady queues a coroutine and wakes its worker.
func (w *Worker) makeReady(c *Co) {
	w.ready.Push(c)
	w.wake()
}

// complete handles one completion.
func (w *Worker) complete(cqe *fabric.CQE) {
	if cqe.ID&sendq.RecvFlag != 0 {
		w.receive(cqe)
		return
	}
	w.confirm(w.pairs.All().Of(cqe.ID), cqe)
}
