package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"

	"drtmx/engine/knob"
	"drtmx/engine/testbed"

	"drtmx/engine/fabric"
	"drtmx/engine/metrics"
)

// Axis is one dimension of a sweep.
type Axis struct {
	Knob   string `json:"knob"`
	Values []any  `json:"values"`
}

// maxAxis and maxPoints bound a sweep, which a person may mistype.
const (
	maxAxis   = 1000
	maxPoints = 10_000
)

// NewAxis takes a slice of any type, or text with commas, and checks it against the registry.
func NewAxis(name string, values any) (Axis, error) {
	e, err := lookup(name)
	if err != nil {
		return Axis{}, err
	}
	var raw []any
	switch r := reflect.ValueOf(values); {
	case r.IsValid() && r.Kind() == reflect.Slice:
		for i := range r.Len() {
			raw = append(raw, r.Index(i).Interface())
		}
	case r.IsValid() && r.Kind() == reflect.String:
		for s := range strings.SplitSeq(r.String(), ",") {
			raw = append(raw, strings.TrimSpace(s))
		}
	default:
		raw = []any{values}
	}
	if len(raw) == 0 || len(raw) > maxAxis {
		return Axis{}, &SpecError{Field: name, Rule: fmt.Sprintf("an axis has 1 to %d values, this one %d", maxAxis, len(raw)), Next: "such as " + name + "=V1,V2"}
	}
	a := Axis{Knob: name}
	for _, x := range raw {
		v, err := e.Parse(x)
		if err != nil {
			return Axis{}, err
		}
		a.Values = append(a.Values, v)
	}
	return a, nil
}

// ParseAxis reads "knob=v1,v2,...", as --over takes it.
func ParseAxis(s string) (Axis, error) {
	if !strings.Contains(s, "=") {
		return Axis{}, &SpecError{Field: knob.Clip(s), Rule: "must be KNOB=VALUE,VALUE,...", Next: "such as coroutines=1,4,8"}
	}
	name, values, err := ParseSetting(s)
	if err != nil {
		return Axis{}, err
	}
	return NewAxis(name, values)
}

// SweepPoint is one combination of axis values.
type SweepPoint struct {
	Set     Knobs           `json:"set"` // the axis values of this point
	Runs    []*Result       `json:"runs,omitempty"`
	Means   map[string]Mean `json:"means,omitempty"`   // over the runs, where there are several
	Cached  int             `json:"cached"`            // how many of the runs came from the cache
	Error   string          `json:"error,omitempty"`   // why the point could not run
	Refused bool            `json:"refused,omitempty"` // because no spec may be so
}

// Result is the point's first run, nil where it failed.
func (p *SweepPoint) Result() *Result {
	if len(p.Runs) == 0 {
		return nil
	}
	return p.Runs[0]
}

// SweepResult holds the points in axis order, the last axis running fastest.
type SweepResult struct {
	Axes   []Axis       `json:"axes"`
	Points []SweepPoint `json:"points"`
}

// Cache keeps results by content: the key is a hash of resolved spec and code version.
type Cache interface {
	Get(key string) (*Result, bool)
	Put(key string, r *Result) error
}

// SweepOptions: the zero value runs one seed per point on every core without a cache.
type SweepOptions struct {
	Seeds    int                   // runs per point, with seed, seed+1, ...; 0 means 1
	Parallel int                   // systems at once; 0 means one per core
	Cache    Cache                 // finished runs are taken from here and put here, so a broken sweep resumes
	Progress func(done, total int) // called from one goroutine at a time
	// Each is told of a run as soon as it has ended, before Progress, in RunAll only: at is the place
	// of the spec. Specs that share a run are told of one after the other.
	Each func(at int, r *Result)
	// Again may ask for another run in the place of one that has ended, of the spec that it returns, as
	// of one that was too short: it is asked until ok is false, times is how often it was before. nil: never.
	Again func(times int, spec Spec, r *Result) (another Spec, ok bool)
}

// job is one run of a sweep.
type job struct {
	spec   Spec
	values Knobs
	point  int
	run    int
}

