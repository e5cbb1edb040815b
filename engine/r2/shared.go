package r2

import (
	"fmt"

	"drtmx/engine/fabric/host"
)

// SpawnShared starts a thread of its own on the core of a machine's worker thread number core,
// which has that core in slices with it from then on. Where there is no such worker the core is
// the shared threads' alone. The thread loads, stores and computes like a coroutine of a worker,
// sleeps and suspends itself. It has no queue pairs: whatever posts a request panics, and so do
// non-temporal stores and flushes, which the core's worker may be waiting for. When its machine
// starts again it begins anew.
func (cl *Cluster) SpawnShared(m, core int, name string, body func(c *Co)) *Co {
	mc := cl.machines[m]
	hw := cl.fab.Machine(m)
	switch {
	case cl.fab.Scheduler() == nil:
		panic(fmt.Sprintf("r2: thread %s: profile %s has no scheduler", name, cl.fab.Profile().Name))
	case core < 0 || core >= hw.Cores():
		panic(fmt.Sprintf("r2: thread %s on core %d of machine %d, which has %d", name, core, m, hw.Cores()))
	case len(cl.threads) == 1<<16-1:
		panic("r2: too many threads share cores")
	}
	s := cl.shareOf(m, core)
	w := &Worker{cl: cl, mc: mc, hw: hw, cpu: hw.CPU, id: len(cl.threads), thread: core, machine: m, core: s.core, kind: cl.kThread}
	_, w.home = hw.Place(core)
	t := &thread{share: s, w: w, state: fresh}
	w.timed = t
	if err := w.buffers.initScratch(w, name); err != nil {
		cl.Fail(err)
	}
	t.co = newCo(w, 0, fmt.Sprintf("m%d.t%d.%s", m, core, name), func(c *Co) {
		body(c)
		t.end()
	})
	t.co.rand = *cl.sim.Stream("r2.shared", uint64(w.id))
	w.cos = []*Co{t.co}
	s.list = append(s.list, t)
	cl.threads = append(cl.threads, t)
	if mc.life == running {
		t.begin()
	}
	return t.co
}

// initScratch gives a shared thread the registered scratch of a coroutine.
func (b *buffers) initScratch(w *Worker, name string) error {
	a, err := w.mc.mem.Alloc(host.Alloc{Name: "r2.shared." + name, Bytes: scratchSpace, Socket: w.home})
	if err != nil {
		return fmt.Errorf("r2: scratch of thread %s on machine %d: %w", name, w.mc.id, err)
	}
	b.mem, b.first, b.next, b.end = w.mc.mem, a, a, a+scratchSpace
	return nil
}

// begin makes the thread's process and has it run.
func (t *thread) begin() {
	t.state = fresh
	t.co.begin()
	t.w.current = t.co
	cl := t.share.cl
	cl.sim.At(cl.sim.Now(), cl.kWake, uint32(t.w.id))
}

// end is the end of its body.
func (t *thread) end() {
	t.co.sync()
	t.share.block(ended)
}

// stop ends it where it is.
func (t *thread) stop() {
	w := t.w
	w.busy -= w.booked()
	w.local = min(w.local, w.cl.sim.Now())
	t.co.stop()
	w.gen++
	w.current = nil
	w.buffers.reset()
	t.state = ended
}

// event goes on with the thread.
func (t *thread) event(gen uint32) {
	w := t.w
	if w.void(gen) || t.off() || w.postponed() {
		return
	}
	c := w.current
	w.current = nil
	w.resume(c)
}

// wake makes it ready, unless it is at something that Wake does not end: then it is remembered.
func (t *thread) wake() {
	switch t.state {
	case fresh, suspended:
		t.share.wake(t)
	case ended:
	default:
		t.woken = true
	}
}

// finish makes it ready when what it waited for in a state is over.
func (t *thread) finish(state uint8) {
	if t.state == state {
		t.share.wake(t)
	}
}

// wait gives the core away until somebody makes the thread ready.
func (t *thread) wait(state uint8) {
	c := t.co
	t.w.current = c
	t.share.block(state)
	c.spoil()
	c.proc.Park()
}

// sharedThread is the thread of a coroutine that is one of SpawnShared, nil of others.
func (c *Co) sharedThread() *thread {
	if t := c.w.timed; t != nil && t.co == c {
		return t
	}
	return nil
}

