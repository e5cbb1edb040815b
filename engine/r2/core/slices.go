package core

import (
	"drtmx/engine/fabric/profile"
)

// timeslices is a core of which several threads have slices of time: the worker there, if the machine
// has one for it, and threads of Spawn. It schedules them as Linux's CFS does threads of
// equal weight: the one that had least goes on, for its share of the scheduler's latency; a
// thread that wakes takes the core at once if it is far enough behind. Ends of slices are seen at
// ticks. A worker polls, so it never sleeps.
//
// A thread leaves the core between two events. What its last one has booked beyond that instant
// is kept and lies ahead of it when it comes back: its effects are early by that, once in a slice.
type timeslices struct {
	cost    *profile.SchedulerCosts
	machine *Machine
	id      uint32 // on its machine
	core    int
	list    []*Thread // the worker's first, if there is one
	on      *Thread   // has the core; nil: none
	began   Time      // its slice
	since   Time      // its virtual runtime is known up to then
	floor   Time      // least virtual runtime of those that can run; it never falls
	ticking bool
	gen     uint16 // of ticks
}

// States of a thread.
const (
	ready     = iota
	fresh     // has not begun
	suspended // in Suspend
	asleep    // in Sleep
	writing   // waits for the SSD
	ended
)

// Thread is a worker, or a thread of Spawn, on a core that has several.
type Thread struct {
	share    *timeslices
	w        *Core
	p        *Program // nil: a worker's
	hooks    Hooks    // of p
	state    uint8
	woken    bool // while it was not suspended
	wakeAt   Time // asleep until then
	endless  bool // see SetEndless
	recovers bool // see SetRecovers
	vruntime Time
	lost     uint64 // how often it was taken off the core
	requests uint16 // to the SSD

	// Off the core:
	missed bool // an event of it was due
	booked Time // core time ahead of it
	work   Time // of that, what is not spinning
}

// off says that an event comes while its thread has not got the core, which will see to it.
func (t *Thread) off() bool {
	t.missed = t.missed || t.share.on != t
	return t.share.on != t
}

// leave takes the core from a thread.
func (t *Thread) leave(now Time) {
	w := t.w
	if r := w.region; r != nil && r.state == live {
		r.touched(bySwitch)
	}
	w.Charge(w.stall())
	t.booked, t.work = max(0, w.Local-now), w.booked()
	w.Busy -= t.work
	w.Local = min(w.Local, now)
	t.missed = false
	t.lost++
}

// come gives it the core back, after a switch.
func (t *Thread) come(now Time) {
	w, d := t.w, t.share.cost.ContextSwitch
	w.Begun = now + t.booked - t.work
	w.Local = now + d + t.booked
	w.Busy += d + t.work
	t.booked, t.work = 0, 0
	switch {
	case t.missed || !w.Idle && !w.Stalled:
		w.Schedule(w.Local)
	case w.Idle:
		w.goesOn()
	}
	t.missed = false
}

// account adds what the running thread has had since the last call.
func (s *timeslices) account() {
	now := s.machine.Clock.Now()
	if s.on == nil {
		s.since = now
		return
	}
	s.on.vruntime += now - s.since
	s.since = now
	s.floor = max(s.floor, s.first(nil).vruntime)
}

// first is the thread that had least of those that can run, but one; nil: there is none.
func (s *timeslices) first(but *Thread) *Thread {
	var first *Thread
	for _, t := range s.list {
		if t != but && t.state == ready && (first == nil || t.vruntime < first.vruntime) {
			first = t
		}
	}
	return first
}

// running counts the threads that can run.
func (s *timeslices) running() (n Time) {
	for _, t := range s.list {
		if t.state == ready {
			n++
		}
	}
	return n
}

// switchTo has a thread run, in place of the one that did.
func (s *timeslices) switchTo(t *Thread) {
	now := s.machine.Clock.Now()
	if s.on != nil {
		s.on.leave(now)
	}
	s.on, s.began, s.since = t, now, now
	t.come(now)
	s.tickOn()
}

