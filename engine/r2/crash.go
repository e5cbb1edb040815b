package r2

import (
	"errors"
	"fmt"

	"drtmx/engine/fabric"
	"drtmx/engine/metrics"
	"drtmx/engine/r2/account"
	"drtmx/engine/r2/core"
	"drtmx/engine/r2/datagram"
	"drtmx/engine/r2/registered"
	"drtmx/engine/r2/sendq"
)

// ErrUnreachable is in the error of a request whose machine has crashed, or does
// not answer.
var ErrUnreachable = errors.New("the machine cannot be reached")

// States of a machine.
const (
	running = iota
	down
	starting // its threads make their connections
)

const (
	// resendMax is how often a request is repeated before it is given up.
	resendMax = 64

	// upRetries is how often a machine that is ready waits, for as long as one
	// connection takes, for the last requests of before its crash.
	upRetries = 10_000
)

// Crash stops a machine at this instant: its coroutines, handlers and timers end
// where they are, and its memory is what fabric.Machine.Crash leaves. On the other
// machines every request to it ends with ErrUnreachable. It may be called between
// two runs and by handlers of events, not by a coroutine.
func (cl *Cluster) Crash(m int) error {
	mc := cl.machines[m]
	if mc.state != running {
		return fmt.Errorf("r2: machine %d crashes, it is down already", m)
	}
	if err := cl.fab.Machine(m).Crash(); err != nil {
		return err
	}
	mc.state, mc.awake, mc.recovering = down, false, 0
	for _, w := range mc.workers {
		w.stop()
	}
	cl.cores.Crash(m)
	for _, w := range cl.workers {
		if w.mc.state == running {
			w.tickDue = true // what waits for an answer gets none
			w.wake()
		}
	}
	return nil
}

// Assembled ends the assembly. The rooms above have registered their kinds of events, and the one of restarts comes behind them: the
// numbers of kinds are part of every run's digest.
func (cl *Cluster) Assembled() {
	cl.kUp = cl.sim.Register("r2.up", func(a uint32) { cl.up(cl.machines[a]) })
}

// Restart begins to start a machine that is down, and returns when it will be up.
// That is when its threads, side by side, have connected their RC queue pairs one
// after the other, Config.ConnectTime each; to a memory node the others' threads do. Then its coroutines begin again, and
// the others can reach it. Where threads recover what it had (see Co.Recovers), it
// is up when they are done.
func (cl *Cluster) Restart(m int) (up Time, err error) {
	mc := cl.machines[m]
	if mc.state != down {
		return 0, fmt.Errorf("r2: machine %d restarts, it is not down: crash it first", m)
	}
	if cl.kUp == 0 {
		panic("r2: a machine of a cluster restarts that is not Assembled")
	}
	cl.restarts = true
	mc.state, mc.tries = starting, 0
	pairs := cl.cfg.PairsTo(len(cl.machines))
	if len(mc.workers) > 0 {
		pairs *= len(cl.machines)
	}
	up = cl.sim.Now() + cl.cfg.ConnectTime*Time(pairs)
	cl.sim.At(up, cl.kUp, uint32(m))
	return up, nil
}

// Up says that a machine runs: it has not crashed, and if it has restarted, is
// connected again.
func (cl *Cluster) Up(m int) bool { return cl.machines[m].state == running }

// Starting says that a machine restarts and is not up yet.
func (cl *Cluster) Starting(m int) bool { return cl.machines[m].state == starting }

// Lost counts passive requests that a crash may have kept from being served. Who
// posted them was not waiting and has no error.
func (cl *Cluster) Lost() (n uint64) {
	for _, mc := range cl.machines {
		n += mc.lost
	}
	return n
}

// stop ends everything that the worker does.
func (w *Worker) stop() {
	w.Stop()
	for _, c := range w.cos {
		c.stop()
	}
	w.handler.stop()
	clear(w.groups)
	w.groups = w.groups[:0]
	w.job, w.own = job{}, job{}
	w.loseTickets()
	clear(w.mail)
	w.mail, w.mailed = w.mail[:0], false
	clear(w.waiting.queue)
	clear(w.waiting.idle)
	w.waiting.queue, w.waiting.idle = w.waiting.queue[:0], w.waiting.idle[:0]
	w.tickDue, w.ticking, w.fencing = false, false, false
	w.tickAt, w.rtos.Shared = 0, datagram.RTO{}
	w.batch, w.next, w.kept = nil, 0, w.kept[:0]
	w.ready.Clear()
	w.running = false
	clear(w.held)
	w.pairs.Stop()
	w.held, w.refill = w.held[:0], w.refill[:0]
	w.unconfirmed = 0
	for _, ch := range w.chans {
		w.closed(int(ch.Next - ch.Oldest))
		ch.Oldest = ch.Next
		w.paid(ch)
	}
}

// stop ends the coroutine. Its stream of random numbers goes on with the next
// begin.
func (c *Co) stop() {
	*c = Co{Program: core.Stopped(&c.Program), Account: account.Of(&c.w.Core), Scratch: registered.Of(&c.w.buffers), w: c.w, index: c.index, slot: c.slot, body: c.body}
	c.co = c
}