// Sweep runs every combination of the axes' values. A combination that the rules forbid becomes a
// point with an error; a sweep in which all are forbidden is refused. When the context ends, the
// points that are finished come back beside the context's error.
func Sweep(ctx context.Context, spec Spec, axes []Axis, o SweepOptions) (*SweepResult, error) {
	out := &SweepResult{Axes: axes}
	sets, err := product(axes)
	if err != nil {
		return nil, err
	}
	seeds := max(o.Seeds, 1)
	var jobs []job
	var refused error
	for i, set := range sets {
		p := SweepPoint{Set: set}
		js, err := pointJobs(spec, set, i, seeds)
		if err != nil {
			p.Error, p.Refused = err.Error(), true
			if refused == nil {
				refused = err
			}
		} else {
			p.Runs = make([]*Result, seeds)
		}
		jobs = append(jobs, js...)
		out.Points = append(out.Points, p)
	}
	if len(jobs) == 0 && refused != nil {
		return nil, refused
	}
	err = runJobs(ctx, jobs, o, func(j job, r *Result, cached bool, err error) {
		p := &out.Points[j.point]
		switch {
		case err != nil:
			p.Error = firstLine(err)
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

func present(runs []*Result) []*Result {
	var out []*Result
	for _, r := range runs {
		if r != nil {
			out = append(out, r)
		}
	}
	return out
}

func firstLine(err error) string {
	s, _, _ := strings.Cut(err.Error(), "\n")
	return s
}

// product lists all combinations, the last axis running fastest.
func product(axes []Axis) ([]Knobs, error) {
	sets := []Knobs{{}}
	seen := map[string]bool{}
	for _, a := range axes {
		var next []Knobs
		e, err := lookup(a.Knob)
		if err != nil {
			return nil, err
		}
		if seen[e.Name] {
			return nil, &SpecError{Field: a.Knob, Rule: "is an axis twice", Next: "give it once, with all its values"}
		}
		seen[e.Name] = true
		if len(sets)*len(a.Values) > maxPoints {
			return nil, &SpecError{Field: a.Knob, Rule: fmt.Sprintf("makes more than %d points", maxPoints), Next: "use fewer values"}
		}
		for _, s := range sets {
			for _, v := range a.Values {
				c := s.Clone()
				c[a.Knob] = v
				next = append(next, c)
			}
		}
		sets = next
	}
	return sets, nil
}

func pointJobs(spec Spec, set Knobs, point, seeds int) ([]job, error) {
	s, err := spec.With(set)
	if err != nil {
		return nil, err
	}
	v, err := Resolve(s)
	if err != nil {
		return nil, err
	}
	if err := refuseTooBig(v); err != nil {
		return nil, err
	}
	if first := v.Int("seed"); first > math.MaxInt-(seeds-1) {
		return nil, &SpecError{Field: "seed", Value: fmt.Sprint(first), Rule: fmt.Sprintf("the last of %d consecutive seeds is beyond %d", seeds, math.MaxInt), Next: "begin with a smaller one"}
	}
	var jobs []job
	for i := range seeds {
		x, err := s.With(Knobs{"seed": v.Int("seed") + i})
		if err != nil {
			return nil, err
		}
		w := v.Clone()
		w["seed"] = v.Int("seed") + i
		jobs = append(jobs, job{spec: x, values: w, point: point, run: i})
	}
	return jobs, nil
}

// runJobs runs jobs in parallel, each in a system of its own, those that take longest first: at the
// end no core waits long for the others. done is called from one goroutine at a time.
func runJobs(ctx context.Context, jobs []job, o SweepOptions, done func(j job, r *Result, cached bool, err error)) error {
	jobs = slices.Clone(jobs)
	slices.SortStableFunc(jobs, func(a, b job) int { return cmp.Compare(wallOf(b.values), wallOf(a.values)) })
	n := o.Parallel
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	n = fitting(jobs, n)
	queue := make(chan job)
	var wg sync.WaitGroup
	var mu sync.Mutex
	finished := 0
	for range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := range queue {
				r, cached, err := o.run(ctx, j)
				mu.Lock()
				if ctx.Err() == nil || err == nil {
					done(j, r, cached, err)
					finished++
					if o.Progress != nil {
						o.Progress(finished, len(jobs))
					}
				}
				mu.Unlock()
			}
		}()
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
	return ctx.Err()
}

// RunAll runs each spec once, in parallel, and returns the results in the order of the specs. Specs
// that resolve to the same values share one run. The first failure ends the others.
func RunAll(ctx context.Context, specs []Spec, o SweepOptions) ([]*Result, error) {
	var jobs []job
	place := make([]int, len(specs)) // job of each spec
	type identity struct {
		key      string
		hardware *fabric.Profile
		scaling  *scaling
	}
	byKey := map[identity]int{}
	for i, s := range specs {
		v, err := Resolve(s)
		if err != nil {
			return nil, err
		}
		if err := refuseTooBig(v); err != nil {
			return nil, err
		}
		key := identity{keyOf(v), s.hardware, s.scaling}
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
	done := make([]*Result, len(jobs))
	var first error
	err := runJobs(inner, jobs, o, func(j job, r *Result, _ bool, err error) {
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
	out := make([]*Result, len(specs))
	for i, at := range place {
		out[i] = done[at]
	}
	return out, nil
}

// run does a job, and again for as long as it is asked for.
func (o *SweepOptions) run(ctx context.Context, j job) (r *Result, cached bool, err error) {
	for times := 0; ; times++ {
		if r, cached, err = runCached(ctx, j, o.Cache); err != nil || o.Again == nil {
			return r, cached, err
		}
		another, ok := o.Again(times, j.spec, r)
		if !ok {
			return r, cached, nil
		}
		j.spec = another
		if j.values, err = Resolve(another); err != nil {
			return nil, false, err
		}
	}
}

// wallOf is how long a run takes beside others. The estimate is that of busy threads, and one with
// few coroutines mostly waits.
func wallOf(v Knobs) float64 {
	const half = 4 // coroutines that keep a thread half busy, about
	c := float64(testbed.Coroutines(v))
	return float64(estimate(v).WallMS) * c / (c + half)
}

// fitting lowers the number of systems at once until they fit into memory together.
func fitting(jobs []job, n int) int {
	free := availableMemory()
	n = max(min(n, len(jobs)), 1)
	if free == 0 {
		return n
	}
	largest := int64(1)
	for _, j := range jobs {
		largest = max(largest, estimate(j.values).MemoryBytes)
	}
	return max(min(n, int(free/largest)), 1)
}

func runCached(ctx context.Context, j job, cache Cache) (r *Result, cached bool, err error) {
	if cache == nil || j.spec.hardware != nil || j.spec.scaling != nil { // no key says on what hardware
		r, err = Run(ctx, j.spec, nil)
		return r, false, err
	}
	key := keyOf(j.values)
	if r, ok := cache.Get(key); ok {
		return r, true, nil
	}
	if r, err = Run(ctx, j.spec, nil); err != nil {
		return nil, false, err
	}
	return r, false, cache.Put(key, r)
}

// RunKey is the address of a run in a Cache: equal for specs that resolve to the same values in the
// same code.
func RunKey(spec Spec) (string, error) {
	v, err := Resolve(spec)
	if err != nil {
		return "", err
	}
	if spec.hardware != nil {
		return "", fmt.Errorf("run key: a spec on hardware of its own has none, such runs are not kept")
	}
	return keyOf(v), nil
}

func keyOf(v Knobs) string {
	text, err := json.Marshal(v) // in the order of names
	if err != nil {
		panic("engine: resolved values: " + err.Error())
	}
	sum := sha256.Sum256(append(text, CodeVersion()...))
	return hex.EncodeToString(sum[:])
}

// SeedsResult is a spec run with several seeds.
type SeedsResult struct {
	Runs  []*Result       `json:"runs"`
	Means map[string]Mean `json:"means"` // by metric path, as "throughput" or "latency_us.p50"
}

// Mean over seeds with the half-width of its 95 % interval.
type Mean struct {
	Mean   float64 `json:"mean"`
	Half95 float64 `json:"half95,omitempty"` // absent with a single value
	N      int     `json:"n"`
}

// RunSeeds runs the spec n times with consecutive seeds, in parallel.
func RunSeeds(ctx context.Context, spec Spec, n int, o SweepOptions) (*SeedsResult, error) {
	if n < 1 || n > maxAxis {
		return nil, &SpecError{Field: "seeds", Value: fmt.Sprint(n), Rule: fmt.Sprintf("must be from 1 to %d", maxAxis), Next: "such as 5"}
	}
	o.Seeds = n
	jobs, err := pointJobs(spec, nil, 0, n)
	if err != nil {
		return nil, err
	}
	runs := make([]*Result, n)
	var first error
	err = runJobs(ctx, jobs, o, func(j job, r *Result, _ bool, err error) {
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
func meansOf(runs []*Result) map[string]Mean {
	out := map[string]Mean{}
	paths, values := sideBySide(runs...)
	for _, path := range paths {
		m := metrics.Mean95(values[path])
		if math.IsInf(m.Half95, 0) {
			m.Half95 = 0
		}
		out[path] = Mean{m.Mean, m.Half95, m.N}
	}
	return out
}
