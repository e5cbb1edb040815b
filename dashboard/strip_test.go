package dashboard

import (
	"slices"
	"strings"
	"testing"

	"drtmx/cluster/system"
	"drtmx/engine/experiment"
)

// names are those of the strip's knobs.
func (s *strip) names() (out []string) {
	for _, k := range s.Knobs {
		out = append(out, k.Name)
	}
	return out
}

// The strip has what all systems side by side can change live of their workload, and the coroutines. A ghost is none of
// them, and one system has no strip.
func TestStrip(t *testing.T) {
	f := newFake(t)
	h := Handler(f)
	of := func() (s strip) {
		t.Helper()
		getJSON(t, h, "/page/strip", &s)
		return s
	}
	if s := of(); len(s.Systems)+len(s.Knobs) > 0 {
		t.Errorf("of one system: %+v", s)
	}
	f.systems = append(f.systems, system.Snapshot{Sys: "b", Name: "other", Epoch: "e2"}, system.Snapshot{Sys: "c", Epoch: "e3", ForkedFrom: "a", ForkEpoch: "e1"})
	s := of()
	if want := []string{"workload.theta", "workload.hot", "workload.distributed", "coroutines", "txn.backoff_max_ns"}; len(s.Systems) != 2 || s.Systems[1] != (stripSystem{"b", "other"}) || !slices.Equal(s.names(), want) {
		t.Errorf("systems %v, knobs %v, want %v", s.Systems, s.names(), want)
	}
	if k := s.Knobs[3]; len(k.Values) != 2 || k.Values[0] != k.Values[1] || k.Doc == "" {
		t.Errorf("%+v", k)
	}
	f.each = map[string]experiment.Knobs{"b": {"coroutines": 3, "workload.theta": 0.5}} // hot has no effect there
	if s = of(); !slices.Equal(s.names(), []string{"workload.theta", "workload.distributed", "coroutines", "txn.backoff_max_ns"}) || len(s.Knobs[2].Values) != 2 || s.Knobs[2].Values[0] == s.Knobs[2].Values[1] {
		t.Errorf("knobs %v: %+v", s.names(), s.Knobs)
	}
	f.each["b"] = experiment.Knobs{"workload": "cycle"}
	if s = of(); len(s.Systems)+len(s.Knobs) > 0 {
		t.Errorf("with another workload: %+v", s)
	}
	f.each["b"] = experiment.Knobs{"workload": "ycsb"}
	f.spec.Workload = "ycsb"
	if s = of(); !slices.Equal(s.names(), []string{"workload.theta", "workload.write_share", "workload.nodes_per_txn", "coroutines", "txn.backoff_max_ns"}) {
		t.Errorf("of ycsb: %v", s.names())
	}
}

// Lines have the names of specs where these tell systems apart, and one label marks a change that went to both.
func TestSystemsByName(t *testing.T) {
	f := changed(t)
	f.systems[0].Name = "occ"
	f.systems = append(f.systems, system.Snapshot{Sys: "b", Name: "nowait", Epoch: "e2", KnobsVersion: 2})
	f.windows["b"], f.events["b"] = f.windows["a"], f.events["a"]
	h := Handler(f)
	for name, want := range map[string][2]string{"nowait": {"a: occ", "b: nowait"}, "occ": {"system a", "system b"}, "": {"system a", "system b"}} {
		f.systems[1].Name, f.systems[1].Epoch = name, "of "+name // another stamp
		var o struct {
			Series []struct {
				Name     string
				MarkLine struct{ Data []struct{ Name string } }
			}
		}
		getJSON(t, h, "/page/timeline?format=option&last=0&w=600&h=500", &o)
		if o.Series[0].Name != want[0] || o.Series[1].Name != want[1] {
			t.Errorf("%q: lines %s and %s", name, o.Series[0].Name, o.Series[1].Name)
		}
		labels := ""
		for _, m := range o.Series[0].MarkLine.Data {
			labels += strings.TrimSpace(m.Name) + ";"
		}
		if labels != "1;;" {
			t.Errorf("marks %q", labels)
		}
	}
}
