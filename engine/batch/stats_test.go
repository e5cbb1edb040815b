package batch

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/result"
)

// memCache is a Cache for tests.
type memCache map[string]*result.Result

func (c memCache) Get(key string) (*result.Result, bool) { r, ok := c[key]; return r, ok }

func (c memCache) Put(key string, r *result.Result) error { c[key] = r; return nil }

func TestSweep(t *testing.T) {
	co, err := experiment.NewAxis("coroutines", []int{1, 4})
	if err != nil {
		t.Fatal(err)
	}
	commit, err := experiment.ParseAxis("phase.commit=one-sided,two-sided")
	if err != nil {
		t.Fatal(err)
	}
	spec := smallSpec(experiment.Knobs{"phase.lock": "one-sided", "duration_ns": "100us"})
	cache := memCache{}
	var calls []int
	o := SweepOptions{Seeds: 2, Cache: lockedCache{cache, make(chan struct{}, 1)}, Progress: func(done, total int) { calls = append(calls, done*100+total) }}
	r, err := Sweep(context.Background(), spec, []experiment.Axis{co, commit}, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Points) != 4 || len(calls) != 4 || calls[3] != 404 || len(cache) != 4 {
		t.Fatalf("%d points, progress %v, %d runs kept", len(r.Points), calls, len(cache))
	}
	for i, p := range r.Points {
		legal := i%2 == 0
		if p.Set["coroutines"] != co.Values[i/2] || p.Set["phase.commit"] != commit.Values[i%2] || legal != (p.Error == "") || legal != (len(p.Runs) == 2) {
			t.Errorf("point %d: %v, %d runs, error %q", i, p.Set, len(p.Runs), p.Error)
		}
	}
	single := runOf(t, must(spec.With(r.Points[2].Set)))
	if r.Points[2].Result().Digest != single.Digest {
		t.Error("a run of the sweep differs from the run alone")
	}
	again, err := Sweep(context.Background(), spec, []experiment.Axis{co, commit}, o)
	if err != nil || again.Points[0].Cached != 2 || again.Points[2].Means["throughput"] != r.Points[2].Means["throughput"] {
		t.Errorf("resumed: %+v, %v", again.Points[0], err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	o.Cache, o.Progress = nil, func(int, int) { cancel() }
	if part, err := Sweep(ctx, spec, []experiment.Axis{co}, o); err != context.Canceled || part == nil {
		t.Errorf("cancelled: %v", err)
	}
	_, err = Sweep(context.Background(), spec, []experiment.Axis{{Knob: "phase.commit", Values: []any{"two-sided"}}}, SweepOptions{})
	if !experiment.IsSpecError(err) {
		t.Errorf("a sweep of illegal points alone: %v", err)
	}
}

// A sweep, and seeds, of a spec on hardware of its own run on that hardware.
func TestSweepKeepsItsHardware(t *testing.T) {
	p, err := profile.Load("val")
	if err != nil {
		t.Fatal(err)
	}
	p.Number("wire.switch").Value *= 20
	spec := smallSpec(experiment.Knobs{"duration_ns": "50us"})
	own, plain := runOf(t, spec.On(p)), runOf(t, spec)
	if own.Digest == plain.Digest {
		t.Fatal("a slower switch changes nothing")
	}
	threads, err := experiment.NewAxis("threads", []int{2})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Sweep(context.Background(), spec.On(p), []experiment.Axis{threads}, SweepOptions{})
	if err != nil || r.Points[0].Result().Digest != own.Digest {
		t.Errorf("the sweep ran elsewhere: %v", err)
	}
	seeds, err := RunSeeds(context.Background(), spec.On(p), 1, SweepOptions{})
	if err != nil || seeds.Runs[0].Digest != own.Digest {
		t.Errorf("the seeds ran elsewhere: %v", err)
	}
}

// What takes longest begins first, and results stand where their specs do.
func TestLongestRunsFirst(t *testing.T) {
	var specs []experiment.Spec
	for _, n := range []int{1, 8, 4} {
		specs = append(specs, smallSpec(experiment.Knobs{"coroutines": n, "duration_ns": "50us"}))
	}
	var order []int
	o := SweepOptions{Parallel: 1, Each: func(at int, _ *result.Result) { order = append(order, at) }}
	results, err := RunAll(t.Context(), specs, o)
	if err != nil || !slices.Equal(order, []int{1, 2, 0}) {
		t.Fatalf("order %v, %v", order, err)
	}
	for i, r := range results {
		if want, err := experiment.Resolve(specs[i]); err != nil || !maps.Equal(r.Spec, want) {
			t.Errorf("result %d is of another spec: %v", i, err)
		}
	}
}

// lockedCache serialises a cache.
type lockedCache struct {
	c    memCache
	lock chan struct{}
}

func (l lockedCache) Get(key string) (*result.Result, bool) {
	l.lock <- struct{}{}
	defer func() { <-l.lock }()
	return l.c.Get(key)
}

func (l lockedCache) Put(key string, r *result.Result) error {
	l.lock <- struct{}{}
	defer func() { <-l.lock }()
	return l.c.Put(key, r)
}

func must(s experiment.Spec, err error) experiment.Spec {
	if err != nil {
		panic(err)
	}
	return s
}

func TestRunSeeds(t *testing.T) {
	r, err := RunSeeds(context.Background(), smallSpec(experiment.Knobs{"duration_ns": "100us"}), 3, SweepOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m := r.Means["throughput"]
	if len(r.Runs) != 3 || m.N != 3 || m.Half95 <= 0 || r.Runs[1].Spec["seed"] != 2 {
		t.Errorf("%+v", m)
	}
	if _, err := RunSeeds(context.Background(), smallSpec(experiment.Knobs{"seed": math.MaxInt}), 2, SweepOptions{}); !experiment.IsSpecError(err) || !strings.Contains(err.Error(), "the last of 2") {
		t.Errorf("seeds beyond what there are: %v", err)
	}
	if _, err := RunSeeds(context.Background(), smallSpec(nil), 0, SweepOptions{}); !experiment.IsSpecError(err) {
		t.Errorf("no seeds: %v", err)
	}
}

func TestRunKey(t *testing.T) {
	a, _ := RunKey(experiment.Spec{Preset: "farm"})
	b, _ := RunKey(must(experiment.Spec{}.With(experiment.Knobs{"preset": "farm", "cache.bytes": "300MB"})))
	c, _ := RunKey(experiment.Spec{Preset: "farm", Set: experiment.Knobs{"seed": 2}})
	if a == "" || a != b || a == c {
		t.Errorf("keys %s %s %s", a, b, c)
	}
}

func TestMetricsAndCompare(t *testing.T) {
	a := &result.Result{Spec: experiment.Knobs{"nodes": 4, "phase.commit": "auto"}, Throughput: 100, ThroughputCI95: 0.03, LatencyUS: result.Latency{Mean: 10, P50: 9}, Code: "src-1"}
	b := &result.Result{Spec: experiment.Knobs{"nodes": 4.0, "phase.commit": "two-sided"}, Throughput: 120, ThroughputCI95: 0.04, LatencyUS: result.Latency{Mean: 12}, Code: "src-1"}
	if x, ok := a.Metric("latency_us.p50"); !ok || x != 9 {
		t.Errorf("latency_us.p50 = %v, %v", x, ok)
	}
	if _, ok := b.Metric("latency_us.p50"); ok {
		t.Error("an absent percentile has a value")
	}
	c := result.Compare(a, b)
	if len(c.Spec) != 1 || c.Spec[0].Knob != "phase.commit" {
		t.Errorf("specs differ in %v", c.Spec)
	}
	d := c.Metrics[0]
	if d.Metric != "throughput" || math.Abs(*d.Change-0.2) > 1e-9 || math.Abs(d.Half95-1.2*0.05) > 1e-9 {
		t.Errorf("first difference %+v", d)
	}
	// What has no samples has no mean, and the number of a machine none either.
	a.Bottleneck, a.ByType = &result.Bottleneck{Resource: "cpu", Node: 1, Utilization: 1}, map[string]result.TypeStat{"rare": {}}
	means := meansOf([]*result.Result{a, a})
	for path, want := range map[string]bool{"bottleneck.utilization": true, "bottleneck.node": false, "bottleneck.index": false, "latency_us.mean": true,
		"by_type.rare.commits": true, "by_type.rare.latency_us.mean": false, "by_type.rare.latency_us.max": false} {
		if _, ok := means[path]; ok != want {
			t.Errorf("a mean of %s: %v", path, ok)
		}
	}
	if s := c.String(); !strings.Contains(s, "phase.commit") || !strings.Contains(s, "+20.0 %") {
		t.Errorf("as text:\n%s", s)
	}
	if _, err := json.Marshal(c); err != nil {
		t.Error(err)
	}
}

// What a result leaves out because nothing of it happened is 0 and counts in means and comparisons;
// what it left out because nobody knows does not.
func TestNothingCountsAsZero(t *testing.T) {
	calm := &result.Result{Phases: map[string]result.PhaseStat{"lock": {MeanUS: 2, P50US: 2, Share: 1}}, Milestones: map[string]result.MilestoneStat{"poll": {Share: 1}}}
	wild := &result.Result{Failed: 4, Phases: map[string]result.PhaseStat{"lock": {MeanUS: 2, P50US: 2, Share: 0.2}, "backoff": {MeanUS: 8, P50US: 9, Share: 0.8}},
		Milestones: map[string]result.MilestoneStat{"poll": {Share: 0.2}, "asleep": {Share: 0.8}}}
	bare := &result.Result{}
	means := meansOf([]*result.Result{calm, wild})
	for path, want := range map[string]float64{"failed": 2, "phases.backoff.mean_us": 4, "phases.backoff.share": 0.4, "milestones.asleep.share": 0.4, "phases.lock.p50_us": 2} {
		if m, ok := means[path]; !ok || m.Mean != want || m.N != 2 {
			t.Errorf("%s: %+v, want a mean of %g over 2 runs", path, m, want)
		}
	}
	if m, ok := means["phases.backoff.p50_us"]; ok {
		t.Errorf("a median of what one of two has: %+v", m)
	}
	if m, ok := meansOf([]*result.Result{bare, wild})["phases.backoff.mean_us"]; ok {
		t.Errorf("a mean over a run without attribution: %+v", m)
	}
	for _, pair := range [][2]*result.Result{{calm, wild}, {wild, calm}} {
		found := 0
		for _, d := range result.Compare(pair[0], pair[1]).Metrics {
			if d.Metric == "failed" && d.A+d.B == 4 || d.Metric == "phases.backoff.mean_us" && d.A+d.B == 8 {
				found++
			}
		}
		if found != 2 {
			t.Errorf("%d of 2 numbers compared that one of both has", found)
		}
	}
}

// Where a percentile is missing, text says what it takes and what there is.
func TestMissingPercentilesSayWhy(t *testing.T) {
	few := runOf(t, smallSpec(experiment.Knobs{"threads": 1, "coroutines": 1, "duration_ns": "500us"}))
	if few.LatencyUS.P99 != 0 || few.LatencyUS.P90 == 0 {
		t.Fatalf("%d commits: %+v", few.Commits, few.LatencyUS)
	}
	want := fmt.Sprintf("p99 is not known: it takes 1000 commits, there are %d", few.Commits)
	many := &result.Result{Commits: 5000, LatencyUS: result.Latency{P50: 1, P90: 2, P99: 3}}
	sweep := func(r *result.Result) string {
		return (&SweepResult{Points: []SweepPoint{{Runs: []*result.Result{r}}}}).String()
	}
	for name, text := range map[string]string{"result": few.String(), "comparison": result.Compare(many, few).String()} {
		if !strings.Contains(text, want) {
			t.Errorf("%s: %q is not in\n%s", name, want, text)
		}
	}
	if text := sweep(few); !strings.Contains(text, " - ") || !strings.Contains(text, "p99 takes 1000") {
		t.Error(text)
	}
	if text := many.String() + result.Compare(many, many).String() + sweep(many); strings.Contains(text, "not known") || strings.Contains(text, "takes") {
		t.Errorf("nothing is missing, and yet:\n%s", text)
	}
	if text := (&result.Result{Commits: 12, LatencyUS: result.Latency{Mean: 3}}).Unknown(); !strings.Contains(text, "p50 is not known: it takes 20 commits, there are 12") {
		t.Error(text)
	}
	if text := (&result.Result{}).Unknown(); text != "" {
		t.Errorf("of nothing: %s", text)
	}
}

// Progress follows simulated time: it moves while the only run goes on, never goes back, and what was kept is left out of it.
func TestShare(t *testing.T) {
	spec := smallSpec(experiment.Knobs{"duration_ns": "400us"})
	cache := memCache{}
	var told []int
	o := SweepOptions{Parallel: 2, Cache: lockedCache{cache, make(chan struct{}, 1)}, Share: func(done, total int) { told = append(told, done*1000/total) }}
	axis := func(values ...any) []experiment.Axis { return []experiment.Axis{{Knob: "coroutines", Values: values}} }
	if _, err := Sweep(context.Background(), spec, axis(2), o); err != nil {
		t.Fatal(err)
	}
	if len(told) < 10 || told[0] > 200 || told[len(told)-1] != 1000 || !slices.IsSorted(told) {
		t.Errorf("one run: %v", told)
	}
	told = nil
	if _, err := Sweep(context.Background(), spec, axis(2, 4), o); err != nil {
		t.Fatal(err)
	}
	if len(told) < 10 || told[0] > 200 || told[len(told)-1] != 1000 || !slices.IsSorted(told) {
		t.Errorf("one kept, one run: %v", told)
	}
	told = nil
	if _, err := Sweep(context.Background(), spec, axis(2, 4), o); err != nil {
		t.Fatal(err)
	}
	if len(told) != 1 || told[0] != 1000 {
		t.Errorf("all kept: %v", told)
	}
}
