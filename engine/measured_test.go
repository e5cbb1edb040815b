package engine

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/measure"
	"drtmx/engine/result"
)

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

// However short an interval is that a person asks for, it has enough spans for an interval.
func TestSpansOfShortRuns(t *testing.T) {
	s := open(t, small(experiment.Knobs{"duration_ns": 100_000, "check": "off"}))
	advance(t, s, 50_000)
	s.Mark()
	advance(t, s, 100_000)
	if n := len(s.meter.Spans.Closed); n < measure.ShortSpans {
		t.Errorf("%d spans", n)
	}
}

// A run's JSON has the contract's names.
func TestResultJSON(t *testing.T) {
	r := mustRun(t, small(experiment.Knobs{"phase.logging": "two-sided"}))
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

	var back result.Result
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if c := result.Compare(r, &back); len(c.Spec) != 0 {
		t.Errorf("a result read back differs from itself: %v", c.Spec)
	}
}

func TestRunIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var last int
	_, err := Run(ctx, small(experiment.Knobs{"duration_ns": "900ms"}), func(done, total int) {
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
	r, err := Run(context.Background(), small(experiment.Knobs{"warmup_ns": 0, "duration_ns": 0, "check": "off", "workload.accounts": 5000}), func(done, total int) {
		if done < last || total != ProgressTotal {
			t.Errorf("progress %d of %d after %d", done, total, last)
		}
		last = done
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Commits < autoCommits || r.FromNS < autoWarmupNS || float64(r.VirtualNS) < autoLatencies*1000*r.LatencyUS.Mean || last != ProgressTotal {
		t.Errorf("%d commits from %d ns in %d ns", r.Commits, r.FromNS, r.VirtualNS)
	}
	if !r.Steady || r.ThroughputCI95 > steadyCI {
		t.Errorf("not steady: %s", r.Unsteady)
	}
}

// TestNothingClaimed: where no transactions are judged, nothing is said about any.
func TestNothingClaimed(t *testing.T) {
	short := experiment.Knobs{"warmup_ns": 50_000, "duration_ns": 200_000, "workload.keys": 1000}
	for _, set := range []experiment.Knobs{{"workload": "micro-write"}, {"check": "off"}, {}} {
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
	k := experiment.Knobs{"warmup_ns": 50_000, "duration_ns": 200_000, "check": "off"}
	r := mustRun(t, small(k))
	if r.VirtualNS != 200_000 || r.Commits == 0 || r.Checks.Mode != "off" || len(r.Checks.Invariants) != 0 {
		t.Errorf("%d ns, %d commits, checks %+v", r.VirtualNS, r.Commits, r.Checks)
	}
	k["check"] = "sampled"
	if c := mustRun(t, small(k)).Checks; !c.Passed() || !c.Invariants["replicas.equal"] {
		t.Errorf("with checks: %+v", c)
	}
}

// A run has an interval, or the reason why not, for each of its headline numbers.
func TestResultIntervals(t *testing.T) {
	s := open(t, small(experiment.Knobs{"check": "off"}))
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

func spread(n int, f func(i int) float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = f(i)
	}
	return out
}
