package sim

import (
	"fmt"
	"math"
)

// Time is virtual time, or a span of it, in picoseconds.
type Time = int64

// Units of time.
const (
	Picosecond  Time = 1
	Nanosecond       = 1000 * Picosecond
	Microsecond      = 1000 * Nanosecond
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond
)

// Forever, given to Run, means until no event is left.
const Forever Time = math.MaxInt64

// Kind names a registered handler of one clock.
type Kind uint32

// A Kind is the number of a handler of its clock in the low bits, and the number of the clock above. In a queue there is the source
// of the event above both.
const (
	kindBits  = 7
	clockBits = 11
	kindMask  = 1<<kindBits - 1
	clockMask = 1<<clockBits - 1
	ownMask   = 1<<(clockBits+kindBits) - 1
	// MaxMachines have clocks.
	MaxMachines = 1024
)

func (k Kind) clock() Kind { return k >> kindBits & clockMask }

// Handler is what happens at an event. The argument usually indexes a pool of
// the component that registered the handler.
type Handler func(arg uint32)

// QueueKind selects the event queue. Both give the same order.
type QueueKind uint8

const (
	// Wheel is a timing wheel, the queue for every real run.
	Wheel QueueKind = iota
	// Heap is a plain binary heap: two to three times slower and simple enough
	// to be the reference that tests compare the wheel with.
	Heap
)

// Options configure a Sim. The zero value is usable.
type Options struct {
	// Seed is the root of every random stream.
	Seed uint64
	// Trace folds (time, kind, argument) of every event into TraceHash. It costs
	// about two nanoseconds per event.
	Trace bool
	// Queue is Wheel by default.
	Queue QueueKind
}

// Sim is a clock with its events and processes: that of the simulation, or of one of its machines. Events of the simulation's own
// clock see all machines stand still, before any event that a machine has at the same time.
type Sim struct {
	line   *timeline
	all    *clocks
	tag    Kind // in all its kinds
	own    Kind // source of its own events
	sent   Kind // source of its messages
	events uint64
	hash   uint64
	names  []string // of its handlers

	procs   []*Proc
	running *Proc
}

// clocks are those of a simulation.
type clocks struct {
	list     []*Sim      // the simulation's own, then by machine
	line     *timeline   // of the simulation's own clock, and of all where there is one queue
	lines    []*timeline // by machine; nil: there is one queue
	handlers []Handler   // by kind, and by clock
	ahead    [rounds][]Handler
	options  Options
	inRun    bool
	windows
}

// kindWake resumes the process whose id is the argument.
const kindWake Kind = 0

// New returns a simulation at time 0 without events and machines.
func New(o Options) *Sim {
	all := &clocks{options: o, line: newTimeline(o, bucketShift)}
	return all.add()
}

func (all *clocks) add() *Sim {
	n := len(all.list)
	s := &Sim{line: all.line, all: all, tag: Kind(n) << kindBits, sent: Kind(1+n) << (kindBits + clockBits)}
	if n > 0 {
		s.own = 1 << (kindBits + clockBits)
	}
	room := make([]Handler, 1<<kindBits)
	all.handlers = append(all.handlers, room...)
	for i := range all.ahead {
		all.ahead[i] = append(all.ahead[i], room...)
	}
	all.list = append(all.list, s)
	all.line.share(all)
	s.Register("wake", s.wake)
	return s
}

// Machine is the clock of a machine. It is made when it is first asked for, which must be before the first Run.
func (s *Sim) Machine(m int) *Sim {
	if m < 0 || m >= MaxMachines {
		panic(fmt.Sprintf("sim: machine %d: must be between 0 and %d", m, MaxMachines-1))
	}
	for len(s.all.list) <= 1+m {
		s.all.add()
	}
	return s.all.list[1+m]
}

// Register adds a handler and returns its kind. The name appears in errors.
func (s *Sim) Register(name string, h Handler) Kind {
	if h == nil {
		panic(fmt.Sprintf("sim: handler %q is nil", name))
	}
	if len(s.names) > kindMask {
		panic(fmt.Sprintf("sim: handler %q is one too many: a clock has at most %d", name, kindMask+1))
	}
	k := s.tag | Kind(len(s.names))
	s.names = append(s.names, name)
	s.all.handlers[k] = h
	return k
}

// Ahead registers up to four functions that see most events of kind k before
// its handler does, one after the other, each some events before the next. They
// are for asking the host for the memory the handler will need, each for what is
// found through what the one before asked for. They must have no effect on the
// simulation: which events they see is not part of it. Any of them may be nil.
func (s *Sim) Ahead(k Kind, look ...Handler) {
	for i, f := range look {
		s.all.ahead[i][k] = f
	}
}