// alone panics in the name of a shared thread that does what only workers can.
func (c *Co) alone(what string) {
	if c.sharedThread() != nil {
		panic(fmt.Sprintf("r2: %s by thread %s at %d ps: it shares its core with a worker and has no queue pairs; have a coroutine of the worker do it", what, c.name, c.Now()))
	}
}

// Suspend blocks a shared thread, or a coroutine of a worker, until Wake is called for it. A wake
// that came before, since the last Suspend returned, is not lost: it returns at once then.
func (c *Co) Suspend() {
	t := c.sharedThread()
	if t == nil {
		c.suspend()
		return
	}
	c.sync()
	if t.woken {
		t.woken = false
		return
	}
	t.wait(suspended)
}

// Wake ends the Suspend of a shared thread, or has the next one return at once. It takes effect
// at the instant of the event that is being handled, and costs nobody anything: for a device, or
// for code that charges for it. See Co.Wake.
func (cl *Cluster) Wake(c *Co) {
	t := c.sharedThread()
	if t == nil {
		panic(fmt.Sprintf("r2: Wake of %s, which is no thread of SpawnShared", c.name))
	}
	cl.sim.At(cl.sim.Now(), cl.kWake, uint32(t.w.id))
}

// suspend is Suspend of a worker's coroutine.
func (c *Co) suspend() {
	if !c.woke {
		c.suspended = true
		c.park()
	}
	c.woke = false
}

// goOn ends a Suspend of a worker's coroutine, on its worker.
func (c *Co) goOn() {
	c.woke = true
	if c.suspended {
		c.suspended = false
		c.w.ready.push(c)
	}
}

// Wake is Cluster.Wake of a thread of the same machine by a system call of this core, at its
// local time. Another coroutine of the own worker is put among those that are ready, which is a store;
// one of another worker's is left in that one's mailbox, with a locked instruction.
func (c *Co) Wake(other *Co) {
	t := other.sharedThread()
	switch {
	case other.w.mc != c.w.mc:
		panic(fmt.Sprintf("r2: %s wakes %s, which is on another machine", c.name, other.name))
	case t == nil && other.w == c.w:
		other.goOn()
		return
	case t == nil:
		other.w.post(c, mail{wake: other})
		return
	}
	c.w.charge(t.share.cost.Wake)
	cl, at := c.w.cl, c.Now()
	if x := cl.explored; x != nil {
		at = x.Hold(at)
	}
	cl.sim.At(at, cl.kWake, uint32(t.w.id))
}

// sleep is Sleep of a shared thread.
func (t *thread) sleep(d Time) {
	c, cl := t.co, t.share.cl
	c.sync()
	c.asleep, c.wakeAt = true, cl.sim.Now()+d
	cl.sim.At(c.wakeAt, cl.kTimer, c.id)
	t.wait(asleep)
}

// BusyPS is the time that its core spent on a shared thread.
func (c *Co) BusyPS() Time { return c.w.spent() }

// spent is the core's time on a worker or thread by this instant.
func (w *Worker) spent() Time { return max(0, w.busy+w.stall()-w.booked()) }

// SharedAtWork counts the shared threads, of machines that run, in the middle of their work: all but
// those that are suspended, asleep or at their end, and those whose work a drain need not wait for.
func (cl *Cluster) SharedAtWork() (n int) {
	for _, t := range cl.threads {
		if t.w.mc.life == running && !t.endless && (t.state <= fresh || t.state == writing) {
			n++
		}
	}
	return n
}

// Recovers has a shared thread begin before the others when its machine starts again after a crash. Until it calls Recovered, no
// other machine reaches this one, and nothing else of it runs.
func (c *Co) Recovers() { c.sharedThread().recovers = true }

// Recovering says that the machine waits for the threads that recover what it had.
func (c *Co) Recovering() bool { return c.w.mc.life == starting }

// Recovered is called once by each thread that recovers, when it has done so.
func (c *Co) Recovered() {
	c.sync()
	cl, mc := c.w.cl, c.w.mc
	if mc.recovering--; mc.recovering == 0 {
		cl.sim.At(cl.sim.Now(), cl.kUp, uint32(mc.id))
	}
}

// Endless says that nobody has to wait for a shared thread's work: what it is at may be cut off anywhere.
func (c *Co) Endless() { c.sharedThread().endless = true }

// doing says what a shared thread is at.
func (t *thread) doing() string {
	switch t.state {
	case suspended:
		return "suspended"
	case asleep:
		return "asleep"
	case writing:
		return "waits for the SSD"
	case ended:
		return ""
	}
	if t.share.on == t {
		return "runs"
	}
	return "waits for its slice of the core"
}
