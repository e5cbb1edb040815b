package sim

import (
	"fmt"
	"math"
	"runtime/debug"
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

// Kind names a registered handler.
type Kind uint32

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

// Sim is one simulation: a clock, its events and its processes.
type Sim struct {
	now    Time
	seq    uint64 // of the heap
	events uint64
	hash   uint64
	seed   uint64
	trace  bool
	closed bool
	inRun  bool
	err    error

	handlers []Handler
	ahead    [rounds][]Handler // see Ahead
	looks    bool
	glances  [recent]glance
	names    []string
	kind     Kind // of the event that is running, for error messages

	wheel *wheel
	heap  heap // used when wheel is nil

	procs   []*Proc
	running *Proc
}

// kindWake resumes the process whose id is the argument.
const kindWake Kind = 0

// New returns a Sim at time 0 without events.
func New(o Options) *Sim {
	s := &Sim{seed: o.Seed, trace: o.Trace}
	if o.Queue == Wheel {
		s.wheel = newWheel()
	}
	s.Register("wake", s.wake)
	return s
}

// Register adds a handler and returns its kind. The name appears in errors.
func (s *Sim) Register(name string, h Handler) Kind {
	if h == nil {
		panic(fmt.Sprintf("sim: handler %q is nil", name))
	}
	s.handlers = append(s.handlers, h)
	s.names = append(s.names, name)
	for i := range s.ahead {
		s.ahead[i] = append(s.ahead[i], nil)
	}
	return Kind(len(s.handlers) - 1)
}

// Ahead registers up to four functions that see most events of kind k before
// its handler does, one after the other, each some events before the next. They
// are for asking the host for the memory the handler will need, each for what is
// found through what the one before asked for. They must have no effect on the
// simulation: which events they see is not part of it. Any of them may be nil.
func (s *Sim) Ahead(k Kind, look ...Handler) {
	for i, f := range look {
		s.ahead[i][k] = f
	}
}

// LookAhead switches the functions of Ahead on and off: they pay when the state
// is much larger than the host's cache, and cost when it is not.
func (s *Sim) LookAhead(on bool) { s.looks = on }

// A bucket of a loaded cluster has some ten events, and the host's memory answers
// within one or two.
const (
	seen   = 3                    // buckets before the open one: the first functions of Ahead see the events
	rounds = 4                    // that many functions
	apart  = 1                    // buckets between two of them
	recent = apart*(rounds-1) + 1 // buckets remembered
)

// AheadBy is how far ahead of its time an event is when the functions of Ahead see it,
// at most.
const AheadBy Time = (seen + 1) << bucketShift

// glance is what the functions of Ahead are shown of a bucket.
type glance struct {
	bucket int64
	events []glimpse
}

type glimpse struct {
	kind Kind
	arg  uint32
}

// lookAhead shows the events of some buckets behind the one that was opened. The
// first look remembers them, for the events are many lines of the host's memory.
func (s *Sim) lookAhead() {
	w := s.wheel
	first := s.glance(w.cur + seen)
	first.bucket, first.events = w.cur+seen, first.events[:0]
	for n := w.head[uint(first.bucket)&bucketMask]; n != 0; n = w.after[n] {
		first.events = append(first.events, glimpse{w.events[n].kind, w.events[n].arg})
	}
	for i := range s.ahead {
		functions, bucket := s.ahead[i], w.cur+seen-int64(i)*apart
		g := s.glance(bucket)
		if g.bucket != bucket {
			continue
		}
		for _, e := range g.events {
			if look := functions[e.kind]; look != nil {
				look(e.arg)
			}
		}
	}
}

// glance is the place of a bucket among those remembered.
func (s *Sim) glance(bucket int64) *glance { return &s.glances[uint64(bucket)%recent] }

// Now is the current virtual time.
func (s *Sim) Now() Time { return s.now }

// Events is the number of events that have run.
func (s *Sim) Events() uint64 { return s.events }

// TraceHash identifies the sequence of events that have run. It stays 0 unless
// Options.Trace is set.
func (s *Sim) TraceHash() uint64 { return s.hash }

// Err is the failure that ended the run, or nil.
func (s *Sim) Err() error { return s.err }

// Fail ends the run after the current event; Run returns err. Only the first
// failure counts.
func (s *Sim) Fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// At schedules an event. A time before Now is a bug of the caller and panics.
// After Close events are dropped, so that deferred functions of processes may
// still call code that schedules.
func (s *Sim) At(t Time, k Kind, arg uint32) {
	if t < s.now {
		s.panicPast(t, k)
	}
	if s.closed {
		return
	}
	if s.wheel != nil {
		s.wheel.push(event{t, k, arg})
		return
	}
	s.seq++
	s.heap.push(numbered{event{t, k, arg}, s.seq})
}

func (s *Sim) panicPast(t Time, k Kind) {
	panic(fmt.Sprintf("sim: event %q scheduled for %d ps, which is %d ps before now", s.kindName(k), t, s.now-t))
}

func (s *Sim) kindName(k Kind) string {
	if int(k) < len(s.names) {
		return s.names[k]
	}
	return fmt.Sprintf("unregistered kind %d", k)
}

// NextAt is the time of the earliest pending event; false when there is none.
func (s *Sim) NextAt() (Time, bool) {
	if s.wheel != nil {
		return s.wheel.peek()
	}
	if len(s.heap) == 0 {
		return 0, false
	}
	return s.heap[0].t, true
}

// Run runs every event before until and then sets the clock to until. How a
// span is cut into runs does not influence what happens. With Forever it runs
// until no event is left, and the clock stays at the last one.
//
// It returns the first failure: a panic of a process or a handler, or what was
// given to Fail. A failed Sim stays as it was at that moment and runs no more.
func (s *Sim) Run(until Time) (err error) {
	switch {
	case s.inRun:
		panic("sim: Run called from inside a run")
	case s.closed:
		return fmt.Errorf("sim: run until %d ps: the simulation is closed", until)
	case s.err != nil:
		return s.err
	case until < s.now:
		panic(fmt.Sprintf("sim: run until %d ps, which is %d ps before now", until, s.now-until))
	}
	s.inRun = true
	defer func() {
		s.inRun = false
		if r := recover(); r != nil {
			s.running = nil
			s.Fail(&PanicError{Where: "handler " + s.kindName(s.kind), At: s.now, Value: r, Stack: string(debug.Stack())})
			err = s.err
		}
	}()
	if s.wheel != nil {
		s.runWheel(until)
	} else {
		s.runHeap(until)
	}
	if s.err == nil && until != Forever {
		s.now = until
	}
	return s.err
}

func (s *Sim) runWheel(until Time) {
	w := s.wheel
	for s.err == nil {
		if w.pos == len(w.open) {
			if !w.next(until) {
				break
			}
			if s.looks {
				s.lookAhead()
			}
		}
		e := w.open[w.pos]
		if e.t >= until {
			return
		}
		w.pos++
		s.begin(e)
		s.handlers[e.kind](e.arg)
	}
	if s.err == nil && until != Forever {
		w.skipTo(until)
	}
}

func (s *Sim) runHeap(until Time) {
	for s.err == nil && len(s.heap) > 0 && s.heap[0].t < until {
		e := s.heap.pop().event
		s.begin(e)
		s.handlers[e.kind](e.arg)
	}
}

// begin makes it the time of an event. It is small enough to be inlined into both loops.
func (s *Sim) begin(e event) {
	s.now, s.kind = e.t, e.kind
	s.events++
	if s.trace {
		s.fold(e)
	}
}

func (s *Sim) fold(e event) {
	h := (s.hash ^ uint64(e.t)) * 0x9e3779b97f4a7c15
	h = (h ^ h>>32 ^ uint64(e.kind)<<32 ^ uint64(e.arg)) * 0xd6e8feb86659fd93
	s.hash = h ^ h>>32
}
