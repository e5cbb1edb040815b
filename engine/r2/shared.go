package r2

import (
	"fmt"

	"drtmx/engine/r2/core"
)

// SpawnShared starts a thread of its own on the core of a machine's worker thread number core,
// which has that core in slices with it from then on. Where there is no such worker the core is
// the shared threads' alone. The thread loads, stores and computes like a coroutine of a worker,
// sleeps and suspends itself. It has no queue pairs: whatever posts a request panics, and so do
// non-temporal stores and flushes, which the core's worker may be waiting for. When its machine
// starts again it begins anew.
func (cl *Cluster) SpawnShared(m, on int, name string, body func(c *Co)) *Co {
	mc := cl.machines[m]
	w := &Worker{cl: cl, mc: mc, thread: on, machine: m}
	t, id := cl.cores.Spawn(&w.Core, m, on, name)
	w.id = int(id)
	_, w.home = w.HW.Assign(on)
	if err := w.buffers.InitScratch(mc.mem, m, on, w.home, name, w.sizes()); err != nil {
		w.Clock.Fail(err)
	}
	c := newCo(w, 0, fmt.Sprintf("m%d.t%d.%s", m, on, name), func(c *Co) {
		body(c)
		t.End()
	})
	core.SetRand(&c.Program, cl.sim.Stream("r2.shared", uint64(w.id)))
	w.cos = []*Co{c}
	t.Runs(&c.Program, sharedHooks{c})
	if mc.state == running {
		t.Begin()
	}
	return c
}

// sharedHooks is what a shared thread's coroutine begins and ends with.
type sharedHooks struct{ c *Co }

func (h sharedHooks) Begin() { h.c.begin() }

func (h sharedHooks) Stop() {
	h.c.stop()
	h.c.w.buffers.Reset()
}

// sharedThread is the thread of a coroutine that is one of SpawnShared, nil of others.
func (c *Co) sharedThread() *core.Thread { return core.ThreadOf(&c.Program) }

// alone panics in the name of a shared thread that does what only workers can.
func (c *Co) alone(what string) { core.Alone(&c.Program, what) }

// Suspend blocks a shared thread, or a coroutine of a worker, until Wake is called for it. A wake
// that came before, since the last Suspend returned, is not lost: it returns at once then.
func (c *Co) Suspend() {
	if t := c.sharedThread(); t != nil {
		t.Suspend()
		return
	}
	if !c.woke {
		c.suspended = true
		c.park()
	}
	c.woke = false
}

// Wake ends the Suspend of a shared thread, or has the next one return at once. It takes effect
// at the instant of the event that is being handled, and costs no thread anything: for a device, or
// for code that charges for it. See Co.Wake.
func (cl *Cluster) Wake(c *Co) { cl.cores.Wake(&c.Program) }

// endSuspend ends a Suspend of a worker's coroutine, on its worker.
func (c *Co) endSuspend() {
	c.woke = true
	if c.suspended {
		c.suspended = false
		c.w.ready.Push(c)
	}
}

// Wake is Cluster.Wake of a thread of the same machine by a system call of this core, at its
// local time. Another coroutine of the own worker is put among those that are ready, which is a store;
// one of another worker's is left in that one's mailbox, with a locked instruction.
func (c *Co) Wake(other *Co) {
	t := other.sharedThread()
	switch {
	case other.w.mc != c.w.mc:
		panic(fmt.Sprintf("r2: %s wakes %s, which is on another machine", c.Name(), other.Name()))
	case t == nil && other.w == c.w:
		other.endSuspend()
	case t == nil:
		other.w.post(c, mail{wake: other})
	default:
		t.WakeBy(&c.Program)
	}
}

// SharedAtWork counts the shared threads, of machines that run, in the middle of their work: all but
// those that are suspended, asleep or at their end, and those whose work a drain need not wait for.
func (cl *Cluster) SharedAtWork() (n int) {
	for _, t := range cl.cores.Threads() {
		if cl.machines[t.Machine()].state == running && t.AtWork() {
			n++
		}
	}
	return n
}

// Recovers has a shared thread begin before the others when its machine starts again after a crash. Until it calls Recovered, no
// other machine reaches this one, and nothing else of it runs.
func (c *Co) Recovers() { c.sharedThread().SetRecovers() }

// Recovering says that the machine waits for the threads that recover what it had.
func (c *Co) Recovering() bool { return c.w.mc.state == starting }

// Recovered is called once by each thread that recovers, when it has done so.
func (c *Co) Recovered() {
	core.Sync(&c.Program)
	cl, mc := c.w.cl, c.w.mc
	if mc.recovering--; mc.recovering == 0 {
		mc.clock.Post(cl.sim, mc.clock.Now()+cl.fab.Lookahead(), cl.kUp, uint32(mc.id))
	}
}

// Endless says that nothing has to wait for a shared thread's work: what it is at may be cut off anywhere.
func (c *Co) Endless() { c.sharedThread().SetEndless() }

// LogFile is the file of that name on a machine's SSD, made if there is none.
func (cl *Cluster) LogFile(m int, name string) *LogFile { return cl.cores.LogFile(m, name) }

// HasSSD says whether the machines have SSDs.
func (cl *Cluster) HasSSD() bool { return cl.cores.HasSSD() }

// HTMCounts are totals of all regions since time 0.
func (cl *Cluster) HTMCounts() HTMCounts { return cl.cores.HTMCounts() }

// What cores do for the framework, under the names that protocol code knows.
type (
	LogFile   = core.LogFile
	HTMLock   = core.HTMLock
	HTMCounts = core.HTMCounts
	Region    = core.Region

	HTMOptions = core.HTMOptions
	Memory     = core.Memory
)

// above is what cores ask of a cluster.
type above struct{ *Cluster }

func (cl above) Yield(co uint32) {
	if c := cl.cos[co]; c.index >= 0 && !c.serves {
		c.Yield()
	}
}

func (cl above) Sleep(co uint32, d Time) { cl.cos[co].Sleep(d) }

// Actor is whose access it is: a handler's is that of the thread which has called.
func (cl above) Actor(co uint32) uint64 {
	c := cl.cos[co]
	if c.index < 0 {
		from := c.w.job.from
		return 1<<62 | uint64(from.Machine)<<32 | uint64(from.Thread)<<16 | uint64(from.Coroutine)
	}
	return uint64(co)
}
