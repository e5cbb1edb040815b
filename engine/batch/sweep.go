package batch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"drtmx/engine"
	"drtmx/engine/code"
	"drtmx/engine/experiment"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/knob"
	"drtmx/engine/metrics"
	"drtmx/engine/result"
	"drtmx/engine/testbed"
)

// SweepPoint is one combination of axis values.
type SweepPoint struct {
	Set     experiment.Knobs `json:"set"` // the axis values of this point
	Runs    []*result.Result `json:"runs,omitempty"`
	Means   map[string]Mean  `json:"means,omitempty"`   // over the runs, where there are several
	Cached  int              `json:"cached"`            // how many of the runs came from the cache
	Error   string           `json:"error,omitempty"`   // why the point could not run
	Refused bool             `json:"refused,omitempty"` // because no spec may be so
}

// Result is the point's first run, nil where it failed.
func (p *SweepPoint) Result() *result.Result {
	if len(p.Runs) == 0 {
		return nil
	}
	return p.Runs[0]
}

// SweepResult holds the points in axis order, the last axis running fastest.
type SweepResult struct {
	Axes   []experiment.Axis `json:"axes"`
	Points []SweepPoint      `json:"points"`
}

// Cache keeps results by content: the key is a hash of resolved spec and code version.
type Cache interface {
	Get(key string) (*result.Result, bool)
	Put(key string, r *result.Result) error
}

// Runner computes runs elsewhere than in the goroutine that asks, as on other machines.
type Runner interface {
	// Takes says whether it computes a run; what it does not take is computed here.
	Takes(spec experiment.Spec, values experiment.Knobs) bool
	// Run is engine.Run of a spec that resolves to these values.
	Run(ctx context.Context, spec experiment.Spec, values experiment.Knobs) (*result.Result, error)
	// AtOnce is how many runs it is asked for at a time.
	AtOnce() int
}

// SweepOptions: the zero value runs one seed per point on every core without a cache.
type SweepOptions struct {
	Seeds    int                   // runs per point, with seed, seed+1, ...; 0 means 1
	Parallel int                   // systems at once in this process; 0 means one per core
	Runner   Runner                // computes what it takes; nil: all runs are computed here
	Cache    Cache                 // finished runs are taken from here and put here, so a broken sweep resumes
	Progress func(done, total int) // counts runs; called from one goroutine at a time
	// Share is told how far the whole is, in parts of total, also while runs go on: by simulated time, each run as long as it is
	// estimated to take. What the cache has is left out of it. Called from one goroutine at a time.
	Share func(done, total int)
	// Each is told of a run as soon as it has ended, before Progress, in RunAll only: at is the place
	// of the spec. Specs that share a run are told of one after the other.
	Each func(at int, r *result.Result)
	// Repeat may ask for another run in the place of one that has ended, of the spec that it returns, as
	// of one that was too short: it is asked until ok is false, times is how often it was before. nil: never.
	Repeat func(times int, spec experiment.Spec, r *result.Result) (another experiment.Spec, ok bool)
}

// job is one run of a sweep.
type job struct {
	spec   experiment.Spec
	values experiment.Knobs
	point  int
	run    int
}

// Sweep runs every combination of the axes' values. A combination that the rules forbid becomes a
// point with an error; a sweep in which all are forbidden is refused. When the context ends, the
// points that are finished come back beside the context's error.
func Sweep(ctx context.Context, spec experiment.Spec, axes []experiment.Axis, o SweepOptions) (*SweepResult, error) {
	out := &SweepResult{Axes: axes}
	sets, err := experiment.Product(axes)
	if err != nil {
		return nil, err
	}
	seeds := max(o.Seeds, 1)
	var jobs []job
	var refused error
	for i, set := range sets {
		p := SweepPoint{Set: set}
		js, err := o.pointJobs(spec, set, i, seeds)
		if err != nil {
			p.Error, p.Refused = err.Error(), true
			if refused == nil {
				refused = err
			}
		} else {
			p.Runs = make([]*result.Result, seeds)
		}
		jobs = append(jobs, js...)
		out.Points = append(out.Points, p)
	}
	if len(jobs) == 0 && refused != nil {
		return nil, refused
	}
	err = runJobs(ctx, jobs, o, func(j job, r *result.Result, cached bool, err error) {
		p := &out.Points[j.point]
		switch {
		case err != nil:
			p.Error, p.Refused = engine.FirstLine(err), experiment.IsSpecError(err) // as a file of keys that is no such file
		default:
			p.Runs[j.run] = r
			if cached {
				p.Cached++
			}
		}
	})
	for i := range out.Points {
		p := &out.Points[i]
		p.Runs = present(p.Runs)
		if len(p.Runs) > 1 {
			p.Means = meansOf(p.Runs)
		}
	}
	return out, err
}