// LookAhead switches the functions of Ahead on and off, of all clocks: they pay when the state
// is much larger than the host's cache, and cost when it is not.
func (s *Sim) LookAhead(on bool) { s.line.looks = on }

// Now is the current virtual time.
func (s *Sim) Now() Time { return s.line.now }

// Events is the number of events that have run: of a machine's clock its own, of the simulation's all.
func (s *Sim) Events() uint64 {
	if s.tag != 0 {
		return s.events
	}
	var n uint64
	for _, c := range s.all.list {
		n += c.events
	}
	return n
}

// TraceHash identifies the sequences of events that have run: of a machine's clock its own, of the simulation's all, in the order of
// the machines. It stays 0 unless Options.Trace is set.
func (s *Sim) TraceHash() uint64 {
	h := s.hash
	if s.tag == 0 && s.all.options.Trace {
		for _, c := range s.all.list[1:] {
			h = mix(h ^ c.hash)
		}
	}
	return h
}

// Err is the failure that ended the run, or nil: the first one, and of several at one time that of the first machine.
func (s *Sim) Err() error {
	first := s.all.line
	for _, l := range s.all.lines {
		if l.err != nil && (first.err == nil || l.failed < first.failed) {
			first = l
		}
	}
	return first.err
}

// Fail ends the run after the current event; Run returns err. Only the first
// failure counts.
func (s *Sim) Fail(err error) {
	if l := s.line; l.err == nil {
		l.err, l.failed = err, l.now
	}
}

// At schedules an event. A time before Now is a bug of the caller and panics.
// After Close events are dropped, so that deferred functions of processes may
// still call code that schedules.
func (s *Sim) At(t Time, k Kind, arg uint32) { s.schedule(t, s.own|k, arg) }

func (s *Sim) schedule(t Time, k Kind, arg uint32) {
	l := s.line
	if t < l.now {
		s.panicPast(t, k)
	}
	switch {
	case l.closed:
	case l.wheel != nil:
		l.wheel.push(event{t, k, arg})
	default:
		l.seq++
		l.heap.push(numbered{event{t, k, arg}, l.seq})
	}
}

// Post is At of another clock, for a machine's events: what happens there comes from this machine. It takes as long as messages do at
// least, see Spread.
func (s *Sim) Post(to *Sim, t Time, k Kind, arg uint32) {
	l := s.line
	switch {
	case s == to:
		s.At(t, to.tag|k&kindMask, arg)
	case t < l.end:
		panic(fmt.Sprintf("sim: message %q for %d ps, which is %d ps before messages can be there", s.all.name(to.tag|k&kindMask), t, l.end-t))
	case to.line.worker == l.worker:
		to.schedule(t, s.sent|to.tag|k&kindMask, arg)
	default:
		l.worker.send(to.line.worker, event{t, s.sent | to.tag | k&kindMask, arg})
	}
}

func (s *Sim) panicPast(t Time, k Kind) {
	panic(fmt.Sprintf("sim: event %q scheduled for %d ps, which is %d ps before now", s.all.name(k), t, s.line.now-t))
}

// name is that of a kind, for messages.
func (all *clocks) name(k Kind) string {
	if c := int(k.clock()); c < len(all.list) && int(k&kindMask) < len(all.list[c].names) {
		return all.list[c].names[k&kindMask]
	}
	return fmt.Sprintf("unregistered kind %d", k)
}

// NextAt is the time of the earliest pending event; false when there is none.
func (s *Sim) NextAt() (at Time, ok bool) {
	at, ok = s.all.line.peek()
	for _, l := range s.all.lines {
		if t, some := l.peek(); some && (!ok || t < at) {
			at, ok = t, true
		}
	}
	return at, ok
}

// Run runs every event before until, of all clocks, and then sets them to until. How a
// span is cut into runs does not influence what happens. With Forever it runs
// until no event is left, and the clocks stay at the last one.
//
// It returns the first failure: a panic of a process or a handler, or what was
// given to Fail. A failed simulation stays as it was at that moment and runs no more.
func (s *Sim) Run(until Time) (err error) {
	all, line := s.all, s.all.line
	switch {
	case all.inRun:
		panic("sim: Run called from inside a run")
	case line.closed:
		return fmt.Errorf("sim: run until %d ps: the simulation is closed", until)
	case s.Err() != nil:
		return s.Err()
	case until < line.now:
		panic(fmt.Sprintf("sim: run until %d ps, which is %d ps before now", until, line.now-until))
	}
	all.inRun = true
	defer func() { all.inRun = false }()
	if all.plan(); all.lines == nil {
		line.guarded(until)
	} else {
		all.run(until)
	}
	if s.Err() == nil && until != Forever {
		all.standAt(until)
	}
	return s.Err()
}
