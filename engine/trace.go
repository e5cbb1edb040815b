package engine

import (
	"fmt"
	"sort"

	"drtmx/engine/fabric"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/engine/txn"
)

const (
	// maxTraced bounds the transactions of one trace: what a person looks at.
	maxTraced = 10_000
	// traceLimit is how long Trace runs on for transactions that do not come or do not end.
	traceLimit = 100 * sim.Millisecond
	// traceStep is how far it advances between two looks.
	traceStep = 5 * sim.Microsecond
	// afterwards is how long passive requests may take to be confirmed once all transactions have
	// ended; those that take longer are left out.
	afterwards = 20 * sim.Microsecond
)

// TxnTrace is one transaction as it went, all attempts included. Times are nanoseconds of virtual
// time.
type TxnTrace struct {
	Type      string       `json:"type"`
	Machine   int          `json:"machine"`
	Thread    int          `json:"thread"`
	Coroutine int          `json:"coroutine"` // unique in the cluster
	Outcome   string       `json:"outcome"`   // "committed" or "rolled back"
	Attempts  int          `json:"attempts"`
	BeginNS   float64      `json:"begin_ns"`
	EndNS     float64      `json:"end_ns"` // what latency counts to
	Phases    []PhaseTrace `json:"phases"`
	Verbs     []VerbTrace  `json:"verbs"`
}

// PhaseTrace is a phase from its begin to that of the next.
type PhaseTrace struct {
	Phase   string  `json:"phase"`
	BeginNS float64 `json:"begin_ns"`
	EndNS   float64 `json:"end_ns"`
}

// VerbTrace is a request from its post until the coroutine was told of its completion.
type VerbTrace struct {
	Verb       string           `json:"verb"` // READ, WRITE, CAS, FAA, or rpc
	Phase      string           `json:"phase"`
	From       int              `json:"from"`
	To         int              `json:"to"`
	Bytes      int              `json:"bytes"`
	Passive    bool             `json:"passive,omitempty"` // nobody waited for it
	BeginNS    float64          `json:"begin_ns"`
	EndNS      float64          `json:"end_ns"`
	Milestones []MilestoneTrace `json:"milestones,omitempty"` // absent if confirmed by another's completion
}

// MilestoneTrace is how long a request was at one point of its way; they follow each other.
type MilestoneTrace struct {
	Milestone string  `json:"milestone"`
	NS        float64 `json:"ns"`
}

// Trace advances until n transactions that begin from now on have ended, and returns them in the
// order in which they began. Watching changes nothing in the run.
func (s *System) Trace(n int) ([]TxnTrace, error) {
	switch {
	case n < 1 || n > maxTraced:
		return nil, &SpecError{Field: "txns", Value: fmt.Sprint(n), Rule: fmt.Sprintf("must be from 1 to %d", maxTraced)}
	case s.load.db == nil:
		return nil, &SpecError{Field: "trace", Rule: "workload " + s.values.text("workload") + " runs no transactions", Next: "use smallbank or cycle"}
	}
	t := &tracer{want: n}
	s.tracer = t
	s.cl.Observe(t)
	defer func() {
		s.cl.Observe(nil)
		s.tracer = nil
	}()
	for until := s.sim.Now() + traceLimit; t.ended < n; {
		if s.sim.Now() >= until {
			return nil, fmt.Errorf("trace: %d of %d transactions ended within %d ms of virtual time", t.ended, n, traceLimit/sim.Millisecond)
		}
		if err := s.Advance(traceStep / sim.Nanosecond); err != nil {
			return nil, err
		}
	}
	if err := s.Advance(afterwards / sim.Nanosecond); err != nil {
		return nil, err
	}
	return t.result(s.load.bench.Types()), nil
}

// tracer follows the first transactions to begin.
type tracer struct {
	want    int
	ended   int
	all     []*traced // in the order of their begin
	current []*traced // by coroutine, nil: not followed
	before  []*traced // by coroutine: the last one that ended
}