func present(runs []*result.Result) []*result.Result {
	var out []*result.Result
	for _, r := range runs {
		if r != nil {
			out = append(out, r)
		}
	}
	return out
}

func (o *SweepOptions) pointJobs(spec experiment.Spec, set experiment.Knobs, point, seeds int) ([]job, error) {
	s, err := spec.With(set)
	if err != nil {
		return nil, err
	}
	v, err := experiment.Resolve(s)
	if err != nil {
		return nil, err
	}
	if err := o.refuseTooBig(s, v); err != nil {
		return nil, err
	}
	if first := v.Int("seed"); first > math.MaxInt-(seeds-1) {
		return nil, &experiment.SpecError{Field: "seed", Value: fmt.Sprint(first), Rule: fmt.Sprintf("the last of %d consecutive seeds is beyond %d", seeds, math.MaxInt), Next: "begin with a smaller one"}
	}
	var jobs []job
	for i := range seeds {
		x, err := s.With(experiment.Knobs{"seed": v.Int("seed") + i})
		if err != nil {
			return nil, err
		}
		w := v.Clone()
		w["seed"] = v.Int("seed") + i
		jobs = append(jobs, job{spec: x, values: w, point: point, run: i})
	}
	return jobs, nil
}

// elsewhere says whether the runner computes a run.
func (o *SweepOptions) elsewhere(s experiment.Spec, v experiment.Knobs) bool {
	return o.Runner != nil && s.Hardware == nil && s.Scaling == nil && o.Runner.Takes(s, v)
}

// refuseTooBig compares what a run needs with the memory of this computer, unless it is computed elsewhere.
func (o *SweepOptions) refuseTooBig(s experiment.Spec, v experiment.Knobs) error {
	if o.elsewhere(s, v) {
		return nil
	}
	return experiment.RefuseTooBig(v)
}

// runJobs runs jobs in parallel, each in a system of its own, those that take longest first: at the
// end no core waits long for the others. done is called from one goroutine at a time.
func runJobs(ctx context.Context, jobs []job, o SweepOptions, done func(j job, r *result.Result, cached bool, err error)) error {
	var here, there []job
	for _, j := range jobs {
		if o.elsewhere(j.spec, j.values) {
			there = append(there, j)
		} else {
			here = append(here, j)
		}
	}
	n := o.Parallel
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	var mu sync.Mutex
	finished := 0
	share := newShares(jobs, o.Share)
	one := func(j job) {
		r, cached, err := o.run(ctx, j, share.of(j))
		share.ended(j, cached)
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() == nil || err == nil {
			done(j, r, cached, err)
			finished++
			if o.Progress != nil {
				o.Progress(finished, len(jobs))
			}
		}
	}
	var wg sync.WaitGroup
	if len(there) > 0 {
		wg.Go(func() { pool(ctx, there, o.Runner.AtOnce(), one) })
	}
	pool(ctx, here, fitting(here, n), one)
	wg.Wait()
	return ctx.Err()
}

// pool does jobs in n goroutines until the context ends, those that take longest first.
func pool(ctx context.Context, jobs []job, n int, one func(j job)) {
	slices.SortStableFunc(jobs, func(a, b job) int { return cmp.Compare(wallOf(b.values), wallOf(a.values)) })
	queue := make(chan job)
	var wg sync.WaitGroup
	for range min(n, len(jobs)) {
		wg.Go(func() {
			for j := range queue {
				one(j)
			}
		})
	}
feed:
	for _, j := range jobs {
		select {
		case queue <- j:
		case <-ctx.Done():
			break feed
		}
	}
	close(queue)
	wg.Wait()
}

