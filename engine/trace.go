package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"drtmx/engine/experiment"
	"drtmx/engine/fabric"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/engine/txn"
)

const (
	// maxTraced bounds the transactions of one trace: what a person looks at.
	maxTraced = 10_000
	// maxSteps bounds the phases of one of them, and its verbs: one that aborts again and again.
	maxSteps = 2_000
	// maxKept bounds what all of them together did: a file of some 200 MB.
	maxKept = 200_000
	// traceLimit is how long Trace runs on for transactions that do not come or do not end.
	traceLimit = 100 * sim.Millisecond
	// traceStep is how far it advances between two looks.
	traceStep = 5 * sim.Microsecond
	// afterwards is how long passive requests may take to be confirmed once all transactions have
	// ended; those that take longer are left out.
	afterwards = 20 * sim.Microsecond
)

// TxnTrace is one transaction as it went, all attempts included; of a workload without
// transactions, one request. Times are nanoseconds of virtual time.
type TxnTrace struct {
	Type      string       `json:"type"`
	Machine   int          `json:"machine"`
	Thread    int          `json:"thread"`
	Coroutine int          `json:"coroutine"` // unique in the cluster
	Outcome   string       `json:"outcome"`   // "committed", "rolled back" or "failed"
	Attempts  int          `json:"attempts"`
	BeginNS   float64      `json:"begin_ns"`
	EndNS     float64      `json:"end_ns"`              // what latency counts to
	QueuedNS  float64      `json:"queued_ns,omitempty"` // before BeginNS, since it arrived at a client that was busy
	AbortsNS  []float64    `json:"aborts_ns,omitempty"` // when an attempt had been given up
	Phases    []PhaseTrace `json:"phases"`
	Verbs     []VerbTrace  `json:"verbs"`
	Waits     []WaitTrace  `json:"waits,omitempty"` // where its latency went
	Cut       bool         `json:"cut,omitempty"`   // there were more phases or verbs than a trace keeps
}

// PhaseTrace is a phase from its begin to that of the next.
type PhaseTrace struct {
	Phase   string  `json:"phase"`
	BeginNS float64 `json:"begin_ns"`
	EndNS   float64 `json:"end_ns"`
}

// WaitTrace is the part of a transaction's latency that it spent in a phase at a milestone, in all
// attempts together.
type WaitTrace struct {
	Phase     string  `json:"phase"`
	Milestone string  `json:"milestone"`
	NS        float64 `json:"ns"`
}

// VerbTrace is a request from its post until the coroutine was told of its completion.
type VerbTrace struct {
	Verb       string           `json:"verb"` // READ, WRITE, CAS, FAA, or rpc
	Phase      string           `json:"phase"`
	From       int              `json:"from"` // machine
	To         int              `json:"to"`
	FromNIC    int              `json:"from_nic"`
	ToNIC      int              `json:"to_nic"`
	Bytes      int              `json:"bytes"`
	Passive    bool             `json:"passive,omitempty"` // it was not waited for
	BeginNS    float64          `json:"begin_ns"`
	EndNS      float64          `json:"end_ns"`
	Milestones []MilestoneTrace `json:"milestones,omitempty"` // absent if confirmed by another's completion
	Handler    *HandlerTrace    `json:"handler,omitempty"`    // of an rpc
}

// MilestoneTrace is how long a request was at one point of its way, there and back together.
// All of a request add up to its time.
type MilestoneTrace struct {
	Milestone string  `json:"milestone"`
	NS        float64 `json:"ns"`
}

// HandlerTrace is what the other machine's thread did for an rpc.
type HandlerTrace struct {
	Thread  int     `json:"thread"`
	Reply   int     `json:"reply"` // bytes of its answer
	BeginNS float64 `json:"begin_ns"`
	EndNS   float64 `json:"end_ns"`
}

// Trace advances until n transactions (or requests) that begin from now on have ended, and returns
// them in the order in which they began. Watching changes nothing in the run.
func (s *System) Trace(n int) ([]TxnTrace, error) { return s.TraceWith(context.Background(), n, nil) }

