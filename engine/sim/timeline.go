package sim

// timeline is the events of some clocks in one order.
type timeline struct {
	now    Time
	kind   Kind // of the event that is running, for error messages
	looks  bool
	trace  bool
	closed bool
	all    *clocks
	wheel  *wheel
	heap   heap   // used when wheel is nil
	seq    uint64 // of the heap

	// By kind, and by clock.
	handlers []Handler
	ahead    [rounds][]Handler // see Sim.Ahead
	clocks   []*Sim

	glances [recent]glance
}

// serve has the timeline run the events of one more clock.
func (l *timeline) serve(s *Sim) {
	room := make([]Handler, 1<<kindBits)
	l.handlers = append(l.handlers, room...)
	for i := range l.ahead {
		l.ahead[i] = append(l.ahead[i], room...)
	}
	l.clocks = append(l.clocks, s)
}

func newTimeline(o Options) *timeline {
	l := &timeline{trace: o.Trace}
	if o.Queue == Wheel {
		l.wheel = newWheel()
	}
	return l
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

// run runs every event before until.
func (l *timeline) run(until Time) {
	if l.wheel != nil {
		l.runWheel(until)
	} else {
		l.runHeap(until)
	}
}

func (l *timeline) runWheel(until Time) {
	w, all := l.wheel, l.all
	for all.err == nil {
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
	if all.err == nil && until != Forever {
		w.skipTo(until)
	}
}

func (l *timeline) runHeap(until Time) {
	for l.all.err == nil && len(l.heap) > 0 && l.heap[0].t < until {
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
func (l *timeline) lookAhead() {
	w := l.wheel
	first := l.glance(w.cur + seen)
	first.bucket, first.events = w.cur+seen, first.events[:0]
	for n := w.head[uint(first.bucket)&bucketMask]; n != 0; n = w.after[n] {
		first.events = append(first.events, glimpse{w.events[n].kind, w.events[n].arg})
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

// glance is the place of a bucket among those remembered.
func (l *timeline) glance(bucket int64) *glance { return &l.glances[uint64(bucket)%recent] }
