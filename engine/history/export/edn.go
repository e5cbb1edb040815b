package export

import (
	"cmp"
	"container/heap"
	"fmt"
	"strconv"

	"drtmx/engine/history"
)

// events are those of EDN that wait for their turn: an attempt is written when it ends, its
// beginning belongs before that of many others.
type events struct {
	queue    queue
	sessions []session
	newest   int64 // latest time seen
	last     int64 // time of the last event that was written
	order    uint64
	index    uint64
	flushAt  int // events at which it is worth looking what may be written
}

// session is a coroutine.
type session struct {
	known  bool
	active bool
	early  bool  // its beginning was written without a value
	begin  int64 // of the active attempt
	end    int64 // of the last one
}

// event is a line without its index.
type event struct {
	at    int64
	class uint8 // order within a moment
	order uint64
	text  string
}

const (
	begins = iota
	ends
	beginsAgain // at the moment at which the process has ended its attempt before
	isLeft      // under way at the end of the history
)

// worthFlushing is how many events come between two looks at what may be written.
const worthFlushing = 512

type queue []event

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	a, b := &q[i], &q[j]
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.class, b.class), cmp.Compare(a.order, b.order)) < 0
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(event)) }
func (q *queue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}

func (w *Writer) session(id uint32) *session {
	e := &w.events
	for int(id) >= len(e.sessions) {
		e.sessions = append(e.sessions, session{})
	}
	return &e.sessions[id]
}

func (w *Writer) begin(id uint32, at int64) {
	s, e := w.session(id), &w.events
	s.active, s.early, s.begin = true, false, at
	e.newest = max(e.newest, at)
	if at < e.last {
		w.fail(fmt.Errorf("an attempt began at %d ps, and events up to %d ps were written: clocks are more than %d ps apart", at, e.last, w.opt.Skew))
	}
}

func (w *Writer) add(a *Attempt) {
	s, e := w.session(a.Session), &w.events
	e.newest = max(e.newest, a.End)
	if !s.early {
		w.push(w.beginning(s, a.Begin), a.Begin, "invoke", a.Session, w.value(a, true))
	}
	kind := "fail"
	if a.Status == history.Committed {
		kind = "ok"
	}
	w.push(ends, a.End, kind, a.Session, w.value(a, a.Status != history.Committed))
	*s = session{known: true, end: a.End}
	if len(e.queue) >= e.flushAt {
		w.flush(w.horizon())
		if len(e.queue) > w.opt.Held {
			w.flushBegun()
		}
		e.flushAt = len(e.queue) + worthFlushing
	}
}

// beginning is the class of the event that begins an attempt of a session.
func (w *Writer) beginning(s *session, at int64) uint8 {
	if s.known && at == s.end {
		return beginsAgain
	}
	return begins
}

func (w *Writer) push(class uint8, at int64, kind string, session uint32, value string) {
	w.events.order++
	text := fmt.Sprintf(":type :%s, :process %d, :f :txn, :value %s, :time %d}\n", kind, session, value, at/1000)
	heap.Push(&w.events.queue, event{at, class, w.events.order, text})
}

// horizon is the time before which nothing can begin any more, and nothing is under way whose
// beginning is not written yet.
func (w *Writer) horizon() int64 {
	h := w.events.newest - w.opt.Skew
	for i := range w.events.sessions {
		if s := &w.events.sessions[i]; s.active && !s.early {
			h = min(h, s.begin)
		}
	}
	return h
}

// flushBegun writes the beginnings of attempts that hold the others back, without a value.
func (w *Writer) flushBegun() {
	h := w.events.newest - w.opt.Skew
	for i := range w.events.sessions {
		if s := &w.events.sessions[i]; s.active && !s.early && s.begin < h {
			s.early = true
			w.push(w.beginning(s, s.begin), s.begin, "invoke", uint32(i), "nil")
		}
	}
	w.flush(h)
}

// flush writes the events before a time.
func (w *Writer) flush(before int64) {
	e := &w.events
	for len(e.queue) > 0 && e.queue[0].at < before && w.err == nil {
		x := heap.Pop(&e.queue).(event)
		e.last = x.at
		_, err := fmt.Fprintf(w.out, "{:index %d, %s", e.index, x.text)
		w.fail(err)
		e.index++
	}
}

// finish writes the rest: attempts that are under way end with an unknown outcome.
func (w *Writer) finish() {
	e := &w.events
	for i := range e.sessions {
		s := &e.sessions[i]
		if !s.active {
			continue
		}
		if !s.early {
			w.push(w.beginning(s, s.begin), s.begin, "invoke", uint32(i), "nil")
		}
		w.push(isLeft, e.newest, "info", uint32(i), "nil")
	}
	w.flush(e.newest + 1)
}

// value is the list of reads and writes; asked leaves out what the reads saw, as who asks for a
// transaction does not know it.
func (w *Writer) value(a *Attempt, asked bool) string {
	b := make([]byte, 0, 64)
	b = append(b, '[')
	item := func(op, table string, key uint64) {
		if len(b) > 1 {
			b = append(b, ' ')
		}
		b = append(b, "[:"...)
		b = append(b, op...)
		b = append(b, ' ')
		b = strconv.AppendQuote(b, table+"/"+strconv.FormatUint(key, 10))
		b = append(b, ' ')
	}
	for _, r := range a.Reads {
		item("r", r.Table, r.Key)
		if asked || r.Version == 0 || r.Version == w.opt.Initial {
			b = append(b, "nil]"...)
			continue
		}
		b = append(strconv.AppendUint(b, r.Version, 10), ']')
	}
	for _, x := range a.Writes {
		item("w", x.Table, x.Key)
		if a.Status != history.Committed {
			b = append(b, '-')
			x.Version = a.ID
		}
		b = append(strconv.AppendUint(b, x.Version, 10), ']')
	}
	return string(append(b, ']'))
}
