package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/history"
	"drtmx/engine/result"
)

// strictRun is a run of which all snapshots are strict, how many contradictions of real time were found in it, and what breaks its claim; where
// a clock is skewed, other than that a snapshot lacks what had ended.
func strictRun(t *testing.T, set experiment.Knobs) (r *result.Result, realTime int, text string) {
	t.Helper()
	k := experiment.Knobs{"ts.freshness": "strict", "workload.mix.read-only": 60, "warmup_ns": "100us", "duration_ns": "2ms"}
	for name, v := range set { // order-free: fills a map
		k[name] = v
	}
	spec := versioned(k)
	if _, ok := set["cc"]; ok {
		spec.Preset = ""
	}
	r = mustRun(t, spec)
	for _, a := range r.Checks.Anomalies {
		if a.Kind == history.RealTime {
			realTime++
		}
		if _, skewed := set["fault.clock_skew"]; a.Breaks && !(skewed && a.Kind == history.RealTime) {
			text = a.Text
		}
	}
	return r, realTime, text
}

// brokenInvariants are those of a run, in order.
func brokenInvariants(r *result.Result) (names []string) {
	for name, ok := range r.Checks.Invariants { // order-free: sorted below
		if !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Strict serialisability is claimed where it holds: under DST where all clocks show one time, under TrueTime where none is worse than the drift.
// Elsewhere the checker shows that it does not hold, and that what is claimed does. A clock that is off by more than the drift breaks the bound on
// freshness, and nothing else.
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
		{experiment.Knobs{"ts.scheme": "dst", "ts.clock_drift_ns": 0, "fault.clock_skew": "-100us"}, history.Serializable, false},
	} {
		shown, unfresh := 0, 0
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
				r, n, broken := strictRun(t, k)
				shown += n
				if r.Checks.Claimed != x.claims || broken != "" {
					t.Errorf("%v: claims %s, want %s: %s", k, r.Checks.Claimed, x.claims, broken)
				}
				_, skewed := x.set["fault.clock_skew"]
				switch list := brokenInvariants(r); { // the workload's bound is broken with the scheme's
				case skewed && slices.Equal(list, []string{"registers.fresh", "snapshots.staleness"}) || skewed && slices.Equal(list, []string{"snapshots.staleness"}):
					unfresh++
				case len(list) > 0:
					t.Errorf("%v: broken are %v", k, list)
				}
				if x.claims == history.StrictSerializable && n > 0 {
					t.Errorf("%v: %d contradictions of real time", k, n)
				}
			}
		}
		if t.Logf("%v: %d contradictions of real time", x.set, shown); x.shown && shown == 0 {
			t.Errorf("%v: nothing shows that more does not hold", x.set)
		}
		if _, skewed := x.set["fault.clock_skew"]; skewed && unfresh == 0 {
			t.Errorf("%v: no run breaks the bound on freshness", x.set)
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
		history.Serializable: {{"ts.scheme": "vts", "oracle": true, "ts.readers": true}, {"ts.scheme": "gts", "oracle": true}, {"ts.scheme": "truetime", "fault.clock_skew": 1},
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
	r, n, _ := strictRun(t, experiment.Knobs{"ts.scheme": "truetime", "ts.clock_drift_ns": "1us", "fault.clock_skew": "-300us"})
	if r.Checks.Claimed != history.Serializable || n == 0 {
		t.Errorf("claims %s, %d contradictions of real time", r.Checks.Claimed, n)
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
