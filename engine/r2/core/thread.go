package core

import "fmt"

// Hooks are what the framework does when a shared thread begins and where a crash ends it.
type Hooks interface {
	Begin() // makes the program's process
	Stop()  // ends it, and takes back what it had
}

// Spawn makes a shared thread: one on the core of a machine's worker thread number core, which has that core in slices with it from
// then on. Where there is no such worker the core is the shared threads' alone. w becomes its core, and id is the number of the thread in the cluster.
func (sys *System) Spawn(w *Core, machine, core int, name string) (t *Thread, id uint32) {
	hw := sys.fab.Machine(machine)
	switch {
	case sys.fab.Scheduler() == nil:
		panic(fmt.Sprintf("r2: thread %s: profile %s has no scheduler", name, sys.fab.Profile().Name))
	case core < 0 || core >= hw.Cores():
		panic(fmt.Sprintf("r2: thread %s on core %d of machine %d, which has %d", name, core, machine, hw.Cores()))
	case len(sys.machines[machine].threads) == 1<<16-1:
		panic("r2: too many threads share cores")
	}
	s := sys.shareOf(machine, core)
	mc := s.machine
	w.init(sys, machine, core, mc.kThread, uint32(len(mc.threads)))
	t = &Thread{share: s, w: w, state: fresh}
	w.timed = t
	s.list = append(s.list, t)
	mc.threads, sys.threads = append(mc.threads, t), append(sys.threads, t)
	return t, uint32(len(sys.threads) - 1)
}

// Runs gives the thread its program. Its body ends with End.
func (t *Thread) Runs(p *Program, hooks Hooks) { t.p, t.hooks = p, hooks }

// Begin makes the thread's process and has it run.
func (t *Thread) Begin() {
	t.state = fresh
	t.hooks.Begin()
	t.w.Current = t.p
	t.wakeAtOnce()
}

// End is the end of its body.
func (t *Thread) End() {
	t.p.sync()
	t.share.block(ended)
}

// stop ends it where it is.
func (t *Thread) stop() {
	w := t.w
	w.Busy -= w.booked()
	w.Local = min(w.Local, w.Clock.Now())
	t.hooks.Stop()
	w.Gen++
	w.Current = nil
	t.state = ended
}

// event goes on with the thread.
func (t *Thread) event(gen uint32) {
	w := t.w
	if w.Void(gen) || t.off() || w.Postponed() {
		return
	}
	p := w.Current
	w.Current = nil
	p.proc.Resume()
}

// wake makes it ready, unless it is at something that Wake does not end: then it is remembered.
func (t *Thread) wake() {
	switch t.state {
	case fresh, suspended:
		t.share.wake(t)
	case ended:
	default:
		t.woken = true
	}
}

func (t *Thread) wakeAtOnce() {
	clock := t.w.Clock
	clock.At(clock.Now(), t.share.machine.kWake, t.w.id)
}

// finish makes it ready when what it waited for in a state is over.
func (t *Thread) finish(state uint8) {
	if t.state == state {
		t.share.wake(t)
	}
}

// wait gives the core away until the thread is made ready.
func (t *Thread) wait(state uint8) {
	t.w.Current = t.p
	t.share.block(state)
	Spoil(t.p)
	t.p.proc.Park()
}

// ThreadOf is the shared thread of a program, nil of others.
func ThreadOf(p *Program) *Thread {
	if t := p.w.timed; t != nil && t.p == p {
		return t
	}
	return nil
}

// Alone panics in the name of a shared thread that does what only workers can.
func Alone(p *Program, what string) {
	if ThreadOf(p) != nil {
		refuse(p, what)
	}
}

func refuse(p *Program, what string) {
	panic(fmt.Sprintf("r2: %s by thread %s at %d ps: it shares its core with a worker and has no queue pairs; have a coroutine of the worker do it", what, p.Name(), p.Now()))
}

// Suspend blocks the thread until Wake is called for it. A wake that came before, since the last Suspend returned, is not lost: it
// returns at once then.
func (t *Thread) Suspend() {
	t.p.sync()
	if t.woken {
		t.woken = false
		return
	}
	t.wait(suspended)
}

// Wake ends the Suspend of a program's thread, or has the next one return at once. It takes effect at the instant of the event that
// is being handled, and costs no CPU time.
func (sys *System) Wake(p *Program) {
	t := ThreadOf(p)
	if t == nil {
		panic(fmt.Sprintf("r2: Wake of %s, which is no thread of SpawnShared", p.Name()))
	}
	t.wakeAtOnce()
}

// WakeBy is Wake by a system call of a program of the same machine, at its core's local time.
func (t *Thread) WakeBy(p *Program) {
	p.w.Charge(t.share.cost.Wake)
	at := p.Now()
	if x := p.w.sys.Explored; x != nil {
		at = x.Hold(at)
	}
	t.w.Clock.At(at, t.share.machine.kWake, t.w.id)
}

// Sleep blocks the thread for d.
func (t *Thread) Sleep(d Time) {
	t.p.sync()
	t.wakeAt = t.w.Clock.Now() + d
	t.w.Clock.At(t.wakeAt, t.share.machine.Timer, t.p.id)
	t.wait(asleep)
}

// Expire ends a sleep; a timer of before a crash finds another one, or none.
func (t *Thread) Expire() {
	if t.wakeAt == t.w.Clock.Now() {
		t.finish(asleep)
	}
}

// BusyPS is the time that its core spent on a shared thread.
func (p *Program) BusyPS() Time { return p.w.spent() }

// Preempted counts how often the thread, or the worker of a coroutine, was taken off its core
// for another one. Between two calls with the same result it was not.
func (p *Program) Preempted() uint64 {
	if t := p.w.timed; t != nil {
		return t.lost
	}
	return 0
}

// Threads are the shared threads of all machines.
func (sys *System) Threads() []*Thread { return sys.threads }

// Machine is the number of its machine.
func (t *Thread) Machine() int { return t.w.machine.id }

// AtWork says that the thread is in the middle of its work: neither suspended, asleep nor at its end, nor is its work what a drain
// need not wait for.
func (t *Thread) AtWork() bool { return !t.endless && (t.state <= fresh || t.state == writing) }

// SetRecovers has the thread begin before the others when its machine starts again after a crash.
func (t *Thread) SetRecovers() { t.recovers = true }

// Recovers says so.
func (t *Thread) Recovers() bool { return t.recovers }

// SetEndless says that a drain does not wait for the thread's work: what it is at may be cut off anywhere.
func (t *Thread) SetEndless() { t.endless = true }

// String says what the thread is at; nothing of one that has ended.
func (t *Thread) String() string {
	what := "waits for its slice of the core"
	switch {
	case t.state == suspended:
		what = "suspended"
	case t.state == asleep:
		what = "asleep"
	case t.state == writing:
		what = "waits for the SSD"
	case t.state == ended:
		return ""
	case t.share.on == t:
		what = "runs"
	}
	return t.p.Name() + ": " + what
}

// Crash ends a machine's shared threads, and leaves of its logs what the disk has.
func (sys *System) Crash(machine int) {
	for _, s := range sys.machines[machine].shares {
		s.stop()
	}
	for _, f := range sys.files {
		if f.machine == machine {
			f.crash()
		}
	}
}

// Up has a machine's workers share their cores again when it runs.
func (sys *System) Up(machine int) {
	for _, s := range sys.machines[machine].shares {
		s.start()
	}
}