// RunAll runs each spec once, in parallel, and returns the results in the order of the specs. Specs
// that resolve to the same values share one run. The first failure ends the others.
func RunAll(ctx context.Context, specs []experiment.Spec, o SweepOptions) ([]*result.Result, error) {
	var jobs []job
	place := make([]int, len(specs)) // job of each spec
	type identity struct {
		key      string
		hardware *profile.Profile
		scaling  *experiment.Scaling
	}
	byKey := map[identity]int{}
	for i, s := range specs {
		v, err := experiment.Resolve(s)
		if err != nil {
			return nil, err
		}
		if err := o.refuseTooBig(s, v); err != nil {
			return nil, err
		}
		key := identity{keyOf(v, nil), s.Hardware, s.Scaling}
		at, known := byKey[key]
		if !known {
			at = len(jobs)
			byKey[key] = at
			jobs = append(jobs, job{spec: s, values: v, point: at})
		}
		place[i] = at
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make([]*result.Result, len(jobs))
	var first error
	err := runJobs(inner, jobs, o, func(j job, r *result.Result, _ bool, err error) {
		done[j.point] = r
		switch {
		case err != nil && first == nil:
			first = err
			cancel()
		case err == nil && o.Each != nil:
			for i, at := range place {
				if at == j.point {
					o.Each(i, r)
				}
			}
		}
	})
	if first != nil {
		return nil, first
	}
	if err != nil {
		return nil, err
	}
	out := make([]*result.Result, len(specs))
	for i, at := range place {
		out[i] = done[at]
	}
	return out, nil
}

// run does a job, and again for as long as it is asked for.
func (o *SweepOptions) run(ctx context.Context, j job, progress func(done, total int)) (r *result.Result, cached bool, err error) {
	for times := 0; ; times++ {
		if r, cached, err = o.runCached(ctx, j, progress); err != nil || o.Repeat == nil {
			return r, cached, err
		}
		another, ok := o.Repeat(times, j.spec, r)
		if !ok {
			return r, cached, nil
		}
		j.spec = another
		if j.values, err = experiment.Resolve(another); err != nil {
			return nil, false, err
		}
	}
}

// wallOf is how long a run takes beside others. The estimate is that of busy threads, and one with
// few coroutines mostly waits.
func wallOf(v experiment.Knobs) float64 {
	const half = 4 // coroutines that keep a thread half busy, about
	c := float64(testbed.Coroutines(v))
	return float64(experiment.EstimateOfValues(v).WallMS) * c / (c + half)
}

// fitting lowers the number of systems at once until they fit into memory together.
func fitting(jobs []job, n int) int {
	free := experiment.AvailableMemory()
	n = max(min(n, len(jobs)), 1)
	if free == 0 {
		return n
	}
	largest := int64(1)
	for _, j := range jobs {
		largest = max(largest, experiment.EstimateOfValues(j.values).MemoryBytes)
	}
	return max(min(n, int(free/largest)), 1)
}

func (o *SweepOptions) runCached(ctx context.Context, j job, progress func(done, total int)) (r *result.Result, cached bool, err error) {
	compute := func() (*result.Result, error) { return engine.Run(ctx, j.spec, progress) }
	if o.elsewhere(j.spec, j.values) {
		compute = func() (*result.Result, error) { return o.Runner.Run(ctx, j.spec, j.values) }
	}
	if o.Cache == nil || j.spec.Hardware != nil || j.spec.Scaling != nil || !code.Known(j.values) { // no key says on what hardware, or of what code
		r, err = compute()
		return r, false, err
	}
	inputs, err := experiment.Inputs(j.values)
	if err != nil { // the run says what it makes of such a file
		r, err = compute()
		return r, false, err
	}
	key := keyOf(j.values, inputs)
	if r, ok := o.Cache.Get(key); ok {
		return r, true, nil
	}
	if r, err = compute(); err != nil {
		return nil, false, err
	}
	if after, err := experiment.Inputs(j.values); err != nil || !maps.Equal(inputs, after) {
		return r, false, nil // a file changed meanwhile: which content the run has read is unknown
	}
	r.Inputs = inputs
	return r, false, o.Cache.Put(key, r)
}

// RunKey is the address of a run in a Cache: equal for specs that resolve to the same values in the
// same code, and name files of the same content.
func RunKey(spec experiment.Spec) (string, error) {
	v, err := experiment.Resolve(spec)
	if err != nil {
		return "", err
	}
	inputs, err := experiment.Inputs(v)
	if err != nil {
		return "", err
	}
	return RunKeyOf(spec, inputs)
}

// RunKeyOf is RunKey where files had this content, see result.Result.
func RunKeyOf(spec experiment.Spec, inputs map[string]string) (string, error) {
	v, err := experiment.Resolve(spec)
	if err != nil {
		return "", err
	}
	if spec.Hardware != nil {
		return "", fmt.Errorf("run key: a spec on hardware of its own has none, such runs are not kept")
	}
	return keyOf(v, inputs), nil
}

func keyOf(v experiment.Knobs, inputs map[string]string) string {
	text, err := json.Marshal(v) // in the order of names
	if err == nil && len(inputs) > 0 {
		var more []byte
		more, err = json.Marshal(inputs)
		text = append(text, more...)
	}
	if err != nil {
		panic("engine: resolved values: " + err.Error())
	}
	sum := sha256.Sum256(append(text, code.Of(v)...))
	return hex.EncodeToString(sum[:])
}

// SeedsResult is a spec run with several seeds.
type SeedsResult struct {
	Runs  []*result.Result `json:"runs"`
	Means map[string]Mean  `json:"means"` // by metric path, as "throughput" or "latency_us.p50"
}

// Mean over seeds with the half-width of its 95 % interval.
type Mean struct {
	Mean   float64 `json:"mean"`
	Half95 float64 `json:"half95,omitempty"` // absent with a single value
	N      int     `json:"n"`
}

// RunSeeds runs the spec n times with consecutive seeds, in parallel.
func RunSeeds(ctx context.Context, spec experiment.Spec, n int, o SweepOptions) (*SeedsResult, error) {
	if n < 1 || n > experiment.MaxAxis {
		return nil, &experiment.SpecError{Field: "seeds", Value: fmt.Sprint(n), Rule: fmt.Sprintf("must be from 1 to %d", experiment.MaxAxis), Next: "such as 5"}
	}
	o.Seeds = n
	jobs, err := o.pointJobs(spec, nil, 0, n)
	if err != nil {
		return nil, err
	}
	runs := make([]*result.Result, n)
	var first error
	err = runJobs(ctx, jobs, o, func(j job, r *result.Result, _ bool, err error) {
		if err != nil && first == nil {
			first = err
		}
		runs[j.run] = r
	})
	if err == nil {
		err = first
	}
	if err != nil {
		return nil, err
	}
	return &SeedsResult{Runs: runs, Means: meansOf(runs)}, nil
}

// meansOf has the metrics that every run knows.
func meansOf(runs []*result.Result) map[string]Mean {
	out := map[string]Mean{}
	paths, values := result.SideBySide(runs...)
	for _, path := range paths {
		m := metrics.Mean95(values[path])
		if math.IsInf(m.Half95, 0) {
			m.Half95 = 0
		}
		out[path] = Mean{m.Mean, m.Half95, m.N}
	}
	return out
}

// String is a table for a terminal: a line per point.
func (r *SweepResult) String() string {
	var b strings.Builder
	for _, a := range r.Axes {
		fmt.Fprintf(&b, "%-20s ", a.Knob)
	}
	fmt.Fprintf(&b, "%14s %12s %12s %8s\n", "throughput", "p50 µs", "p99 µs", "aborts")
	for i := range r.Points {
		p := &r.Points[i]
		for _, a := range r.Axes {
			fmt.Fprintf(&b, "%-20s ", knob.Format(a.Knob, p.Set[a.Knob]))
		}
		x := p.Result()
		if x == nil {
			fmt.Fprintf(&b, "%s\n", p.Error)
			continue
		}
		fmt.Fprintf(&b, "%12s/s %12s %12s %6.2f %%\n", result.Number(x.Throughput), percentile(x.LatencyUS.P50), percentile(x.LatencyUS.P99), 100*x.AbortRate)
	}
	b.WriteString(r.Unknown())
	return b.String()
}

// percentile writes one that may not be known.
func percentile(us float64) string {
	if us == 0 {
		return "-"
	}
	return result.Number(us)
}

// Unknown says what a percentile takes that some points do not have; "" where all have them.
func (r *SweepResult) Unknown() string {
	for i := range r.Points {
		for _, x := range r.Points[i].Runs {
			if x.Unknown() != "" {
				return fmt.Sprintf("a point without a percentile has too few commits: p50 takes %d, p99 takes %d\n", metrics.SamplesFor(0.5), metrics.SamplesFor(0.99))
			}
		}
	}
	return ""
}

// String is a line per headline metric.
func (r *SeedsResult) String() string {
	var b strings.Builder
	for _, h := range result.Headline {
		if m, ok := r.Means[h]; ok {
			fmt.Fprintf(&b, "%-24s %s ± %s  (%d seeds)\n", h, result.Number(m.Mean), result.Number(m.Half95), m.N)
		}
	}
	return b.String()
}
