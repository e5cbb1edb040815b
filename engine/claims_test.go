package engine

import (
	"fmt"
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/history"
)

// strictRun is a run of which all snapshots are strict, and how many contradictions of real time were found in it.
func strictRun(t *testing.T, set experiment.Knobs) (claims history.Claim, realTime int, text string) {
	t.Helper()
	k := experiment.Knobs{"ts.freshness": "strict", "workload.mix.read-only": 60, "warmup_ns": "100us", "duration_ns": "2ms"}
	for name, v := range set { // order-free: fills a map
		k[name] = v
	}
	spec := versioned(k)
	if _, ok := set["cc"]; ok {
		spec.Preset = ""
	}
	r := mustRun(t, spec)
	for _, a := range r.Checks.Anomalies {
		if a.Kind == history.RealTime {
			realTime++
		}
		if a.Breaks {
			text = a.Text
		}
	}
	return r.Checks.Claimed, realTime, text
}

// Strict serialisability is claimed where it holds: under DST where all clocks show one time, under TrueTime where none is worse than the drift.
// Elsewhere the checker shows that it does not hold, and that what is claimed does.
func TestStrictIsClaimedWhereItHolds(t *testing.T) {
	hosts := []experiment.Knobs{{"cc": "occ"}, {"cc": "2pl", "2pl.deadlock": "wait-die"}, {"cc": "rococo", "replicas": 1}}
	for _, x := range []struct {
		set    experiment.Knobs
		claims history.Claim
		shown  bool // that more does not hold
	}{
		{experiment.Knobs{"ts.scheme": "dst", "ts.clock_drift_ns": 0}, history.StrictSerializable, false},
		{experiment.Knobs{"ts.scheme": "dst", "ts.clock_drift_ns": "200us", "duration_ns": "6ms"}, history.Serializable, true},
		{experiment.Knobs{"ts.scheme": "truetime", "ts.clock_drift_ns": 0}, history.StrictSerializable, false},
		{experiment.Knobs{"ts.scheme": "truetime", "ts.clock_drift_ns": "10us"}, history.StrictSerializable, false},
		{experiment.Knobs{"ts.scheme": "dst", "ts.clock_drift_ns": 0, "fault.clock_skew": "100us"}, history.Serializable, false},
	} {
		shown := 0
		for _, host := range hosts {
			if host["cc"] == "rococo" && x.set["ts.scheme"] != "dst" {
				continue // it hosts no other
			}
			for seed := range 2 {
				k := experiment.Knobs{"seed": seed + 1}
				for _, set := range []experiment.Knobs{x.set, host} {
					for name, v := range set { // order-free: names differ
						k[name] = v
					}
				}
				claims, n, broken := strictRun(t, k)
				shown += n
				if _, skewed := x.set["fault.clock_skew"]; claims != x.claims || broken != "" && !skewed {
					t.Errorf("%v: claims %s, want %s: %s", k, claims, x.claims, broken)
				}
				if x.claims == history.StrictSerializable && n > 0 {
					t.Errorf("%v: %d contradictions of real time", k, n)
				}
			}
		}
		if t.Logf("%v: %d contradictions of real time", x.set, shown); x.shown && shown == 0 {
			t.Errorf("%v: nothing shows that more does not hold", x.set)
		}
	}
	claim := func(set experiment.Knobs) history.Claim {
		v, err := experiment.Resolve(versioned(set))
		if err != nil {
			t.Fatal(err)
		}
		all, _ := experiment.ClaimsOf(v)
		return all
	}
	for want, sets := range map[history.Claim][]experiment.Knobs{
		history.SnapshotIsolation: {{"ts.scheme": "vts", "oracle": true}, {"ts.scheme": "vts", "oracle": true, "ts.stable": false}},
		history.Serializable:      {{"ts.scheme": "vts", "oracle": true, "ts.readers": true}, {"ts.scheme": "gts", "oracle": true}, {"ts.scheme": "truetime", "fault.clock_skew": 1},
			{"ts.scheme": "dst", "ts.clock_drift_ns": 0, "ts.freshness": "session"}, {"ts.scheme": "dst", "ts.clock_drift_ns": 0, "ts.freshness": "stale"},
			{"ts.scheme": "truetime", "ts.freshness": "session"}, {"ts.scheme": "truetime", "ts.freshness": "mixed"}},
		history.StrictSerializable: {{"ts.scheme": "dst", "ts.clock_drift_ns": 0, "ts.freshness": "strict"}, {"ts.scheme": "truetime", "ts.freshness": "strict"}},
	} {
		for _, set := range sets {
			if got := claim(set); got != want {
				t.Errorf("%v claims %s, want %s", set, got, want)
			}
		}
	}
}

// A strict snapshot under TrueTime with a clock that is worse than it knows lacks what was committed: its promise is broken, and reported.
func TestSkewUnderTrueTimeIsSeen(t *testing.T) {
	claims, n, _ := strictRun(t, experiment.Knobs{"ts.scheme": "truetime", "ts.clock_drift_ns": "1us", "fault.clock_skew": "-300us"})
	if claims != history.Serializable || n == 0 {
		t.Errorf("claims %s, %d contradictions of real time", claims, n)
	}
}

// What a scheme of timestamps loses in a crash is not recovered (5.2.5), so machines do not crash under one, at the start or later.
func TestNoCrashUnderTimestamps(t *testing.T) {
	for _, scheme := range []string{"dst", "gts", "vts", "truetime"} {
		set := experiment.Knobs{"ts.scheme": scheme, "oracle": scheme == "gts" || scheme == "vts"}
		s := open(t, versioned(set))
		for _, k := range []experiment.Knobs{{"fault.crash": 0}, {"fault.restart": 0}} {
			name := "fault.crash"
			if _, ok := k[name]; !ok {
				name = "fault.restart"
			}
			for what, err := range map[string]error{"live": s.Check(k), "at the start": fails(set, k)} {
				says := fmt.Sprint(err)
				if !experiment.IsSpecError(err) || !strings.Contains(says, name+" = 0: ") || name == "fault.crash" && (!strings.Contains(says, "ts.scheme="+scheme) || !strings.Contains(says, "leave it at -1")) {
					t.Errorf("%s, %v %s: %v", scheme, k, what, err)
				}
			}
		}
	}
}

func fails(a, b experiment.Knobs) error {
	k := experiment.Knobs{}
	for _, set := range []experiment.Knobs{a, b} {
		for name, v := range set { // order-free: names differ
			k[name] = v
		}
	}
	_, err := experiment.Resolve(versioned(k))
	return err
}
