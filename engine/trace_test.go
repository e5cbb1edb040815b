package engine

import (
	"context"
	"math"
	"strings"
	"testing"

	"drtmx/engine/experiment"
)

func TestTraceShowsTransactions(t *testing.T) {
	for _, preset := range []string{"drtm+h", "fasst", "farm"} {
		s := open(t, small(experiment.Knobs{"preset": preset}))
		advance(t, s, 100_000)
		from := float64(s.NowNS())
		ts, err := s.Trace(20)
		if err != nil {
			t.Fatal(err)
		}
		if len(ts) != 20 {
			t.Fatalf("%d transactions", len(ts))
		}
		seen := map[string]bool{}
		for i, x := range ts {
			if x.BeginNS < from || x.EndNS <= x.BeginNS || i > 0 && x.BeginNS < ts[i-1].BeginNS {
				t.Errorf("%s: transaction %d from %g to %g", preset, i, x.BeginNS, x.EndNS)
			}
			if x.Type == "" || x.Attempts < 1 || len(x.Phases) == 0 {
				t.Errorf("%+v", x)
			}
			waited := 0.0
			for _, w := range x.Waits {
				waited += w.NS
			}
			if math.Abs(waited-(x.EndNS-x.BeginNS)) > 0.01*waited {
				t.Errorf("%s: the waits of transaction %d add up to %g of %g ns", preset, i, waited, x.EndNS-x.BeginNS)
			}
			at := x.BeginNS
			for _, p := range x.Phases {
				if p.BeginNS != at && p.BeginNS < at || p.EndNS <= p.BeginNS {
					t.Errorf("%s: phase %+v after %g", preset, p, at)
				}
				at = p.EndNS
				seen[p.Phase] = true
			}
			for _, v := range x.Verbs {
				if v.BeginNS > x.EndNS && !v.Passive {
					t.Errorf("%s: %+v begins after the end at %g", preset, v, x.EndNS)
				}
				if v.BeginNS < x.BeginNS || v.EndNS < v.BeginNS || v.From != x.Machine || v.Bytes == 0 {
					t.Errorf("%s: %+v in a transaction of machine %d from %g", preset, v, x.Machine, x.BeginNS)
				}
				sum := 0.0
				for _, m := range v.Milestones {
					sum += m.NS
				}
				if len(v.Milestones) > 0 && math.Abs(sum-(v.EndNS-v.BeginNS)) > 0.001 || len(v.Milestones) == 0 && !v.Passive && v.Verb != "CAS" {
					t.Errorf("%s: %s takes %g ns, its milestones %g", preset, v.Verb, v.EndNS-v.BeginNS, sum)
				}
				if h := v.Handler; (h != nil) != (v.Verb == "rpc") || h != nil && (h.BeginNS <= v.BeginNS || h.EndNS < h.BeginNS || !v.Passive && h.EndNS >= v.EndNS) {
					t.Errorf("%s: %s from %g to %g, its handler %+v", preset, v.Verb, v.BeginNS, v.EndNS, h)
				}
				seen[v.Verb] = true
			}
		}
		for _, want := range []string{"execution", "lock", "logging", map[string]string{"drtm+h": "READ", "fasst": "rpc", "farm": "READ"}[preset]} {
			if !seen[want] {
				t.Errorf("%s: no %s in 20 transactions: %v", preset, want, seen)
			}
		}
	}
}

func TestTraceChangesNothing(t *testing.T) {
	a, b := open(t, small(nil)), open(t, small(nil))
	advance(t, a, 100_000)
	advance(t, b, 100_000)
	if _, err := a.Trace(5); err != nil {
		t.Fatal(err)
	}
	advance(t, b, a.NowNS()-b.NowNS())
	advance(t, a, 100_000)
	advance(t, b, 100_000)
	if a.Digest() != b.Digest() {
		t.Error("a traced run has another digest")
	}
}

func TestTraceRefuses(t *testing.T) {
	s := open(t, small(nil))
	if _, err := s.Trace(0); !experiment.IsSpecError(err) {
		t.Error(err)
	}
	if _, err := s.Trace(maxTraced + 1); !experiment.IsSpecError(err) || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.TraceWith(ctx, 5, nil); err != context.Canceled {
		t.Error(err)
	}
}

// Workloads without transactions are traced request by request.
func TestTraceShowsRequests(t *testing.T) {
	for _, set := range []experiment.Knobs{
		{"workload": "micro-read"}, {"workload": "micro-write", "opt.micro.pa": true}, {"workload": "micro-rpc", "workload.objects": 1}, {"workload": "octopus", "profile": "r74v"},
	} {
		set["nodes"], set["threads"], set["coroutines"] = 2, 1, 2
		s := open(t, experiment.Spec{Set: set})
		done := 0
		ts, err := s.TraceWith(context.Background(), 20, func(n, total int) { done = n })
		if err != nil || done < 20 {
			t.Fatal(err, done)
		}
		verbs := 0
		for i, x := range ts {
			if x.Attempts != 1 || x.Outcome != "committed" || i > 0 && x.BeginNS < ts[i-1].BeginNS {
				t.Errorf("%v: %+v", set["workload"], x)
			}
			for _, v := range x.Verbs {
				verbs++
				if v.BeginNS < x.BeginNS || v.BeginNS > x.EndNS {
					t.Errorf("%v: %+v in a request from %g to %g", set["workload"], v, x.BeginNS, x.EndNS)
				}
			}
		}
		if len(ts) != 20 || verbs < 20 {
			t.Errorf("%v: %d requests with %d verbs", set["workload"], len(ts), verbs)
		}
	}
}

// A handler that waits and work in the background are no transactions: those that are followed end, as all others do.
func TestTraceFollowsTransactionsAlone(t *testing.T) {
	for _, set := range []experiment.Knobs{
		{"cc": "rococo", "workload": "registers"}, {"cc": "2pl", "workload": "smallbank"}, {"ts.scheme": "dst", "workload": "registers"},
	} {
		set["nodes"], set["threads"], set["coroutines"] = 3, 2, 4
		s := open(t, experiment.Spec{Set: set})
		if err := s.Advance(200_000); err != nil {
			t.Fatal(err)
		}
		ts, err := s.Trace(60)
		if err != nil || len(ts) != 60 {
			t.Errorf("%v: %d transactions, %v", set, len(ts), err)
		}
	}
}