// TraceWith is Trace that ends with ctx and tells its progress, unless nil.
func (s *System) TraceWith(ctx context.Context, n int, progress func(done, total int)) ([]TxnTrace, error) {
	if n < 1 || n > maxTraced {
		return nil, &experiment.SpecError{Field: "txns", Value: fmt.Sprint(n), Rule: fmt.Sprintf("must be from 1 to %d", maxTraced), Next: "such as 10"}
	}
	t, err := s.follow(&tracer{want: n})
	if err != nil {
		return nil, err
	}
	defer s.unfollow()
	for until := s.sim.Now() + traceLimit; t.ended < n; {
		if s.sim.Now() >= until {
			return nil, fmt.Errorf("trace: %d of %d transactions ended within %d ms of virtual time", t.ended, n, traceLimit/sim.Millisecond)
		}
		if err := s.Advance(traceStep / sim.Nanosecond); err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if progress != nil {
			progress(t.ended, n)
		}
	}
	if err := s.Advance(afterwards / sim.Nanosecond); err != nil {
		return nil, err
	}
	return t.result(s.load.bench.Types()), nil
}

// follow begins to trace, until unfollow. One tracer at a time may do so.
func (s *System) follow(t *tracer) (*tracer, error) {
	if s.tracer != nil {
		return nil, ErrTraced
	}
	t.opens, t.runs = metrics.PhaseOther, s.cl.OfWorkload
	if s.load.db == nil {
		t.opens = txn.Execution
	}
	s.tracer = t
	s.spread()
	s.cl.Observe(t)
	return t, nil
}

// ErrTraced says that a system is traced already.
var ErrTraced = errors.New("trace: another trace of this system is under way; ask again when it has ended")

func (s *System) unfollow() {
	s.cl.Observe(nil)
	s.tracer = nil
	s.spread()
}

// tracer follows the first transactions to begin, or those among which a pick chooses. All machines tell it what they do, in the order in
// which it happens: a system that is traced, or explored, runs as one queue.
type tracer struct {
	want  int
	pick  *Pick // nil: the first ones
	ended int
	kept  int                  // phases and verbs
	runs  func(co uint32) bool // says whether a coroutine runs transactions or requests
	opens metrics.Phase        // with which a transaction or request begins
	all   []*traced            // in the order of their begin
	byCo  []followed
}

// followed is what a coroutine has to do with a trace.
type followed struct {
	current *traced   // nil: what it runs is not followed
	before  []*traced // in the order of their begin, ended
}

type traced struct {
	co       uint32
	out      txn.Outcome
	queued   r2.Time
	machine  int
	thread   int
	ended    bool
	cut      bool
	next     r2.Time // when its coroutine's next transaction began; 0: not yet
	phases   []phaseAt
	verbs    []r2.VerbEvent
	services []r2.ServiceEvent
}

type phaseAt struct {
	at r2.Time
	p  metrics.Phase
}

func (t *tracer) of(co uint32) *followed {
	for int(co) >= len(t.byCo) {
		t.byCo = append(t.byCo, followed{})
	}
	return &t.byCo[co]
}

// Phase implements r2.Observer.
func (t *tracer) Phase(co uint32, at r2.Time, p metrics.Phase) {
	f := t.of(co)
	x := f.current
	if x == nil && !t.runs(co) {
		return // a handler that waits, or work in the background
	}
	if n := len(f.before); x == nil && n > 0 && f.before[n-1].next == 0 && p == t.opens {
		f.before[n-1].next = at
	}
	if x == nil {
		if p != t.opens || !t.wants() {
			return
		}
		x = &traced{co: co}
		f.current = x
		if t.pick == nil {
			t.all = append(t.all, x)
		}
	}
	if t.keeps(x, len(x.phases)) || len(x.phases) == 0 {
		x.phases = append(x.phases, phaseAt{at, p})
	}
}

// wants says whether to follow one more.
func (t *tracer) wants() bool {
	if t.pick != nil {
		return t.pick.choosing()
	}
	return len(t.all) < t.want
}

// posted is the transaction of a coroutine that posted at a time, nil if it is not followed.
func (f *followed) posted(at r2.Time) *traced {
	if x := f.current; x != nil && at >= x.phases[0].at {
		return x
	}
	for i := len(f.before) - 1; i >= 0; i-- {
		if x := f.before[i]; at >= x.phases[0].at {
			if x.next != 0 && at >= x.next {
				return nil
			}
			return x
		}
	}
	return nil
}

