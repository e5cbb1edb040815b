package core

import (
	"drtmx/engine/fabric"
	"drtmx/engine/fabric/exploration"
	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// Time is virtual time in picoseconds.
type Time = sim.Time

// Rand is a seeded stream of random numbers.
type Rand = sim.Rand

// Addr is an address in one machine's memory.
type Addr = space.Addr

const lineBytes = space.LineBytes

// Above is what a core asks of the framework. None of it is asked often.
type Above interface {
	// Yield lets the others of a program's thread run, unless it is a handler's; and Sleep gives the core away.
	Yield(program uint32)
	Sleep(program uint32, d Time)
	// Actor says whose a program's accesses to memory are: a handler's are those of the thread which has called.
	Actor(program uint32) uint64
}

// System is what the cores of a cluster have in common.
type System struct {
	Explored *exploration.Exploration // nil: the run is no exploration
	Spoils   bool                     // scratch memory is overwritten at each wait: tests only

	MaxRequest int // of scratch memory: bytes

	above    Above
	fab      *fabric.Fabric
	machines []*Machine
	threads  []*Thread // of Spawn
	files    []*LogFile
	names    map[uint32]string // of programs, by number: only for messages
	spoilers []func(machine int)
}

// New is the system of a fabric's machines.
func New(s *sim.Sim, f *fabric.Fabric, above Above) *System {
	sys := &System{Explored: f.Exploration(), above: above, fab: f, names: map[uint32]string{}}
	for m := range f.Machines() {
		mc := &Machine{Clock: s.Machine(m), id: m, hw: f.Machine(m)}
		mc.register()
		sys.machines = append(sys.machines, mc)
	}
	return sys
}

// Machine is a machine's cores.
type Machine struct {
	Clock  *sim.Sim
	Timer  sim.Kind // of programs that sleep: Program.ID is its argument
	id     int
	hw     *fabric.Machine
	cores  []*Core       // by thread: the workers
	onCore []*Core       // by core, nil of those without; nil with RDMA
	shares []*timeslices // its cores of several threads

	threads []*Thread // those of Spawn that are its own

	kThread, kTicks, kWake, kSSD sim.Kind

	htm     HTMCounts
	scratch scratch
}

// Machine is that of a number.
func (sys *System) Machine(m int) *Machine { return sys.machines[m] }

// Core is what a thread has of its core: its local time, and the event at which it goes on. Hundreds of them take turns on the
// host's cache, so what every turn needs comes first.
type Core struct {
	Clock *sim.Sim // of the machine
	Local Time     // the core is busy until then
	Busy  Time

	// Exactly one event is pending unless the thread idles; an event of an older generation is void.
	Gen     uint32
	Idle    bool
	Stalled bool     // on its write-combining buffers, from Local on
	putOff  bool     // interrupts have moved Local since its event was planned
	Current *Program // interrupted: resumes at local time
	timed   *Thread  // nil: it has its core to itself
	kind    sim.Kind // of its events
	id      uint32   // their argument, of 16 bits
	CPU     profile.CPUCosts
	HW      *fabric.Machine
	Mem     *host.Memory
	Number  int // of the core

	sys     *System
	Begun   Time // when it last began, or saw something after polls in vain: what is before is no work
	machine *Machine
	region  *Region // nil: there was none yet
	goesOn  func()  // has an idle thread look around, when it gets the core back
}

// Init makes it a worker's. Its events are of a kind, with a number as their argument; goesOn has it look around when it was idle and
// gets its core back.
func (w *Core) Init(sys *System, machine, thread int, kind sim.Kind, id uint32, goesOn func()) {
	w.init(sys, machine, thread, kind, id)
	w.Idle, w.goesOn = true, goesOn
	w.machine.cores = append(w.machine.cores, w)
}

func (w *Core) init(sys *System, machine, thread int, kind sim.Kind, id uint32) {
	mc := sys.machines[machine]
	w.sys, w.Clock, w.machine, w.HW, w.Mem, w.CPU, w.kind, w.id = sys, mc.Clock, mc, mc.hw, mc.hw.Mem, mc.hw.CPU, kind, id
	w.Number, _ = mc.hw.Assign(thread)
}

// Charge spends time on the core.
func (w *Core) Charge(d Time) {
	w.Local += d
	w.Busy += d
}

// CopyCost is what copying n bytes takes.
func (w *Core) CopyCost(n int) Time { return Time((n+lineBytes-1)/lineBytes) * w.CPU.CopyLine }

// booked is the work that lies beyond this instant.
func (w *Core) booked() Time { return max(0, w.Local-max(w.Clock.Now(), w.Begun)) }

// stall is how long the core has waited by now for its write-combining buffers.
func (w *Core) stall() Time {
	if !w.Stalled || w.timed != nil && w.timed.share.on != w.timed {
		return 0
	}
	return max(0, w.Clock.Now()-w.Local)
}

// EndStall ends a stall, which was work of the core: it could do nothing else.
func (w *Core) EndStall() {
	w.Charge(w.stall())
	w.Stalled = false
}

// spent is the core's time on the thread by this instant.
func (w *Core) spent() Time { return max(0, w.Busy+w.stall()-w.booked()) }

// Spent is the time the core spent on work since the start, that of threads that share it included, empty polls not counted, nor
// what it has booked beyond this instant. A core that waits for its own stores is at work.
func (w *Core) Spent() Time {
	if w.timed == nil {
		return w.spent()
	}
	var all Time
	for _, t := range w.timed.share.list {
		all += t.w.spent()
	}
	return all
}

// Schedule makes the next event.
func (w *Core) Schedule(at Time) {
	w.Idle = false
	w.Gen++
	w.Clock.At(at, w.kind, w.id|w.Gen<<16)
}

// Next is the argument that the next event will have.
func (w *Core) Next() uint32 { return w.id | (w.Gen+1)<<16 }

// Void says that an event is of an older generation.
func (w *Core) Void(gen uint32) bool { return gen != w.Gen&0xffff }

// Off says that an event comes while another thread has the core, and then sees to it that the thread makes up for it.
func (w *Core) Off() bool { return w.timed != nil && w.timed.off() }

// Stop ends what the thread is at, when its machine crashes.
func (w *Core) Stop() {
	w.Busy += w.stall() - w.booked() // which will not be done
	w.Local = min(w.Local, w.Clock.Now())
	if w.region != nil {
		w.region.drop()
	}
	w.Gen++
	w.Idle = false // nothing wakes it
	w.Current, w.Stalled = nil, false
}

// Program is what runs on a core and uses the machine's memory: what a coroutine or a thread is made of.
type Program struct {
	w    *Core
	proc *sim.Proc
	flat bool
	id   uint32
	rand Rand
}

// Bind makes it a program of a core, with a number and a name.
func Bind(w *Core, id uint32, name string, rand *Rand) Program {
	w.sys.names[id] = name
	return Program{w: w, id: id, rand: *rand}
}

// Start gives it a process, which runs body.
func Start(p *Program, body func()) *sim.Proc {
	p.proc = p.w.Clock.Go(p.Name(), func(*sim.Proc) { body() })
	return p.proc
}

// Stopped is the program without its process. Its stream of random numbers goes on with the next one.
func Stopped(p *Program) Program {
	if p.proc != nil {
		p.proc.Stop()
	}
	return Program{w: p.w, id: p.id, rand: p.rand}
}

// Park gives the core away until Resume.
func Park(p *Program) { p.proc.Park() }

// Resume lets it go on until its next wait.
func Resume(p *Program) { p.proc.Resume() }

// SetRand gives it another stream.
func SetRand(p *Program, r *Rand) { p.rand = *r }

// ID is its number within the cluster.
func (p *Program) ID() uint32 { return p.id }

// Name is for messages.
func (p *Program) Name() string { return p.w.sys.names[p.id] }

// Rand is its own random stream.
func (p *Program) Rand() *Rand { return &p.rand }

// Now is the local time of its core.
func (p *Program) Now() Time { return max(p.w.Local, p.w.Clock.Now()) }

// Compute charges cycles of its core.
func (p *Program) Compute(cycles int) {
	p.w.Charge(Time(cycles) * 1_000_000 / p.w.CPU.MHz)
}
