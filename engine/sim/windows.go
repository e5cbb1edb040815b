package sim

// Spread says how a simulation uses its host. Nothing of it has an effect on what happens.
type Spread struct {
	// Workers are threads of the host; 0 means 1.
	Workers int
	// Lookahead is what a message between two machines takes at least. 0 has all events in one queue.
	Lookahead Time
	// Always has machines run apart even where they have too little to do for that to pay: for tests.
	Always bool
}

// windows is how machines run apart: each has a timeline, and all run the events of one window after another, which is so short that
// no message of it arrives in it. A window ends where the simulation's own clock has an event, which sees all machines stand still.
//
// The order of events does not depend on it, see event.source: one queue has the same for each machine.
type windows struct {
	spread  Spread
	workers []*worker
	barrier barrier
	since   mark // when the density was last looked at
	dense   bool
}

// mark is how many events there were at a time.
type mark struct {
	at     Time
	events uint64
}

// pays is how many events a machine has in a window for windows to pay: below it one queue costs less than going round the machines.
// Those that run apart go on to do so down to half of it.
const pays = 8

// often is after how many windows that is looked at.
const often = 200

// Spread sets how the simulation uses its host from the next Run on.
func (s *Sim) Spread(o Spread) {
	o.Workers = max(o.Workers, 1)
	s.all.spread = o
}

// plan chooses how the next run goes, by what the last ones had to do.
func (all *clocks) plan() {
	o, machines := &all.spread, len(all.list)-1
	now, events := all.line.now, all.list[0].Events()
	if d := now - all.since.at; o.Lookahead > 0 && d >= often*o.Lookahead {
		each := (events - all.since.events) / uint64(max(machines, 1)) / uint64(d/o.Lookahead)
		all.dense = each >= pays || all.dense && each >= pays/2
		all.since = mark{now, events}
	}
	apart := o.Lookahead > 0 && machines > 1 && (all.dense || o.Always)
	switch {
	case !apart && all.lines != nil:
		all.join()
	case apart && (all.lines == nil || len(all.lines) != machines):
		all.join()
		all.part()
	}
	if apart && len(all.workers) != min(o.Workers, machines) {
		all.assign(min(o.Workers, machines))
	}
}

// part gives each machine its timeline.
func (all *clocks) part() {
	pending := all.line.empty()
	all.line.restart(all.options, bucketShift)
	for _, c := range all.list[1:] {
		l := newTimeline(all.options, machineShift)
		l.share(all)
		l.now, l.looks = all.line.now, all.line.looks
		c.line = l
		l.restart(all.options, machineShift)
		all.lines = append(all.lines, l)
	}
	for _, e := range pending {
		all.list[e.kind.clock()].line.push(e)
	}
}

// join has all events in one queue again.
func (all *clocks) join() {
	if all.lines == nil {
		return
	}
	pending := all.line.empty()
	for _, l := range all.lines {
		pending = append(pending, l.empty()...)
	}
	all.line.restart(all.options, bucketShift)
	for _, c := range all.list[1:] {
		all.line.looks = all.line.looks || c.line.looks
		c.line = all.line
	}
	all.lines, all.workers = nil, nil
	for _, e := range pending {
		all.line.push(e)
	}
}

// empty takes all events out, in their order.
func (l *timeline) empty() (all []event) {
	for {
		e, ok := l.pop()
		if !ok {
			return all
		}
		all = append(all, e)
	}
}

// restart begins with an empty queue at the present.
func (l *timeline) restart(o Options, shift uint) {
	if o.Queue == Wheel {
		l.wheel = newWheel(shift)
		l.wheel.cur = l.now >> shift
	}
}

// standAt sets all clocks to a time up to which all events have run.
func (all *clocks) standAt(t Time) {
	for _, l := range all.lines {
		l.stand(t)
	}
	all.line.stand(t)
}

func (l *timeline) stand(t Time) {
	if l.now = t; l.wheel != nil && l.wheel.pos == len(l.wheel.open) {
		l.wheel.skipTo(t)
	}
}

// run runs all windows before until.
func (all *clocks) run(until Time) {
	for all.list[0].Err() == nil {
		own, some := all.line.peek()
		stop := until
		if some {
			stop = min(stop, own)
		}
		all.runWorkers(stop)
		if own, some = all.line.peek(); !some || own >= until || all.list[0].Err() != nil {
			if next := all.next(); next >= until {
				return
			}
			continue
		}
		if all.next() >= own {
			all.standAt(own)
			all.line.guarded(own + 1)
		}
	}
}

// next is when the machines' first event is, or a little earlier.
func (all *clocks) next() Time {
	t := Forever
	for _, l := range all.lines {
		t = min(t, l.soon())
	}
	return t
}

// soon is when the first event is, or a little earlier: not before its bucket begins.
func (l *timeline) soon() Time {
	w := l.wheel
	if w == nil || w.pos < len(w.open) {
		if t, ok := l.peek(); ok {
			return t
		}
		return Forever
	}
	if i, ok := w.firstFull(); ok {
		return i << w.shift
	}
	if len(w.far) > 0 {
		return w.far[0].t
	}
	return Forever
}