// Verb implements r2.Observer.
func (t *tracer) Verb(v *r2.VerbEvent) {
	if x := t.of(v.Co).posted(v.Post); x != nil && t.keeps(x, len(x.verbs)) {
		x.verbs = append(x.verbs, *v)
	}
}

// keeps says whether there is room for one more of the n steps of a kind that a transaction has.
func (t *tracer) keeps(x *traced, n int) bool {
	if n == maxSteps || t.kept == maxKept {
		x.cut = true
		return false
	}
	t.kept++
	return true
}

// Served implements r2.HandlerObserver. A passive call may be served late: it is kept with all that
// its coroutine may have called for, and found by its number.
func (t *tracer) Served(s *r2.ServiceEvent) {
	f := t.of(s.Co)
	x := f.current
	if x == nil && len(f.before) > 0 {
		x = f.before[len(f.before)-1]
	}
	if x != nil && len(x.services) < maxSteps {
		x.services = append(x.services, *s)
	}
}

// done takes a transaction's outcome, and how long it had waited for its client before it began.
func (t *tracer) done(machine, thread int, o *txn.Outcome, queued r2.Time) {
	f := t.of(o.Co)
	x := f.current
	f.current = nil
	if t.pick != nil && !t.pick.offer(t, x, o, queued) || x == nil {
		return
	}
	f.before = append(f.before, x)
	x.out, x.queued, x.machine, x.thread, x.ended = o.Clone(), queued, machine, thread, true
	t.ended++
}

// drop forgets a transaction that is not to be shown.
func (t *tracer) drop(x *traced) {
	if x == nil {
		return
	}
	t.kept -= len(x.phases) + len(x.verbs)
	f := t.of(x.co)
	f.before = slices.DeleteFunc(f.before, func(o *traced) bool { return o == x })
}

// result turns what was seen into what is shown.
func (t *tracer) result(types []string) []TxnTrace {
	served := map[r2.CallID]*r2.ServiceEvent{}
	for _, x := range t.all {
		for i := range x.services {
			served[x.services[i].Call] = &x.services[i]
		}
	}
	var out []TxnTrace
	for _, x := range t.all {
		if x.ended {
			out = append(out, x.show(types, served))
		}
	}
	// Cores run ahead of each other by a little: what was seen first need not have begun first.
	sort.SliceStable(out, func(i, j int) bool { return out[i].BeginNS < out[j].BeginNS })
	return out
}

func (x *traced) show(types []string, served map[r2.CallID]*r2.ServiceEvent) TxnTrace {
	o := &x.out
	tr := TxnTrace{
		Type: types[o.Type], Machine: x.machine, Thread: x.thread, Coroutine: int(x.co), Outcome: "committed",
		Attempts: o.Attempts, BeginNS: nanoseconds(o.Begin), EndNS: nanoseconds(o.End), QueuedNS: nanoseconds(x.queued), Waits: waits(o), Cut: x.cut,
	}
	switch {
	case o.RolledBack:
		tr.Outcome = "rolled back"
	case o.Failed:
		tr.Outcome = "failed"
	}
	last := max(o.End, x.phases[len(x.phases)-1].at)
	for i, p := range x.phases {
		end := last
		if i+1 < len(x.phases) {
			end = x.phases[i+1].at
		}
		if p.p == metrics.Backoff {
			tr.AbortsNS = append(tr.AbortsNS, nanoseconds(p.at))
		}
		if end > p.at {
			tr.Phases = append(tr.Phases, PhaseTrace{p.p.String(), nanoseconds(p.at), nanoseconds(end)})
		}
	}
	sort.SliceStable(x.verbs, func(i, j int) bool { return x.verbs[i].Post < x.verbs[j].Post })
	for i := range x.verbs {
		v := verbTrace(&x.verbs[i])
		if s := served[x.verbs[i].Call]; s != nil {
			v.Handler = &HandlerTrace{s.Thread, s.Reply, nanoseconds(s.Begin), nanoseconds(s.End)}
		}
		tr.Verbs = append(tr.Verbs, v)
	}
	return tr
}