// wake makes a thread ready that was not. One that slept for long gets half a latency of
// credit, no more; so does a new one, for those of a real process have begun long before.
func (s *timeslices) wake(t *Thread) {
	s.account()
	credit := s.floor - s.cost.Latency/2
	if t.vruntime = max(t.vruntime, credit); t.state == fresh {
		t.vruntime = credit
	}
	t.state = ready
	if s.on == nil || s.on.vruntime-t.vruntime > s.cost.WakeupGranularity {
		s.switchTo(t)
	}
	s.tickOn()
}

// block takes the core from the running thread, which waits for something.
func (s *timeslices) block(state uint8) {
	s.account()
	t := s.on
	t.state, s.on = state, nil
	if next := s.first(nil); next != nil {
		s.switchTo(next)
	}
}

// tickOn has the scheduler look at the next tick, if a thread waits for the core.
func (s *timeslices) tickOn() {
	if s.ticking || s.running() < 2 {
		return
	}
	s.ticking = true
	s.gen++
	clock := s.machine.Clock
	clock.At((clock.Now()/s.cost.Tick+1)*s.cost.Tick, s.machine.kTicks, s.id|uint32(s.gen)<<16)
}

// tick ends the slice of a thread that had its share of the latency, or that is ahead of the
// others by as much.
func (s *timeslices) tick(gen uint16) {
	if gen != s.gen || !s.ticking {
		return
	}
	s.ticking = false
	s.account()
	n := s.running()
	if n < 2 {
		return
	}
	slice := max(s.cost.Latency/n, s.cost.MinGranularity)
	ran, next := s.machine.Clock.Now()-s.began, s.first(s.on)
	switch over := ran > slice || ran >= s.cost.MinGranularity && s.on.vruntime-next.vruntime > slice; {
	case over && next.vruntime <= s.on.vruntime:
		s.switchTo(next)
	case over:
		s.began = s.machine.Clock.Now()
	}
	s.tickOn()
}

// register makes the kinds of a machine's shared threads.
func (mc *Machine) register() {
	mc.kThread = mc.Clock.Register("r2.thread", func(a uint32) { mc.threads[a&0xffff].event(a >> 16) })
	mc.kTicks = mc.Clock.Register("r2.tick.shared", func(a uint32) { mc.shares[a&0xffff].tick(uint16(a >> 16)) })
	mc.kSSD = mc.Clock.Register("r2.ssd", func(a uint32) { mc.threads[a&0xffff].complete(uint16(a >> 16)) })
	mc.kWake = mc.Clock.Register("r2.wake", func(a uint32) { mc.threads[a].wake() })
}

// shareOf is the share of a thread's core, made if it has none.
func (sys *System) shareOf(m, core int) *timeslices {
	mc := sys.machines[m]
	place, _ := mc.hw.Assign(core)
	for _, s := range mc.shares {
		if s.core == place {
			return s
		}
	}
	s := &timeslices{machine: mc, id: uint32(len(mc.shares)), core: place, cost: sys.fab.Scheduler()}
	mc.shares = append(mc.shares, s)
	if core < len(mc.cores) {
		w := mc.cores[core]
		w.timed = &Thread{share: s, w: w}
		s.list = append(s.list, w.timed)
		s.start()
	}
	return s
}

// start makes the worker ready, when its machine starts. The core is its own unless a thread that has just recovered has it.
func (s *timeslices) start() {
	if len(s.list) == 0 || s.list[0].p != nil {
		return
	}
	s.list[0].state = ready
	if s.on == nil {
		s.on, s.began, s.since = s.list[0], s.machine.Clock.Now(), s.machine.Clock.Now()
	}
	s.tickOn()
}

// stop ends all threads at a crash.
func (s *timeslices) stop() {
	for _, t := range s.list {
		if t.p != nil {
			t.stop()
		}
		*t = Thread{
			share: s, w: t.w, p: t.p, hooks: t.hooks, endless: t.endless, recovers: t.recovers,
			vruntime: s.floor, lost: t.lost, requests: t.requests + 1, state: ended,
		}
	}
	s.on, s.ticking = nil, false
	s.gen++
}
