package result

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
		v := c.l.Verdict()
		switch {
		case v == nil && c.word == "":
		case v == nil || v.Word != c.word || v.Of != c.of || (v.Node != nil) != (c.node >= 0) || v.Node != nil && *v.Node != c.node:
			t.Errorf("%s: %+v, want %s of %s", name, v, c.word, c.of)
		case !strings.HasPrefix(v.Text, c.word+": "):
			t.Errorf("%s: %s", name, v.Text)
		}
	}
}

func TestTripsInWords(t *testing.T) {
	for n, want := range map[float64]string{1: "1 round trip", 0.67: "0.67 round trips", 2.96: "3 round trips", 121.12: "121 round trips"} {
		if got := trips(n); got != want {
			t.Errorf("%g: %q, want %q", n, got, want)
		}
	}
}

// What ends in a short window can have taken longer than the window: nobody reads of 104 %.
func TestLostInWords(t *testing.T) {
	for share, want := range map[float64]string{0.5: "50 %", 0.994: "99 %", 0.995: "nearly all", 1.04: "nearly all"} {
		if got := lost(share); got != want {
			t.Errorf("%g: %q, want %q", share, got, want)
		}
	}
}
