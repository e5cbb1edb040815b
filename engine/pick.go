package engine

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/engine/txn"
)

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
		return &SpecError{Field: "percentile", Value: fmt.Sprintf("%g", 100*c.Quantile), Rule: "must be from 1 to 99.9", Next: "such as 99"}
	}
	if c.Type != "" && !slices.Contains(types, c.Type) {
		return &SpecError{Field: "type", Value: c.Type, Rule: "no such transaction type in this workload", Next: "there is " + strings.Join(types, ", ")}
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

// takes is told of every transaction that ends; x is nil if it was not followed. It says whether to
// keep this one.
func (p *Pick) takes(t *tracer, x *traced, o *txn.Outcome, queued r2.Time) bool {
	latency := o.End - o.Begin + queued
	if !o.Committed || p.typ >= 0 && int(o.Type) != p.typ {
		t.drop(x)
		return false
	}
	if p.target == 0 {
		p.sample = append(p.sample, latency)
		p.settle()
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

// settle takes the quantile of the sample once it is complete.
func (p *Pick) settle() {
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
		return nil, fmt.Errorf("trace: %d of %d %s that the %gth percentile needs committed within %d us of virtual time; choose a percentile nearer to 50, or a type that runs more often",
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