type traced struct {
	co      uint32
	out     txn.Outcome
	machine int
	thread  int
	ended   bool
	next    r2.Time // when its coroutine's next transaction began; 0: not yet
	phases  []phaseAt
	verbs   []r2.VerbEvent
}

type phaseAt struct {
	at r2.Time
	p  metrics.Phase
}

func (t *tracer) grow(co uint32) {
	for int(co) >= len(t.current) {
		t.current, t.before = append(t.current, nil), append(t.before, nil)
	}
}

// Phase implements r2.Observer. A transaction begins with PhaseOther.
func (t *tracer) Phase(co uint32, at r2.Time, p metrics.Phase) {
	t.grow(co)
	x := t.current[co]
	if b := t.before[co]; x == nil && b != nil && b.next == 0 && p == metrics.PhaseOther {
		b.next = at
	}
	if x == nil {
		if p != metrics.PhaseOther || len(t.all) == t.want {
			return
		}
		x = &traced{co: co}
		t.current[co] = x
		t.all = append(t.all, x)
	}
	x.phases = append(x.phases, phaseAt{at, p})
}

// Verb implements r2.Observer.
func (t *tracer) Verb(v *r2.VerbEvent) {
	t.grow(v.Co)
	if x := t.current[v.Co]; x != nil && v.Post >= x.phases[0].at {
		x.verbs = append(x.verbs, *v)
	} else if x := t.before[v.Co]; x != nil && v.Post >= x.phases[0].at && (x.next == 0 || v.Post < x.next) {
		x.verbs = append(x.verbs, *v)
	}
}

// done takes a transaction's outcome.
func (t *tracer) done(machine, thread int, o *txn.Outcome) {
	t.grow(o.Co)
	x := t.current[o.Co]
	if x == nil {
		return
	}
	t.current[o.Co], t.before[o.Co] = nil, x
	x.out, x.machine, x.thread, x.ended = *o, machine, thread, true
	t.ended++
}

// result turns what was seen into what is shown.
func (t *tracer) result(types []string) []TxnTrace {
	var out []TxnTrace
	for _, x := range t.all {
		if !x.ended {
			continue
		}
		o := &x.out
		tr := TxnTrace{
			Type: types[o.Type], Machine: x.machine, Thread: x.thread, Coroutine: int(x.co), Outcome: "committed",
			Attempts: o.Attempts, BeginNS: nanoseconds(o.Begin), EndNS: nanoseconds(o.End),
		}
		if o.RolledBack {
			tr.Outcome = "rolled back"
		}
		last := max(o.End, x.phases[len(x.phases)-1].at)
		for i, p := range x.phases {
			end := last
			if i+1 < len(x.phases) {
				end = x.phases[i+1].at
			}
			if end > p.at {
				tr.Phases = append(tr.Phases, PhaseTrace{p.p.String(), nanoseconds(p.at), nanoseconds(end)})
			}
		}
		sort.SliceStable(x.verbs, func(i, j int) bool { return x.verbs[i].Post < x.verbs[j].Post })
		for i := range x.verbs {
			tr.Verbs = append(tr.Verbs, verbTrace(&x.verbs[i]))
		}
		out = append(out, tr)
	}
	// Cores run ahead of each other by a little: what was seen first need not have begun first.
	sort.SliceStable(out, func(i, j int) bool { return out[i].BeginNS < out[j].BeginNS })
	return out
}

func verbTrace(v *r2.VerbEvent) VerbTrace {
	name := v.Op.String()
	if v.Op == fabric.Send {
		name = "rpc"
	}
	t := VerbTrace{Verb: name, Phase: v.Phase.String(), From: v.From, To: v.To, Bytes: v.Bytes, Passive: v.Passive,
		BeginNS: nanoseconds(v.Post), EndNS: nanoseconds(v.Done)}
	for m, ps := range v.Stamp {
		if ps > 0 {
			t.Milestones = append(t.Milestones, MilestoneTrace{metrics.Milestone(m).String(), nanoseconds(int64(ps))})
		}
	}
	return t
}

// nanoseconds is for the reader; no run sees it.
func nanoseconds(ps int64) float64 { return float64(ps) / 1000 }
