package sim

import "runtime/debug"

// timeline is the events of some clocks in one order.
type timeline struct {
	now    Time
	kind   Kind // of the event that is running, for error messages
	looks  bool
	trace  bool
	closed bool
	wheel  *wheel
	heap   heap    // used when wheel is nil
	seq    uint64  // of the heap
	end    Time    // of the window: messages to others take effect from then on; 0 where there are none
	worker *worker // nil: the goroutine that calls Run

	err    error // that ended the run, here
	failed Time  // when

	// Those of all clocks, by kind and by clock.
	handlers []Handler
	ahead    [rounds][]Handler // see Sim.Ahead
	clocks   []*Sim

	glances [recent]glance
	primed  []glimpse
}

func newTimeline(o Options, shift uint) *timeline {
	l := &timeline{trace: o.Trace}
	if o.Queue == Wheel {
		l.wheel = newWheel(shift)
	}
	return l
}

// share gives the timeline all clocks' handlers.
func (l *timeline) share(all *clocks) {
	l.handlers, l.ahead, l.clocks = all.handlers, all.ahead, all.list
}

func (l *timeline) push(e event) {
	if l.wheel != nil {
		l.wheel.push(e)
		return
	}
	l.seq++
	l.heap.push(numbered{e, l.seq})
}

// pop takes the first event out.
func (l *timeline) pop() (e event, ok bool) {
	w := l.wheel
	switch {
	case w == nil && len(l.heap) == 0 || w != nil && w.pos == len(w.open) && !w.next(Forever):
		return e, false
	case w == nil:
		return l.heap.pop().event, true
	}
	w.pos++
	return w.open[w.pos-1], true
}

func (l *timeline) peek() (Time, bool) {
	if l.wheel != nil {
		return l.wheel.peek()
	}
	if len(l.heap) == 0 {
		return 0, false
	}
	return l.heap[0].t, true
}

// guarded is run that makes a panic the timeline's failure.
func (l *timeline) guarded(until Time) {
	defer func() {
		if r := recover(); r != nil {
			for _, c := range l.clocks {
				if c.line == l {
					c.running = nil
				}
			}
			if l.err == nil {
				l.err, l.failed = &PanicError{Where: "handler " + l.clocks[0].all.name(l.kind), At: l.now, Value: r, Stack: string(debug.Stack())}, l.now
			}
		}
	}()
	l.run(until)
}

// run runs every event before until.
func (l *timeline) run(until Time) {
	if l.wheel != nil {
		l.runWheel(until)
	} else {
		l.runHeap(until)
	}
}

func (l *timeline) runWheel(until Time) {
	w := l.wheel
	if l.looks && l.end > 0 {
		l.prime(until)
	}
	for l.err == nil {
		if w.pos == len(w.open) {
			if !w.next(until) {
				break
			}
			if l.looks {
				l.lookAhead()
			}
		}
		e := w.open[w.pos]
		if e.t >= until {
			return
		}
		w.pos++
		l.begin(e)
		l.handlers[e.kind&ownMask](e.arg)
	}
	if l.err == nil && until != Forever {
		w.skipTo(until)
	}
}

func (l *timeline) runHeap(until Time) {
	for l.err == nil && len(l.heap) > 0 && l.heap[0].t < until {
		e := l.heap.pop().event
		l.begin(e)
		l.handlers[e.kind&ownMask](e.arg)
	}
}

// begin makes it the time of an event. It is small enough to be inlined into both loops.
func (l *timeline) begin(e event) {
	s := l.clocks[e.kind.clock()]
	l.now, l.kind = e.t, e.kind
	s.events++
	if l.trace {
		s.fold(e)
	}
}

func (s *Sim) fold(e event) {
	h := (s.hash ^ uint64(e.t)) * 0x9e3779b97f4a7c15
	h = (h ^ h>>32 ^ uint64(e.kind&kindMask)<<32 ^ uint64(e.arg)) * 0xd6e8feb86659fd93
	s.hash = h ^ h>>32
}

// A bucket of a loaded cluster has some ten events, and the host's memory answers
// within one or two.
const (
	seen   = 3                    // buckets before the open one: the first functions of Ahead see the events
	rounds = 4                    // that many functions
	apart  = 1                    // buckets between two of them
	recent = apart*(rounds-1) + 1 // buckets remembered
)

// AheadBy is how far ahead of its time an event of the clock is when the functions of Ahead see it,
// at most.
func (s *Sim) AheadBy() Time {
	if s.line.wheel == nil {
		return 0
	}
	return (seen + 1) << s.line.wheel.shift
}

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
func (l *timeline) lookAhead() {
	w := l.wheel
	if first := l.glance(w.cur + seen); l.end == 0 || (w.cur+seen)<<w.shift < l.end {
		first.bucket, first.events = w.cur+seen, w.glimpses(first.events[:0], w.cur+seen)
	}
	for i := range rounds {
		functions, bucket := l.ahead[i], w.cur+seen-int64(i)*apart
		g := l.glance(bucket)
		if g.bucket != bucket {
			continue
		}
		for _, e := range g.events {
			if look := functions[e.kind&ownMask]; look != nil {
				look(e.arg)
			}
		}
	}
}

// prime shows the first events of a window, one round after the other: they came from others meanwhile, or were not shown because they
// are behind the window before.
func (l *timeline) prime(end Time) {
	w := l.wheel
	p := l.primed[:0]
	for _, e := range w.open[w.pos:] {
		p = append(p, glimpse{e.kind, e.arg})
	}
	for b := w.cur + 1; b <= w.cur+seen && b<<w.shift < end; b++ {
		p = w.glimpses(p, b)
	}
	l.primed = p
	for i := range l.glances {
		l.glances[i].bucket = -1
	}
	for _, functions := range l.ahead {
		for _, e := range p {
			if look := functions[e.kind&ownMask]; look != nil {
				look(e.arg)
			}
		}
	}
}

// glimpses appends the events of a bucket that is not open.
func (w *wheel) glimpses(to []glimpse, bucket int64) []glimpse {
	for n := w.head[uint(bucket)&bucketMask]; n != 0; n = w.after[n] {
		to = append(to, glimpse{w.events[n].kind, w.events[n].arg})
	}
	return to
}

// glance is the place of a bucket among those remembered.
func (l *timeline) glance(bucket int64) *glance { return &l.glances[uint64(bucket)%recent] }
