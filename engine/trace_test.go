package engine

import (
	"strings"
	"testing"
)

func TestTraceShowsTransactions(t *testing.T) {
	for _, preset := range []string{"drtm+h", "fasst", "farm"} {
		s := open(t, small(Knobs{"preset": preset}))
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
				if sum > v.EndNS-v.BeginNS+0.01 {
					t.Errorf("%s: %s takes %g ns, its milestones %g", preset, v.Verb, v.EndNS-v.BeginNS, sum)
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
	if _, err := s.Trace(0); !IsSpecError(err) {
		t.Error(err)
	}
	raw := open(t, Spec{Workload: "micro-read", Set: Knobs{"nodes": 2, "threads": 1}})
	if _, err := raw.Trace(1); !IsSpecError(err) || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}
