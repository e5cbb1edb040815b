package engine

import (
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// The word is right where the limit is planted, in a result and in its windows, and hot records are told.
func TestVerdictOfPlantedLimits(t *testing.T) {
	for _, p := range planted {
		t.Run(p.name, func(t *testing.T) {
			s := open(t, experiment.Spec{Workload: p.workload, Set: p.set})
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
			if p.word == result.Contended {
				checkHot(t, r)
			}
		})
	}
}

// planted are systems of which the limit is known.
var planted = []struct {
	name, word, of, workload string
	set                      experiment.Knobs
}{
	{"one coroutine", result.LatencyBound, "lock, execution", "smallbank", experiment.Knobs{"nodes": 3, "threads": 2, "coroutines": 1}},
	{"many coroutines", result.Saturated, "cpu", "smallbank", experiment.Knobs{"nodes": 3, "threads": 2, "coroutines": 16}},
	{"small READs from all cores", result.Saturated, "nic_tx", "micro-read", experiment.Knobs{"nodes": 3, "threads": 24, "coroutines": 12}},
	{"atomics from all cores", result.Saturated, "nic_atomic", "micro-atomic", experiment.Knobs{"nodes": 3, "threads": 24, "coroutines": 12}},
	{"eight hot records", result.Contended, "ring/", "cycle", experiment.Knobs{"nodes": 3, "threads": 2, "coroutines": 8, "workload.keys": 8}},
	{"eight hot records, locked by RPC", result.Contended, "ring/", "cycle", experiment.Knobs{"preset": "fasst", "nodes": 3, "threads": 2, "coroutines": 8, "workload.keys": 8}},
}

// checkHot holds what a table of hot records has to say of a contended ring.
func checkHot(t *testing.T, r *result.Result) {
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
	// Each has a record. Aborts of a result count requests that ended; these count attempts as they end.
	if conflicts != c.Conflicts || aborts < r.Aborts*95/100 || aborts == 0 {
		t.Errorf("%d of %d conflicts and %d aborts are told, the result has %d", conflicts, c.Conflicts, aborts, r.Aborts)
	}
	if c.LostShare < 0.5 || c.LostShare > 1.05 {
		t.Errorf("%.2f of the time is lost", c.LostShare)
	}
}
