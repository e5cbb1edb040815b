package engine

import (
	"strings"
	"testing"
)

func TestVerdictRule(t *testing.T) {
	busy := func(u float64) *Bottleneck { return &Bottleneck{Resource: "cpu", Node: 2, Utilization: u} }
	lost := func(share float64) *ContentionStat {
		return &ContentionStat{LostShare: share, Hot: []HotRecord{{Table: "checking", Key: 7}, {Table: "savings", Key: 3}}}
	}
	phases := map[string]PhaseStat{"execution": {Share: 0.3, RoundTrips: 1}, "lock": {Share: 0.4, RoundTrips: 1.2}, "logging": {Share: 0.3}, "other": {Share: 0.9}}
	for name, c := range map[string]struct {
		l        limits
		word, of string
		node     int
	}{
		"nothing ended":                  {limits{busiest: busy(1)}, "", "", -1},
		"full":                           {limits{ended: true, busiest: busy(0.97), phases: phases}, Saturated, "cpu", 2},
		"full, few conflicts":            {limits{ended: true, busiest: busy(0.97), contention: lost(0.2)}, Saturated, "cpu", 2},
		"two hot records, 82 % busy":     {limits{ended: true, busiest: busy(0.82), contention: lost(0.8)}, Contended, "checking/7, savings/3", -1},
		"nothing ended but conflicts":    {limits{busiest: busy(0.3), contention: lost(1)}, Contended, "checking/7, savings/3", -1},
		"one coroutine":                  {limits{ended: true, busiest: busy(0.35), phases: phases}, LatencyBound, "lock, execution", -1},
		"one coroutine, no transactions": {limits{ended: true, busiest: busy(0.35), trips: 1}, LatencyBound, "round trips", -1},
	} {
		v := c.l.verdict()
		switch {
		case v == nil && c.word == "":
		case v == nil || v.Word != c.word || v.Of != c.of || (v.Node != nil) != (c.node >= 0) || v.Node != nil && *v.Node != c.node:
			t.Errorf("%s: %+v, want %s of %s", name, v, c.word, c.of)
		case !strings.HasPrefix(v.Text, c.word+": "):
			t.Errorf("%s: %s", name, v.Text)
		}
	}
}

// planted are systems of which the limit is known.
var planted = []struct {
	name, word, of, workload string
	set                      Knobs
}{
	{"one coroutine", LatencyBound, "lock, execution", "smallbank", Knobs{"nodes": 3, "threads": 2, "coroutines": 1}},
	{"many coroutines", Saturated, "cpu", "smallbank", Knobs{"nodes": 3, "threads": 2, "coroutines": 16}},
	{"small READs from all cores", Saturated, "nic_tx", "micro-read", Knobs{"nodes": 3, "threads": 24, "coroutines": 12}},
	{"atomics from all cores", Saturated, "nic_atomic", "micro-atomic", Knobs{"nodes": 3, "threads": 24, "coroutines": 12}},
	{"eight hot records", Contended, "ring/", "cycle", Knobs{"nodes": 3, "threads": 2, "coroutines": 8, "workload.keys": 8}},
	{"eight hot records, locked by RPC", Contended, "ring/", "cycle", Knobs{"preset": "fasst", "nodes": 3, "threads": 2, "coroutines": 8, "workload.keys": 8}},
}

// The word is right where the limit is planted, in a result and in its windows, and hot records are told.
func TestVerdictOfPlantedLimits(t *testing.T) {
	for _, p := range planted {
		t.Run(p.name, func(t *testing.T) {
			s := open(t, Spec{Workload: p.workload, Set: p.set})
			for range 2 {
				if err := s.Advance(300_000); err != nil {
					t.Fatal(err)
				}
				if s.NowNS() == 300_000 {
					s.Mark()
				}
			}
			r := s.Result()
			if v := r.Limit; v == nil || v.Word != p.word || !strings.HasPrefix(v.Of, p.of) {
				t.Fatalf("%+v, want %s of %s", v, p.word, p.of)
			}
			ws := s.Windows(0)
			if v := ws[len(ws)-1].Limit; v == nil || v.Word != p.word {
				t.Errorf("the last window says %+v", v)
			}
			if p.word == Contended {
				checkHot(t, r)
			}
		})
	}
}

// checkHot holds what a table of hot records has to say of a contended ring.
func checkHot(t *testing.T, r *Result) {
	t.Helper()
	c := r.Contention
	if c == nil || len(c.Hot) != 8 {
		t.Fatalf("%+v: 8 records are there", c)
	}
	conflicts, aborts := uint64(0), uint64(0)
	for _, h := range c.Hot {
		types := uint64(0)
		for _, n := range h.ByType {
			types += n
		}
		if h.Table != "ring" || h.Key > 7 || h.Conflicts == 0 || h.Over != 0 || types != h.Conflicts || h.LockWaitUS <= 0 {
			t.Errorf("%+v", h)
		}
		conflicts, aborts = conflicts+h.Conflicts, aborts+h.Aborts
	}
	// Aborts of a result count requests that ended; these count attempts as they end.
	if conflicts != c.Conflicts || aborts < r.Aborts/2 || aborts == 0 {
		t.Errorf("%d of %d conflicts and %d aborts are told, the result has %d", conflicts, c.Conflicts, aborts, r.Aborts)
	}
	if c.LostShare < 0.5 || c.LostShare > 1.05 {
		t.Errorf("%.2f of the time is lost", c.LostShare)
	}
}
