package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"drtmx/engine/fabric"
)

func spread(n int, f func(i int) float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = f(i)
	}
	return out
}

func TestJudge(t *testing.T) {
	wobble := func(i int) float64 { return float64(i*7919%13) - 6 }
	for _, tt := range []struct {
		name   string
		series []float64
		steady bool
		why    string
	}{
		{"few", spread(4, func(int) float64 { return 100 }), false, "too short"},
		{"nothing", spread(20, func(int) float64 { return 0 }), false, "nothing was committed"},
		{"flat", spread(40, func(int) float64 { return 100 }), true, ""},
		{"noisy", spread(40, func(i int) float64 { return 1000 + wobble(i) }), true, ""},
		{"wild", spread(20, func(i int) float64 { return 1000 * float64(i%2) }), false, "wider than"},
		{"drift", spread(40, func(i int) float64 { return 1000 + 5*float64(i) + wobble(i) }), false, "still drifting: throughput changes by +"},
	} {
		q := judge(tt.series)
		if q.steady != tt.steady || !strings.Contains(q.unsteady, tt.why) || q.steady != (q.unsteady == "") {
			t.Errorf("%s: %+v", tt.name, q)
		}
		if math.IsInf(q.ci95, 0) || math.IsNaN(q.ci95) {
			t.Errorf("%s: interval %v", tt.name, q.ci95)
		}
	}
}

// A system that remembers for hundreds of spans, as one whose locks or lost datagrams hold many up at once, wanders.
// That is not a drift, for which the run would be made longer, and its interval is as wide as it wanders.
func TestJudgeOfLongMemory(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 3))
	const runs = 300
	drift, given, wrong := 0, 0, 0
	for range runs {
		noise := 0.0
		q := judge(spread(2000, func(int) float64 {
			noise = 0.98*noise + rnd.NormFloat64()
			return 100 + 1.5*noise
		}))
		if q.drift {
			drift++
		}
	}
	for range runs {
		noise, sum := 0.0, 0.0
		q := judge(spread(1000, func(int) float64 {
			noise = 0.97*noise + rnd.NormFloat64()
			sum += noise
			return 100 + noise
		}))
		if q.ci95 == 0 {
			continue
		}
		given++
		if math.Abs(sum/1000) > q.ci95*(100+sum/1000) {
			wrong++
		}
	}
	if drift > runs*12/100 {
		t.Errorf("a drift in %d of %d series that have none", drift, runs)
	}
	if given < runs/2 || wrong > given*8/100 {
		t.Errorf("of %d series %d have an interval, which was wrong %d times", runs, given, wrong)
	}
}

func TestSpansStayFew(t *testing.T) {
	var x spans
	x.restart(5*firstSpan, counts{commits: 100}, firstSpan)
	total := counts{commits: 100}
	each := func() int { return int(x.length / firstSpan) }
	for now := 5 * firstSpan; now < 100_000*firstSpan; {
		now = x.next
		for range 3 * each() {
			total.commits++
			total.aborts += 2
			x.open.Record(7_000_000)
		}
		x.tick(now, total)
		x.tick(now, total) // nothing new
	}
	if len(x.closed) < maxSpans/2 || len(x.closed) >= maxSpans {
		t.Errorf("%d spans", len(x.closed))
	}
	for i := range x.closed {
		if c := &x.closed[i]; c.counts.commits != uint64(3*each()) || c.counts.aborts != uint64(6*each()) || c.latency.Count() != uint64(3*each()) {
			t.Fatalf("span %d of %d: %+v, %d latencies", i, x.length, c.counts, c.latency.Count())
		}
	}
	x.restart(0, total, firstSpan)
	if x.tick(firstSpan, total); len(x.closed) != 1 || x.closed[0].counts != (counts{}) || x.closed[0].latency.Count() != 0 {
		t.Errorf("after a new mark: %d spans", len(x.closed))
	}
}

