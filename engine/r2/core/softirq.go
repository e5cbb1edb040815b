package core

// interrupted takes d of a core's time for softirq work of the kernel (fabric.Machine.Interrupted)
// and says whether a thread wants the core: workers poll, so they always do. What the thread is at
// lasts longer by d. An event of it that comes too early for that is put off when it comes.
func (mc *Machine) interrupted(core int, d Time) (wanted bool) {
	w := mc.runningOn(core)
	if w == nil || w.Stalled { // one that waits for its buffers does so meanwhile
		return w != nil
	}
	if now := w.Clock.Now(); w.Local < now { // it polls in vain, and begins a poll behind the interrupt
		w.Local, w.Begun = now, now
	}
	w.Charge(d)
	w.putOff = true
	return true
}

// runningOn is the worker, or shared thread, that has a core; nil: none.
func (mc *Machine) runningOn(core int) *Core {
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

// Postponed reports whether interrupts have moved the core's local time beyond an event of the
// worker, which then comes again.
func (w *Core) Postponed() bool {
	if !w.putOff {
		return false
	}
	w.putOff = false
	if w.Local <= w.Clock.Now() {
		return false
	}
	w.Schedule(w.Local)
	return true
}

// TakeInterrupts has the cores of a machine's workers serve its receive queues.
func (sys *System) TakeInterrupts(machine int) {
	mc := sys.machines[machine]
	mc.onCore = make([]*Core, mc.hw.Cores())
	for _, w := range mc.cores {
		mc.onCore[w.Number] = w
	}
	mc.hw.Interrupted = mc.interrupted
}
