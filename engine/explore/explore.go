package explore

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"

	"drtmx/engine/experiment"
	"drtmx/engine/fabric/exploration"
)

// Options of an exploration. The zero value tries one and two delays of one or two units.
type Options struct {
	// Bound is how many messages of a run are delayed at most; 0: 2. Each more multiplies the runs by about a hundred.
	Bound int
	// Steps is how many units a message is delayed at most; 0: 2.
	Steps int
	// All extends every list of delays, also those whose run had an order that was seen before.
	All bool
	// Budget ends the exploration after so many runs; 0: none.
	Budget int
	// Most is how many counterexamples are collected before it ends; 0: one.
	Most int
	// Resume is the cursor of an exploration of the same spec with the same Bound, Steps and All: it goes on there.
	Resume string
	// Parallel is how many systems run at a time; 0: one per core. What comes out does not depend on it.
	Parallel int
	// Progress is called after every run with how many of the lists with so many delays are done; nil: no progress.
	Progress func(delays, done, total int)
}

// Limits of the options.
const (
	DefaultBound = 2
	DefaultSteps = 2
	MostBound    = 8
	MostSteps    = 100
)

// Report is what an exploration has come to.
type Report struct {
	Spec     experiment.Knobs `json:"spec"`
	Bound    int              `json:"bound"`
	Steps    int              `json:"steps"`
	UnitNS   int              `json:"unit_ns"`
	Messages int              `json:"messages"`           // of the run without delays
	Runs     int              `json:"runs"`               // judged by now, those before the cursor that it began with included
	ByDelays []int            `json:"by_delays"`          // of them, by the number of delays
	Replayed int              `json:"replayed,omitempty"` // run again to get back to the cursor
	Pruned   int              `json:"pruned"`             // lists that were not extended, for their order had been seen
	Orders   int              `json:"orders"`             // different ones seen since the begin, or since the cursor
	Complete bool             `json:"complete"`           // every list within the bound was tried
	Cursor   string           `json:"cursor,omitempty"`   // where to go on, unless complete
	Found    []Counterexample `json:"found"`              // never null
}

// Counterexample is a run that its own checks refuse.
type Counterexample struct {
	Delays string          `json:"delays"` // the knob explore.delays
	Kind   string          `json:"kind"`   // of the anomaly, or the name of the invariant
	Text   string          `json:"text"`
	More   []string        `json:"more,omitempty"` // whatever else the checks have found
	Spec   experiment.Spec `json:"spec"`           // opens the run
}

// path is a list of delays whose run is known.
type path struct {
	delays   []exploration.Delay
	messages int
}

// first is the first message that may be delayed behind those that are.
func (p path) first() int {
	if n := len(p.delays); n > 0 {
		return p.delays[n-1].Message + 1
	}
	return 0
}

// explorer is an exploration under way.
type explorer struct {
	ctx    context.Context
	opt    Options
	sys    system
	orders map[uint64]bool
	report Report
	begin  cursor // to skip to
	at     cursor
	lists  int // of this level
	judged int // since begin
}

// Run explores. When the context ends, what there is comes back beside its error, with a cursor.
func Run(ctx context.Context, spec experiment.Spec, o Options) (*Report, error) {
	e, err := newExplorer(ctx, spec, o)
	if err != nil {
		return nil, err
	}
	err = e.explore()
	if err == nil || ctx.Err() != nil {
		return &e.report, err
	}
	return nil, err
}

func newExplorer(ctx context.Context, spec experiment.Spec, o Options) (*explorer, error) {
	if o.Bound == 0 {
		o.Bound = DefaultBound
	}
	if o.Steps == 0 {
		o.Steps = DefaultSteps
	}
	if o.Most == 0 {
		o.Most = 1
	}
	if o.Parallel == 0 {
		o.Parallel = runtime.GOMAXPROCS(0)
	}
	for _, x := range []struct {
		field          string
		n, least, most int
	}{{"bound", o.Bound, 1, MostBound}, {"steps", o.Steps, 1, MostSteps}, {"budget", o.Budget, 0, 1 << 30}, {"most", o.Most, 1, 1 << 20}, {"parallel", o.Parallel, 1, 1 << 10}} {
		if x.n < x.least || x.n > x.most {
			return nil, &experiment.SpecError{Field: x.field, Value: fmt.Sprint(x.n), Rule: fmt.Sprintf("must be from %d to %d", x.least, x.most)}
		}
	}
	e := &explorer{ctx: ctx, opt: o, orders: map[uint64]bool{}}
	var err error
	if e.sys, err = newSystem(spec); err != nil {
		return nil, err
	}
	e.report = Report{
		Spec: e.sys.values, Bound: o.Bound, Steps: o.Steps, UnitNS: e.sys.values.Int("explore.unit_ns"), ByDelays: make([]int, o.Bound+1), Found: []Counterexample{},
	}
	e.at.mark = e.mark()
	if o.Resume != "" {
		e.begin, err = parseCursor(o.Resume, e.at.mark)
	}
	return e, err
}