// However short an interval is that a person asks for, it has enough spans for an interval.
func TestSpansOfShortRuns(t *testing.T) {
	s := open(t, small(Knobs{"duration_ns": 100_000, "check": "off"}))
	advance(t, s, 50_000)
	s.Mark()
	advance(t, s, 100_000)
	if n := len(s.meter.spans.closed); n < shortSpans {
		t.Errorf("%d spans", n)
	}
}

func TestAbortRate(t *testing.T) {
	var c counts
	c.add(&request{committed: true})
	c.add(&request{rolledBack: true})
	c.add(&request{})
	c.aborts = 4
	if c.commits != 1 || c.rollbacks != 1 || c.failed != 1 || c.ended() != 3 {
		t.Errorf("%+v", c)
	}
	if got := c.abortRate(); got != 4.0/6 { // a request that failed is no attempt
		t.Errorf("abort rate %f", got)
	}
}

// The first request of a type that was added is not one of the type that was alone before.
func TestTypesAreApart(t *testing.T) {
	m := newMeter(1)
	for typ, us := range []int64{1, 9} {
		m.add(&request{typ: typ, committed: true, latencyPS: us * 1_000_000})
	}
	for typ, ns := range []int64{1000, 9000} {
		if h := m.latencyOf(typ); h.Count() != 1 || h.MaxNS() != ns {
			t.Errorf("type %d: %d requests, the longest took %d ns, want one of %d", typ, h.Count(), h.MaxNS(), ns)
		}
	}
}

// A run's JSON has the contract's names.
func TestResultJSON(t *testing.T) {
	r := mustRun(t, small(Knobs{"phase.logging": "two-sided"}))
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	for _, path := range strings.Fields(`spec preset_diff code profile scope virtual_ns wall_ms events steady scale.populations
		throughput throughput_ci95 commits aborts abort_rate rollbacks by_type.balance.commits by_type.balance.latency_us.mean
		latency_us.mean latency_us.p50 latency_us.p90 latency_us.max phases.execution.mean_us phases.execution.p50_us
		phases.execution.share phases.execution.round_trips milestones.doorbell.share verbs.read verbs.write verbs.cas verbs.faa
		verbs.send round_trips_per_txn utilization.cpu.mean utilization.cpu.max utilization.nic_tx utilization.nic_rx
		utilization.link utilization.pcie utilization.memory bottleneck.resource bottleneck.node bottleneck.utilization
		little.in_flight little.throughput_x_latency little.error checks.mode checks.claimed checks.ok checks.transactions
		checks.anomalies checks.invariants digest`) {
		var at any = m
		for _, key := range strings.Split(path, ".") {
			sub, _ := at.(map[string]any) // nil, without keys, if it is something else
			at = sub[key]
		}
		if at == nil {
			t.Errorf("no %s in the result", path)
		}
	}
	if d := m["preset_diff"].(map[string]any); len(d) != 1 || d["phase.logging"] != "two-sided" {
		t.Errorf("preset_diff = %v", d)
	}
	if c := m["checks"].(map[string]any)["invariants"].(map[string]any); c["smallbank.total"] != true {
		t.Errorf("invariants = %v", c)
	}
	if !strings.HasPrefix(r.Code, "src-") || r.Profile != "val@1" {
		t.Errorf("code %q, profile %q", r.Code, r.Profile)
	}

	var back Result
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if c := Compare(r, &back); len(c.Spec) != 0 {
		t.Errorf("a result read back differs from itself: %v", c.Spec)
	}
}