// waits lists where the latency of a transaction went.
func waits(o *txn.Outcome) (out []WaitTrace) {
	for _, p := range metrics.Phases() {
		if o.Phases != 0 && !o.Phases.Has(p) {
			continue
		}
		for m, ps := range metrics.At(o.Breakdown, p) {
			if ps > 0 {
				out = append(out, WaitTrace{p.String(), metrics.Milestone(m).String(), nanoseconds(ps)})
			}
		}
	}
	return out
}

func verbTrace(v *r2.VerbEvent) VerbTrace {
	name := v.Op.String()
	if v.Op == fabric.Send {
		name = "rpc"
	}
	t := VerbTrace{Verb: name, Phase: v.Phase.String(), From: v.From, To: v.To, FromNIC: v.FromNIC, ToNIC: v.ToNIC, Bytes: v.Bytes,
		Passive: v.Passive, BeginNS: nanoseconds(v.Post), EndNS: nanoseconds(v.Done)}
	for m, ps := range v.Stamp {
		if ps > 0 {
			t.Milestones = append(t.Milestones, MilestoneTrace{metrics.Milestone(m).String(), nanoseconds(int64(ps))})
		}
	}
	return t
}

// nanoseconds is for the reader; no run sees it.
func nanoseconds(ps int64) float64 { return float64(ps) / 1000 }

const (
	// pickBehind is how many transactions of a sample lie beyond the percentile, and pickLeast how
	// many do at least, where the type is so rare that sampleLimit is over before.
	pickBehind, pickLeast = 10, 2
	// sampleLeast keeps the sample of a median from being small.
	sampleLeast = 100
	sampleLimit = 50 * sim.Millisecond
	// pickNear is the difference in latency, as a share, at which the search ends.
	pickNear = 0.005
)

// Choice says which transaction to trace: one of a type whose latency is that of a quantile.
type Choice struct {
	Type     string  `json:"type"`     // "": of any type
	Quantile float64 `json:"quantile"` // 0.99 is the 99th percentile
}

// Picked is a traced transaction, and what it was picked from.
type Picked struct {
	Choice
	TargetNS  float64  `json:"target_ns"`  // the quantile of the sample
	LatencyNS float64  `json:"latency_ns"` // of the transaction
	Sample    int      `json:"sample"`     // committed transactions of the type that the quantile is of
	Among     int      `json:"among"`      // those after them of which it was the nearest
	Txn       TxnTrace `json:"txn"`
}

// Pick looks for a transaction while the system runs. It first takes the latencies of a sample of
// committed transactions, and then follows the next ones until one is as fast as the quantile.
// Looking changes nothing in the run.
type Pick struct {
	s      *System
	c      Choice
	typ    int // -1: any
	tr     *tracer
	want   int // size of the sample
	from   sim.Time
	sample []r2.Time
	target r2.Time
	among  int
	best   *traced
	gap    r2.Time // of the best one
	found  sim.Time
}

// CheckChoice says whether a choice can be made among these types.
func CheckChoice(c Choice, types []string) error {
	if !(c.Quantile >= 0.01 && c.Quantile <= 0.999) {
		return &experiment.SpecError{Field: "percentile", Value: fmt.Sprintf("%g", 100*c.Quantile), Rule: "must be from 1 to 99.9", Next: "such as 99"}
	}
	if c.Type != "" && !slices.Contains(types, c.Type) {
		return &experiment.SpecError{Field: "type", Value: c.Type, Rule: "no such transaction type in this workload", Next: "there is " + strings.Join(types, ", ")}
	}
	return nil
}

// Types lists the transaction types of the workload, or the types of its requests.
func (s *System) Types() []string { return slices.Clone(s.load.bench.Types()) }

// Pick begins to look for a transaction; End ends it.
func (s *System) Pick(c Choice) (*Pick, error) {
	types := s.load.bench.Types()
	if err := CheckChoice(c, types); err != nil {
		return nil, err
	}
	rare := min(c.Quantile, 1-c.Quantile)
	p := &Pick{s: s, c: c, typ: slices.Index(types, c.Type), want: max(sampleLeast, int(math.Ceil(pickBehind/rare-1e-9))), from: s.sim.Now()}
	var err error
	if p.tr, err = s.follow(&tracer{pick: p}); err != nil {
		return nil, err
	}
	return p, nil
}