// enough ends an exploration that has what it was asked for.
type enough struct{}

func (enough) Error() string { return "enough" }

// explore goes through the levels: lists of no delay, of one, of two.
func (e *explorer) explore() error {
	level := []path{{}}
	for e.at.level = 0; ; e.at.level++ {
		e.at.index = 0
		next, err := e.level(level)
		if _, ok := err.(enough); ok {
			e.report.Cursor = e.at.String()
			return nil
		}
		if err != nil {
			e.report.Cursor = e.at.String()
			return err
		}
		if e.at.level == e.opt.Bound || len(next) == 0 {
			e.report.Complete = true
			return nil
		}
		level = next
	}
}

// level runs the lists of one level, those that extend the ones of the level before, and returns the ones to extend.
func (e *explorer) level(from []path) (next []path, err error) {
	e.lists = 0
	for range e.extensions(from) {
		e.lists++
	}
	index, leaf := 0, e.at.level == e.opt.Bound
	batch := make([]job, 0, e.opt.Parallel)
	for p := range e.extensions(from) {
		at := cursor{level: e.at.level, index: index}
		index++
		batch = append(batch, job{path: p, skip: leaf && at.before(e.begin)})
		if len(batch) < e.opt.Parallel && index < e.lists {
			continue
		}
		e.run(batch)
		for i := range batch {
			fresh, err := e.finish(&batch[i])
			if err != nil {
				return nil, err
			}
			if fresh {
				next = append(next, batch[i].path)
			}
		}
		batch = batch[:0]
	}
	return next, nil
}

// extensions are the lists of this level, in the order in which they are tried.
func (e *explorer) extensions(from []path) iter.Seq[path] {
	return func(yield func(path) bool) {
		if e.at.level == 0 {
			yield(path{})
			return
		}
		for _, p := range from {
			for m := p.first(); m < p.messages; m++ {
				for u := 1; u <= e.opt.Steps; u++ {
					if !yield(path{delays: append(slices.Clip(p.delays), exploration.Delay{Message: m, Units: u})}) {
						return
					}
				}
			}
		}
	}
}

// job is a list that is tried.
type job struct {
	path
	skip bool // it was done before the cursor, and nothing extends it
	outcome
	err error
}

// run runs lists side by side: each is a system of its own.
func (e *explorer) run(batch []job) {
	var all sync.WaitGroup
	for i := range batch {
		j := &batch[i]
		if j.skip {
			continue
		}
		all.Go(func() {
			if j.err = e.ctx.Err(); j.err == nil {
				j.outcome, j.err = e.sys.run(e.ctx, j.delays)
			}
		})
	}
	all.Wait()
}

// finish takes in what became of a list, in order, and says whether it is to be extended.
func (e *explorer) finish(j *job) (extend bool, err error) {
	before := e.at.before(e.begin)
	switch {
	case j.err != nil:
		return false, j.err
	case j.skip:
		e.count(j.path)
		return false, nil
	case !before && e.opt.Budget > 0 && e.judged == e.opt.Budget:
		return false, enough{}
	}
	if e.at.level == 0 {
		e.report.Messages = j.outcome.messages
	}
	j.path.messages = j.outcome.messages
	fresh := !e.orders[j.order]
	e.orders[j.order] = true
	e.report.Orders = len(e.orders)
	extend = e.at.level < e.opt.Bound && (fresh || e.opt.All)
	if !extend && e.at.level < e.opt.Bound {
		e.report.Pruned++
	}
	e.count(j.path)
	if before {
		e.report.Replayed++
		return extend, nil
	}
	e.judged++
	if j.kind == "" {
		return extend, nil
	}
	x, err := e.shrink(j.delays, j.outcome)
	e.report.Found = append(e.report.Found, x) // also if it could not be made shorter: the cursor is behind it
	if err == nil && len(e.report.Found) == e.opt.Most {
		err = enough{}
	}
	return extend, err
}

// count counts a list that is done.
func (e *explorer) count(p path) {
	e.at.index++
	e.report.Runs++
	e.report.ByDelays[len(p.delays)]++
	if e.opt.Progress != nil {
		e.opt.Progress(e.at.level, e.at.index, e.lists)
	}
}