// lose ends what is open with a machine that is down.
func (w *Worker) lose(ch *channel) {
	for s := ch.Oldest; s != ch.Next; s++ {
		if k := ch.At(s); !k.answered {
			w.giveUp(ch, k)
		}
	}
	w.paid(ch)
	ch.close(w)
}

// giveUp ends a request that will have no answer.
func (w *Worker) giveUp(ch *channel, k *call) {
	k.answered = true
	if k.passive {
		w.unconfirmed--
		w.mc.lost++
		return
	}
	k.group.fail(fmt.Errorf("r2: rpc %d from machine %d to machine %d: %w", w.cl.rpcOf(k), w.mc.id, ch.peer.mc.id, ErrUnreachable))
	w.done(k.group, new(metrics.Stamp))
}

// severed accounts for a one-sided request that ended with its peer's machine.
func (w *Worker) severed(e *sendq.Entry, cqe *fabric.CQE) {
	switch {
	case e.Co&sendq.Passive != 0:
		w.mc.lost++
	case e.Co&sendq.Waits == 0: // the end of its list tells, or the outcome is not needed
	default:
		w.group(e.Co).fail(fmt.Errorf("r2: %v on machine %d thread %d: %w", cqe.Op, w.mc.id, w.thread, ErrUnreachable))
	}
}

// up has a machine recover what it had, and then makes its connections and lets its threads run.
func (cl *Cluster) up(mc *machine) {
	if !mc.awake && !cl.awake(mc) || mc.recovering > 0 {
		return
	}
	mc.state = running
	mc.starts++
	if err := cl.reconnect(mc); err != nil {
		cl.sim.Fail(err)
		return
	}
	for _, w := range mc.workers {
		w.handler.begin()
		for _, c := range w.cos {
			c.begin()
			w.ready.Push(c)
		}
		w.rest()
	}
	cl.cores.Up(mc.id)
	for _, t := range cl.cores.Threads() {
		if t.Machine() == mc.id && !t.Recovers() {
			t.Begin()
		}
	}
}

// awake brings a machine's hardware back, and begins the threads that recover what it had. It is false if that has to wait for the
// last requests of before the crash.
func (cl *Cluster) awake(mc *machine) bool {
	if err := cl.fab.Machine(mc.id).Restart(); err != nil {
		if mc.tries++; mc.tries > upRetries {
			cl.sim.Fail(fmt.Errorf("r2: machine %d does not start: %w", mc.id, err))
			return false
		}
		cl.sim.At(cl.sim.Now()+cl.cfg.ConnectTime, cl.kUp, uint32(mc.id))
		return false
	}
	mc.awake = true
	for _, t := range cl.cores.Threads() {
		if t.Machine() == mc.id && t.Recovers() {
			mc.recovering++
			t.Begin()
		}
	}
	return true
}

// reconnect remakes all queue pairs from and to a machine, and begins its
// conversations anew.
func (cl *Cluster) reconnect(mc *machine) error {
	if mc.pairs.Contexts != nil {
		mc.pairs.OpenContexts()
	}
	for _, w := range cl.workers {
		if w.mc == mc {
			w.reopen()
		} else if w.mc.state == running {
			w.forget(mc)
		}
	}
	for _, w := range cl.workers {
		if w.mc.state != running {
			continue
		}
		for p := range cl.machines {
			if err := w.connectTo(p); err != nil {
				return err
			}
		}
		if w.mc == mc {
			if err := w.openUD(); err != nil {
				return err
			}
		}
	}
	for _, w := range cl.workers {
		if w.mc.state == running {
			w.renew(mc)
		}
	}
	return nil
}

// reopen begins with an empty completion queue and fresh buffers, a moment after
// or before the machine's other threads.
func (w *Worker) reopen() {
	w.begin(w.Clock.Now())
	w.openPairs()
	w.cl.queues[w.id] = w.pairs.CQ.Ref()
	w.buffers.Reset()
}

// forget leaves the queue pairs to a machine to their last completions.
func (w *Worker) forget(mc *machine) {
	for _, q := range w.pairs.Drop(mc.id) {
		if w.pairs.Retire(q) {
			w.wake()
		}
	}
}

// renew begins the conversations with a machine anew: its threads know nothing of
// sequence numbers before the crash. Rings for messages are emptied.
func (w *Worker) renew(mc *machine) {
	for i, ch := range w.chans {
		if w.mc != mc && ch.peer.mc != mc {
			continue
		}
		w.lose(ch)
		w.dropAnswers(ch)
		ch.Drop(&w.messages, &w.answers)
		fresh := newChannel(ch.peer)
		fresh.rings = ch.rings
		w.chans[i] = fresh
		if w.rings != nil {
			w.rings.Renew(ch, fresh)
		}
	}
	w.relink()
	w.wake()
}

// relink finds the conversations by machine again: of those in chans the one with our mate comes first.
func (w *Worker) relink() {
	clear(w.out)
	for _, ch := range w.chans {
		ch.other = nil
		if mate := w.out[ch.peer.mc.id]; mate == nil {
			w.out[ch.peer.mc.id] = ch
		} else {
			ch.other, mate.other = mate.other, ch
		}
	}
}