// choosing says that the sample is complete and the transaction is not found yet.
func (p *Pick) choosing() bool { return p.target > 0 && p.found == 0 }

// offer is told of every transaction that ends; x is nil if it was not followed. It says whether to
// keep this one.
func (p *Pick) offer(t *tracer, x *traced, o *txn.Outcome, queued r2.Time) bool {
	latency := o.End - o.Begin + queued
	if !o.Committed || p.typ >= 0 && int(o.Type) != p.typ {
		t.drop(x)
		return false
	}
	if p.target == 0 {
		p.sample = append(p.sample, latency)
		p.freezeTarget()
		return false
	}
	if x == nil || p.found > 0 {
		t.drop(x)
		return false
	}
	p.among++
	gap := max(latency-p.target, p.target-latency)
	nearest := p.best == nil || gap < p.gap
	if nearest {
		t.drop(p.best)
		p.best, p.gap = x, gap
	} else {
		t.drop(x)
	}
	if float64(p.gap) <= pickNear*float64(p.target) || p.among == len(p.sample) {
		p.found = p.s.sim.Now()
	}
	return nearest
}

// freezeTarget fixes the target, the quantile of the sample, once the sample is complete.
func (p *Pick) freezeTarget() {
	n := len(p.sample)
	rare := float64(n) * min(p.c.Quantile, 1-p.c.Quantile)
	if n < p.want && (p.s.sim.Now() < p.from+sampleLimit || rare < pickLeast) {
		return
	}
	slices.Sort(p.sample)
	p.target = p.sample[max(int(math.Ceil(p.c.Quantile*float64(n)-1e-9))-1, 0)]
}

// Done says that there is nothing more to look for: the transaction is found and what it left
// behind is confirmed, or the search has taken too long, or the system has failed.
func (p *Pick) Done() bool {
	now := p.s.sim.Now()
	return p.found > 0 && now >= p.found+afterwards || now >= p.from+traceLimit || p.s.state == StateFailed || p.s.state == StateDrained
}

// Progress is how many transactions have been looked at, and how many will be at most.
func (p *Pick) Progress() (done, total int) {
	if p.found > 0 {
		return 2 * p.want, 2 * p.want
	}
	return min(len(p.sample)+p.among, 2*p.want), 2 * p.want
}

// End stops looking, and returns the nearest transaction there was.
func (p *Pick) End() (*Picked, error) {
	if p.s.tracer == p.tr {
		p.s.unfollow()
	}
	if p.best == nil {
		if p.s.err != nil {
			return nil, p.s.err
		}
		what := p.c.Type
		if what == "" {
			what = "transactions"
		}
		return nil, fmt.Errorf("trace: %d of %d %s that the %gth percentile needs committed within %d µs of virtual time; choose a percentile nearer to 50, or a type that runs more often",
			len(p.sample), p.want, what, 100*p.c.Quantile, (p.s.sim.Now()-p.from)/sim.Microsecond)
	}
	p.tr.all = []*traced{p.best}
	shown := p.tr.result(p.s.load.bench.Types())
	return &Picked{Choice: p.c, TargetNS: nanoseconds(p.target), LatencyNS: shown[0].EndNS - shown[0].BeginNS + shown[0].QueuedNS,
		Sample: len(p.sample), Among: p.among, Txn: shown[0]}, nil
}

// TraceOf advances until a transaction of the choice is found, or ctx ends, and returns it. It tells
// its progress, unless nil.
func (s *System) TraceOf(ctx context.Context, c Choice, progress func(done, total int)) (*Picked, error) {
	p, err := s.Pick(c)
	if err != nil {
		return nil, err
	}
	for !p.Done() {
		err := cmp.Or(ctx.Err(), s.Advance(traceStep/sim.Nanosecond))
		if err != nil {
			s.unfollow()
			return nil, err
		}
		if progress != nil {
			progress(p.Progress())
		}
	}
	return p.End()
}
