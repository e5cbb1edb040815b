package engine

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/engine/txn"
	"drtmx/engine/workload/tpcc"
)

// workload.remote sets both of TPC-C's probabilities, single ones of the same change win, and it reads what they say.
func TestRemoteOfTPCC(t *testing.T) {
	type read struct{ remote, line, payment int }
	of := func(v experiment.Knobs) read {
		return read{v.Int("workload.remote"), v.Int("workload.remote.order_line"), v.Int("workload.remote.payment")}
	}
	spec := company("tpcc", nil)
	s := open(t, spec)
	for _, x := range []struct {
		set  experiment.Knobs
		want read
	}{
		{nil, read{-1, 10, 150}},
		{experiment.Knobs{"workload.remote": 500}, read{500, 500, 500}},
		{experiment.Knobs{"workload.remote": -1}, read{500, 500, 500}},
		{experiment.Knobs{"workload.remote.payment": 20}, read{-1, 500, 20}},
		{experiment.Knobs{"workload.remote": -1}, read{-1, 500, 20}},
		{experiment.Knobs{"workload.remote.order_line": 20}, read{20, 20, 20}},
		{experiment.Knobs{"workload.remote": 0, "workload.remote.payment": 7}, read{-1, 0, 7}},
		{experiment.Knobs{"workload.remote": "1000"}, read{1000, 1000, 1000}},
	} {
		var err error
		if spec, err = spec.With(x.set); err != nil {
			t.Fatal(err)
		}
		v, err := experiment.Resolve(spec)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Set(x.set, ""); err != nil {
			t.Fatal(err)
		}
		if of(v) != x.want || of(s.values) != x.want {
			t.Errorf("%v: a spec has %v, a system that runs %v, want %v", x.set, of(v), of(s.values), x.want)
		}
		short, err := experiment.SpecOf("", v)
		if err != nil {
			t.Fatal(err)
		}
		for _, again := range []experiment.Spec{short, {Set: v}} {
			if w, err := experiment.Resolve(again); err != nil || !reflect.DeepEqual(v, w) {
				t.Errorf("%v became %v: %v", x.set, of(w), err)
			}
		}
	}
	var active []string
	for _, kind := range experiment.Workloads {
		w := kind.Name
		list, err := experiment.Describe(experiment.Spec{Workload: w})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range list {
			if k.Name == "workload.remote" && k.Active {
				active = append(active, w)
			}
		}
	}
	if !reflect.DeepEqual(active, []string{"tpcc"}) {
		t.Errorf("workload.remote is active with %v", active)
	}
}

// Fewer districts make new-orders meet more often, more take more memory, and the twelve conditions hold.
func TestDistrictsOfAWarehouse(t *testing.T) {
	aborts, bytes := 2.0, int64(0)
	for _, n := range []int{1, 2, 10} {
		spec := company("tpcc-no", experiment.Knobs{"workload.items": 20_000, "workload.districts": n})
		r, err := Run(context.Background(), spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Checks.Passed() {
			t.Errorf("%d districts: %+v", n, r.Checks)
		}
		if r.AbortRate >= aborts {
			t.Errorf("%d districts: %.3f of the attempts abort, %.3f with fewer", n, r.AbortRate, aborts)
		}
		e, err := experiment.EstimateOf(spec)
		if err != nil {
			t.Fatal(err)
		}
		if e.MaxMemoryBytes <= bytes {
			t.Errorf("%d districts: %d bytes, %d with fewer", n, e.MaxMemoryBytes, bytes)
		}
		aborts, bytes = r.AbortRate, e.MaxMemoryBytes
	}
}

// Anomalies name records by their tables and transactions by their types: of what is
// published, which ignores aborts, a person learns whose update is lost.
func TestAnomaliesNameTables(t *testing.T) {
	r := mustRun(t, small(experiment.Knobs{"workload": "tpcc-no", "workload.variant": "as-published", "workload.customers": 300, "workload.items": 2_000}))
	if r.Checks.Passed() || len(r.Checks.Anomalies) == 0 {
		t.Fatalf("%+v", r.Checks)
	}
	for _, a := range r.Checks.Anomalies {
		if !strings.Contains(a.Text, "stock/") && !strings.Contains(a.Text, "district/") && !strings.Contains(a.Text, "order") || !strings.Contains(a.Text, "(new-order)") {
			t.Errorf("%s", a.Text)
		}
	}
}

// A run names the preset where it plays a part.
func TestHeadNamesThePreset(t *testing.T) {
	for _, x := range []struct {
		workload, cc any
		want         string
	}{
		{"smallbank", nil, "smallbank on farm, val@1, seed 3\n"}, {"smallbank", "occ", "smallbank on farm, val@1, seed 3\n"},
		{"smallbank", "nowait", "smallbank on nowait with the primitives of farm, val@1, seed 3\n"}, {"micro-write", "nowait", "micro-write on val@1, seed 3\n"},
	} {
		r := result.Result{Spec: experiment.Knobs{"workload": x.workload, "cc": x.cc, "preset": "farm", "seed": 3}, Profile: "val@1"}
		if text := r.String(); !strings.HasPrefix(text, "run            "+x.want) {
			t.Errorf("%v under %v: %s", x.workload, x.cc, text)
		}
	}
}

// What of TPC-C's sums needs no cluster at rest is looked at in every window, and changes
// nothing; what is broken shows while the system runs, and is not forgotten by the end.
func TestSumsOfTPCCWhileItRuns(t *testing.T) {
	spec := small(experiment.Knobs{"workload": "tpcc", "workload.customers": 300, "workload.items": 2_000})
	s := open(t, spec)
	broken := func(c *result.Checks) bool {
		held, looked := c.Invariants["tpcc.1"]
		text := c.Violated["tpcc.1"] // says what has to hold, where it does not, and the numbers
		return looked && !held && c.Failed() && strings.Contains(text, "what its districts have (clause 3.3.2.1): warehouse 0 has taken ") && strings.Contains(text, "cents")
	}
	until := func(what string, yes func(c *result.Checks) bool) {
		t.Helper()
		for range 1_000 {
			advance(t, s, 20_000)
			if yes(s.Result().Checks) {
				return
			}
		}
		t.Fatalf("not within 20 ms: %s", what)
	}
	until("condition 1 holds", func(c *result.Checks) bool { return c.Invariants["tpcc.1"] && c.Passed() && c.AtDrain })
	if w := s.Windows(s.windows.Next - 1)[0]; !w.Checks.Invariants["tpcc.1"] || !w.Checks.AtDrain {
		t.Errorf("the window has %+v", w.Checks)
	}
	if err := s.AddTransaction("rogue", 5, func(tx *txn.Tx) error {
		v, err := tx.Update(tpcc.District, 3)
		if err == nil {
			v[0]++ // of what the district has taken
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	until("condition 1 is broken", broken)
	if w := s.Windows(s.windows.Next - 1)[0]; !broken(w.Checks) {
		t.Errorf("the window has %+v", w.Checks)
	}
	if err := s.Drain(); err != nil {
		t.Fatal(err)
	}
	if c := s.Result().Checks; !broken(c) || c.AtDrain || !c.Invariants["tpcc.2"] {
		t.Errorf("in the end: %+v", c)
	}
	off := open(t, small(experiment.Knobs{"workload": "tpcc", "workload.customers": 300, "workload.items": 2_000, "check": "off"}))
	advance(t, off, 200_000)
	if c := off.Result().Checks; c.Invariants != nil {
		t.Errorf("with check: off: %+v", c)
	}
}