func TestMetricsAndCompare(t *testing.T) {
	a := &Result{Spec: Knobs{"nodes": 4, "phase.commit": "auto"}, Throughput: 100, ThroughputCI95: 0.03, LatencyUS: Latency{Mean: 10, P50: 9}, Code: "src-1"}
	b := &Result{Spec: Knobs{"nodes": 4.0, "phase.commit": "two-sided"}, Throughput: 120, ThroughputCI95: 0.04, LatencyUS: Latency{Mean: 12}, Code: "src-1"}
	if x, ok := a.Metric("latency_us.p50"); !ok || x != 9 {
		t.Errorf("latency_us.p50 = %v, %v", x, ok)
	}
	if _, ok := b.Metric("latency_us.p50"); ok {
		t.Error("an absent percentile has a value")
	}
	c := Compare(a, b)
	if len(c.Spec) != 1 || c.Spec[0].Knob != "phase.commit" {
		t.Errorf("specs differ in %v", c.Spec)
	}
	d := c.Metrics[0]
	if d.Metric != "throughput" || math.Abs(*d.Change-0.2) > 1e-9 || math.Abs(d.Half95-1.2*0.05) > 1e-9 {
		t.Errorf("first difference %+v", d)
	}
	// What has no samples has no mean, and the number of a machine none either.
	a.Bottleneck, a.ByType = &Bottleneck{Resource: "cpu", Node: 1, Utilization: 1}, map[string]TypeStat{"rare": {}}
	means := meansOf([]*Result{a, a})
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
	calm := &Result{Phases: map[string]PhaseStat{"lock": {MeanUS: 2, P50US: 2, Share: 1}}, Milestones: map[string]MilestoneStat{"poll": {1}}}
	wild := &Result{Failed: 4, Phases: map[string]PhaseStat{"lock": {MeanUS: 2, P50US: 2, Share: 0.2}, "backoff": {MeanUS: 8, P50US: 9, Share: 0.8}},
		Milestones: map[string]MilestoneStat{"poll": {0.2}, "asleep": {0.8}}}
	bare := &Result{}
	means := meansOf([]*Result{calm, wild})
	for path, want := range map[string]float64{"failed": 2, "phases.backoff.mean_us": 4, "phases.backoff.share": 0.4, "milestones.asleep.share": 0.4, "phases.lock.p50_us": 2} {
		if m, ok := means[path]; !ok || m.Mean != want || m.N != 2 {
			t.Errorf("%s: %+v, want a mean of %g over 2 runs", path, m, want)
		}
	}
	if m, ok := means["phases.backoff.p50_us"]; ok {
		t.Errorf("a median of what one of two has: %+v", m)
	}
	if m, ok := meansOf([]*Result{bare, wild})["phases.backoff.mean_us"]; ok {
		t.Errorf("a mean over a run without attribution: %+v", m)
	}
	for _, pair := range [][2]*Result{{calm, wild}, {wild, calm}} {
		found := 0
		for _, d := range Compare(pair[0], pair[1]).Metrics {
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
	few := mustRun(t, small(Knobs{"threads": 1, "coroutines": 1, "duration_ns": "500us"}))
	if few.LatencyUS.P99 != 0 || few.LatencyUS.P90 == 0 {
		t.Fatalf("%d commits: %+v", few.Commits, few.LatencyUS)
	}
	want := fmt.Sprintf("p99 is not known: it takes 1000 commits, there are %d", few.Commits)
	many := &Result{Commits: 5000, LatencyUS: Latency{P50: 1, P90: 2, P99: 3}}
	sweep := func(r *Result) string { return (&SweepResult{Points: []SweepPoint{{Runs: []*Result{r}}}}).String() }
	for name, text := range map[string]string{"result": few.String(), "comparison": Compare(many, few).String()} {
		if !strings.Contains(text, want) {
			t.Errorf("%s: %q is not in\n%s", name, want, text)
		}
	}
	if text := sweep(few); !strings.Contains(text, " - ") || !strings.Contains(text, "p99 takes 1000") {
		t.Error(text)
	}
	if text := many.String() + Compare(many, many).String() + sweep(many); strings.Contains(text, "not known") || strings.Contains(text, "takes") {
		t.Errorf("nothing is missing, and yet:\n%s", text)
	}
	if text := (&Result{Commits: 12, LatencyUS: Latency{Mean: 3}}).Unknown(); !strings.Contains(text, "p50 is not known: it takes 20 commits, there are 12") {
		t.Error(text)
	}
	if text := (&Result{}).Unknown(); text != "" {
		t.Errorf("of nothing: %s", text)
	}
}

// memCache is a Cache for tests.
type memCache map[string]*Result

func (c memCache) Get(key string) (*Result, bool) { r, ok := c[key]; return r, ok }

func (c memCache) Put(key string, r *Result) error { c[key] = r; return nil }

func TestSweep(t *testing.T) {
	co, err := NewAxis("coroutines", []int{1, 4})
	if err != nil {
		t.Fatal(err)
	}
	commit, err := ParseAxis("phase.commit=one-sided,two-sided")
	if err != nil {
		t.Fatal(err)
	}
	spec := small(Knobs{"phase.lock": "one-sided", "duration_ns": "100us"})
	cache := memCache{}
	var calls []int
	o := SweepOptions{Seeds: 2, Cache: lockedCache{cache, make(chan struct{}, 1)}, Progress: func(done, total int) { calls = append(calls, done*100+total) }}
	r, err := Sweep(context.Background(), spec, []Axis{co, commit}, o)
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
	single := mustRun(t, must(spec.With(r.Points[2].Set)))
	if r.Points[2].Result().Digest != single.Digest {
		t.Error("a run of the sweep differs from the run alone")
	}
	again, err := Sweep(context.Background(), spec, []Axis{co, commit}, o)
	if err != nil || again.Points[0].Cached != 2 || again.Points[2].Means["throughput"] != r.Points[2].Means["throughput"] {
		t.Errorf("resumed: %+v, %v", again.Points[0], err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	o.Cache, o.Progress = nil, func(int, int) { cancel() }
	if part, err := Sweep(ctx, spec, []Axis{co}, o); err != context.Canceled || part == nil {
		t.Errorf("cancelled: %v", err)
	}
	_, err = Sweep(context.Background(), spec, []Axis{{"phase.commit", []any{"two-sided"}}}, SweepOptions{})
	if !IsSpecError(err) {
		t.Errorf("a sweep of illegal points alone: %v", err)
	}
}

// A sweep, and seeds, of a spec on hardware of its own run on that hardware.
func TestSweepKeepsItsHardware(t *testing.T) {
	p, err := fabric.LoadProfile("val")
	if err != nil {
		t.Fatal(err)
	}
	p.Number("wire.switch").Value *= 20
	spec := small(Knobs{"duration_ns": "50us"})
	own, plain := mustRun(t, spec.On(p)), mustRun(t, spec)
	if own.Digest == plain.Digest {
		t.Fatal("a slower switch changes nothing")
	}
	threads, err := NewAxis("threads", []int{2})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Sweep(context.Background(), spec.On(p), []Axis{threads}, SweepOptions{})
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
	var specs []Spec
	for _, n := range []int{1, 8, 4} {
		specs = append(specs, small(Knobs{"coroutines": n, "duration_ns": "50us"}))
	}
	var order []int
	o := SweepOptions{Parallel: 1, Each: func(at int, _ *Result) { order = append(order, at) }}
	results, err := RunAll(t.Context(), specs, o)
	if err != nil || !slices.Equal(order, []int{1, 2, 0}) {
		t.Fatalf("order %v, %v", order, err)
	}
	for i, r := range results {
		if want, err := Resolve(specs[i]); err != nil || !maps.Equal(r.Spec, want) {
			t.Errorf("result %d is of another spec: %v", i, err)
		}
	}
}

// lockedCache serialises a cache.
type lockedCache struct {
	c    memCache
	lock chan struct{}
}

func (l lockedCache) Get(key string) (*Result, bool) {
	l.lock <- struct{}{}
	defer func() { <-l.lock }()
	return l.c.Get(key)
}

func (l lockedCache) Put(key string, r *Result) error {
	l.lock <- struct{}{}
	defer func() { <-l.lock }()
	return l.c.Put(key, r)
}

func must(s Spec, err error) Spec {
	if err != nil {
		panic(err)
	}
	return s
}

func TestBadAxes(t *testing.T) {
	for _, tt := range []struct{ over, want string }{
		{"coroutine=1,2", "did you mean coroutines?"},
		{"coroutines", "must be KNOB=VALUE"},
		{"coroutines=1,x", "coroutines = x: must be a whole number"},
		{"coroutines=1,,2", "whole number"},
	} {
		if _, err := ParseAxis(tt.over); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.over, err)
		}
	}
}

func TestRunSeeds(t *testing.T) {
	r, err := RunSeeds(context.Background(), small(Knobs{"duration_ns": "100us"}), 3, SweepOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m := r.Means["throughput"]
	if len(r.Runs) != 3 || m.N != 3 || m.Half95 <= 0 || r.Runs[1].Spec["seed"] != 2 {
		t.Errorf("%+v", m)
	}
	if _, err := RunSeeds(context.Background(), small(Knobs{"seed": math.MaxInt}), 2, SweepOptions{}); !IsSpecError(err) || !strings.Contains(err.Error(), "the last of 2") {
		t.Errorf("seeds beyond what there are: %v", err)
	}
	if _, err := RunSeeds(context.Background(), small(nil), 0, SweepOptions{}); !IsSpecError(err) {
		t.Errorf("no seeds: %v", err)
	}
}

func TestRunIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var last int
	_, err := Run(ctx, small(Knobs{"duration_ns": "900ms"}), func(done, total int) {
		if done > last && done > 260 {
			cancel()
		}
		last = done
	})
	if err != context.Canceled {
		t.Error(err)
	}
}

// A run with the automatic intervals ends, is steady, and is as long as design.md wants.
func TestAutomaticIntervals(t *testing.T) {
	last := 0
	r, err := Run(context.Background(), small(Knobs{"warmup_ns": 0, "duration_ns": 0, "check": "off", "workload.accounts": 5000}), func(done, total int) {
		if done < last || total != progressTotal {
			t.Errorf("progress %d of %d after %d", done, total, last)
		}
		last = done
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Commits < autoCommits || r.FromNS < autoWarmupNS || float64(r.VirtualNS) < autoLatencies*1000*r.LatencyUS.Mean || last != progressTotal {
		t.Errorf("%d commits from %d ns in %d ns", r.Commits, r.FromNS, r.VirtualNS)
	}
	if !r.Steady || r.ThroughputCI95 > steadyCI {
		t.Errorf("not steady: %s", r.Unsteady)
	}
}

func TestRefusesWhatDoesNotFit(t *testing.T) {
	spec := Spec{Set: Knobs{"nodes": 64, "threads": 24, "workload.accounts": 10_000_000, "duration_ns": "1s"}}
	e, err := EstimateOf(spec)
	if err != nil {
		t.Fatal(err)
	}
	if free := availableMemory(); free == 0 || free > e.MemoryBytes {
		t.Skipf("%s are available", bytesText(free))
	}
	_, err = Open(spec)
	if !IsSpecError(err) || !strings.Contains(err.Error(), "memory") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}

func TestRunKey(t *testing.T) {
	a, _ := RunKey(Spec{Preset: "farm"})
	b, _ := RunKey(must(Spec{}.With(Knobs{"preset": "farm", "cache.bytes": "300MB"})))
	c, _ := RunKey(Spec{Preset: "farm", Set: Knobs{"seed": 2}})
	if a == "" || a != b || a == c {
		t.Errorf("keys %s %s %s", a, b, c)
	}
}

// TestNothingClaimed: where no transactions are judged, nothing is said about any.
func TestNothingClaimed(t *testing.T) {
	short := Knobs{"warmup_ns": 50_000, "duration_ns": 200_000, "workload.keys": 1000}
	for _, set := range []Knobs{{"workload": "micro-write"}, {"check": "off"}, {}} {
		for name, v := range short {
			set[name] = v
		}
		b, err := json.Marshal(mustRun(t, small(set)).Checks)
		if err != nil {
			t.Fatal(err)
		}
		claims := strings.Contains(string(b), "claimed") && strings.Contains(string(b), `"transactions":`)
		if want := len(set) == len(short); claims != want || strings.Contains(string(b), "anomal") != want {
			t.Errorf("%v: %s", set, b)
		}
	}
}

// TestRunWithoutChecks: it ends with its interval, undrained, and says nothing about tables.
func TestRunWithoutChecks(t *testing.T) {
	k := Knobs{"warmup_ns": 50_000, "duration_ns": 200_000, "check": "off"}
	r := mustRun(t, small(k))
	if r.VirtualNS != 200_000 || r.Commits == 0 || r.Checks.Mode != "off" || len(r.Checks.Invariants) != 0 {
		t.Errorf("%d ns, %d commits, checks %+v", r.VirtualNS, r.Commits, r.Checks)
	}
	k["check"] = "sampled"
	if c := mustRun(t, small(k)).Checks; !c.Passed() || !c.Invariants["replicas.equal"] {
		t.Errorf("with checks: %+v", c)
	}
}

// A comparison has intervals for the headline numbers, and where a side has none it says why.
func TestCompareIntervals(t *testing.T) {
	a := &Result{Throughput: 100, LatencyUS: Latency{P50: 10, P99: 40}, AbortRate: 0.1, RoundTripsPerTxn: 3,
		CI95: map[string]float64{"throughput": 0.03, "p50": 0.02, "p99": 0.1, "round_trips": 0}, NoCI95: map[string]string{"abort_rate": "still drifting: so it is"}}
	b := &Result{Throughput: 120, LatencyUS: Latency{P50: 12, P99: 44}, AbortRate: 0.2, RoundTripsPerTxn: 6,
		CI95: map[string]float64{"throughput": 0.04, "p50": 0.02, "abort_rate": 0.1, "round_trips": 0}, NoCI95: map[string]string{"p99": "too few independent batches: 3.1"}}
	c := Compare(a, b)
	want := map[string]Diff{
		"throughput": {Half95: 1.2 * 0.05}, "latency_us.p50": {Half95: 1.2 * math.Hypot(0.02, 0.02)}, "latency_us.p99": {Why: "of the second, too few independent batches: 3.1"},
		"abort_rate": {Why: "of the first, still drifting: so it is"}, "round_trips_per_txn": {},
	}
	for _, d := range c.Metrics {
		if w, ok := want[d.Metric]; ok {
			delete(want, d.Metric)
			if math.Abs(d.Half95-w.Half95) > 1e-12 || d.Why != w.Why {
				t.Errorf("%+v, want %+v", d, w)
			}
		}
	}
	a.CI95["abort_rate"], b.AbortRate, b.CI95["abort_rate"] = 0.1, 0, 0
	if text := Compare(a, b).String(); !strings.Contains(text, "-100.0 % (no interval: the second has none of it)") {
		t.Errorf("of no aborts:\n%s", text)
	}
	text := c.String()
	if len(want) > 0 || !strings.Contains(text, "+20.0 % (± 6.0)") || !strings.Contains(text, "+100.0 % (± 0.0)") || !strings.Contains(text, "no interval: of the first, still drifting") {
		t.Errorf("missing %v in\n%s", want, text)
	}
}

// A run has an interval, or the reason why not, for each of its headline numbers.
func TestResultIntervals(t *testing.T) {
	s := open(t, small(Knobs{"check": "off"}))
	advance(t, s, 300_000)
	s.Mark()
	advance(t, s, 3_000_000)
	r := s.Result()
	for _, key := range []string{"throughput", "p50", "p99", "abort_rate", "round_trips"} {
		share, ok := r.CI95[key]
		if why := r.NoCI95[key]; ok == (why != "") || ok && (share < 0 || share > 3) {
			t.Errorf("%s: ± %v, %q", key, share, why)
		}
	}
	if share := r.CI95["throughput"]; share == 0 || share != r.ThroughputCI95 {
		t.Errorf("± %v, %v: %v", share, r.ThroughputCI95, r.NoCI95)
	}
}
