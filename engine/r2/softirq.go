package r2

// interrupted takes d of a core's time for softirq work of the kernel (fabric.Machine.Interrupted)
// and says whether a thread wants the core: workers poll, so they always do. What the thread is at
// lasts longer by d. An event of it that comes too early for that is put off when it comes.
func (mc *machine) interrupted(core int, d Time) (wanted bool) {
	w := mc.runningOn(core)
	if w == nil || w.stalled { // one that waits for its buffers does so meanwhile
		return w != nil
	}
	if now := w.cl.sim.Now(); w.local < now { // it polls in vain, and begins a poll behind the interrupt
		w.local, w.begun = now, now
	}
	w.charge(d)
	w.putOff = true
	return true
}

// runningOn is the worker, or shared thread, that has a core; nil: nobody.
func (mc *machine) runningOn(core int) *Worker {
	if w := mc.onCore[core]; w != nil && w.timed == nil {
		return w
	}
	for _, s := range mc.shares {
		if s.core == core && s.on != nil {
			return s.on.w
		}
	}
	return nil
}

// postponed reports whether interrupts have moved the core's local time beyond an event of the
// worker, which then comes again.
func (w *Worker) postponed() bool {
	if !w.putOff {
		return false
	}
	w.putOff = false
	if w.local <= w.cl.sim.Now() {
		return false
	}
	w.schedule(w.local)
	return true
}

// takeInterrupts has the machine's cores serve its receive queues.
func (mc *machine) takeInterrupts() {
	hw := mc.workers[0].hw
	mc.onCore = make([]*Worker, hw.Cores())
	for _, w := range mc.workers {
		mc.onCore[w.core] = w
	}
	hw.Interrupted = mc.interrupted
}
