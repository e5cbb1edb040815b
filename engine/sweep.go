package engine

import "context"

// Axis is one dimension of a sweep.
type Axis struct {
	Knob   string
	Values []any
}

// SweepPoint is one combination of axis values.
type SweepPoint struct {
	Set    Knobs     `json:"set"` // the axis values of this point
	Runs   []*Result `json:"runs,omitempty"`
	Cached int       `json:"cached"` // how many of the runs came from the cache
	Error  string    `json:"error,omitempty"`
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
	Seeds    int                   // runs per point, seed, seed+1, ...; 0 means 1
	Parallel int                   // systems at once; 0 means one per core
	Cache    Cache                 // finished runs are taken from here and put here
	Progress func(done, total int) // called from one goroutine at a time
}

// Sweep runs every combination of the axes' values.
func Sweep(ctx context.Context, spec Spec, axes []Axis, o SweepOptions) (*SweepResult, error) {
	return nil, nil
}

// RunKey is the address of a run in a Cache.
func RunKey(spec Spec) (string, error) { return "", nil }

// SeedsResult is a spec run with several seeds.
type SeedsResult struct {
	Runs  []*Result       `json:"runs"`
	Means map[string]Mean `json:"means"` // by metric path, as "throughput" or "latency_us.p50"
}

// Mean over seeds with the half-width of its 95 % interval.
type Mean struct {
	Mean   float64 `json:"mean"`
	Half95 float64 `json:"half95"`
	N      int     `json:"n"`
}

// RunSeeds runs the spec n times with consecutive seeds, in parallel.
func RunSeeds(ctx context.Context, spec Spec, n int, o SweepOptions) (*SeedsResult, error) {
	return nil, nil
}

// Comparison puts two results side by side.
type Comparison struct {
	A       *Result    `json:"a"`
	B       *Result    `json:"b"`
	Spec    []SpecDiff `json:"spec"`
	Metrics []Diff     `json:"metrics"`
}

// SpecDiff is a knob that differs.
type SpecDiff struct {
	Knob string `json:"knob"`
	A    any    `json:"a"`
	B    any    `json:"b"`
}

// Diff is one metric of both.
type Diff struct {
	Metric string  `json:"metric"`
	A      float64 `json:"a"`
	B      float64 `json:"b"`
	Change float64 `json:"change"`           // (B - A) / A
	Half95 float64 `json:"half95,omitempty"` // half-width of Change's 95 % interval, where both results carry one
}

// Compare lists what differs in the specs and in the numbers.
func Compare(a, b *Result) *Comparison { return &Comparison{A: a, B: b} }

// Metric reads a number of a result by its JSON path, as "latency_us.p50".
func (r *Result) Metric(path string) (float64, bool) { return 0, false }
