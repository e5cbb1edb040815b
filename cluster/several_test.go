package cluster

import (
	"strings"
	"testing"
	"time"

	"drtmx/cluster/agent"
	"drtmx/cluster/system/systemtest"
	"drtmx/engine/experiment"
)

// Up of a spec that lists several opens all of them: the first is what it returns, and each is driven alone.
func TestUpOfSeveralSystems(t *testing.T) {
	up := Up(systemtest.SideBySide())
	defer up.Close()
	for where, c := range map[string]*Cluster{"here": up, "behind an address": Attach(up.Dashboard().URL)} {
		all := c.Systems()
		if len(all) != 2 || all[0].c.Sys() != "a" || all[1].c.Sys() != "b" || c.c.Sys() != "a" {
			t.Fatalf("%s: %d systems", where, len(all))
		}
		for i, want := range []string{"hybrid", "messages"} {
			s, err := all[i].c.State()
			if err != nil || s.Name != want || all[i].Spec().Name != want {
				t.Errorf("%s: system %d is %q of spec %q (%v)", where, i, s.Name, all[i].Spec().Name, err)
			}
		}
		a, b := all[0].Run(50*time.Microsecond), all[1].Run(50*time.Microsecond)
		if a.Raw.Spec["preset"] != "drtm+h" || b.Raw.Spec["preset"] != "fasst" || a.Raw.Commits == 0 || b.Raw.Commits == 0 {
			t.Errorf("%s: ran %v and %v", where, a.Raw.Spec["preset"], b.Raw.Spec["preset"])
		}
		if n := len(Compare(a, b).Raw.Spec); n == 0 {
			t.Errorf("%s: nothing differs", where)
		}
	}
	second := up.Systems()[1]
	second.Close() // ends it alone
	if n := len(up.Systems()); n != 1 {
		t.Errorf("%d systems", n)
	}
	up.Run(20 * time.Microsecond)
}

// One system that cannot be opened leaves none, and is named.
func TestSeveralSystemsOrNone(t *testing.T) {
	spec := systemtest.SideBySide()
	spec.Systems[1].Set = Knobs{"replicas": 8}
	if _, err := agent.New(spec, agent.Options{}); !experiment.IsSpecError(err) || !strings.HasPrefix(err.Error(), "system messages: replicas = 8: ") {
		t.Errorf("%v", err)
	}
	if _, err := StartAB(systemtest.SideBySide(), nil, nil); !experiment.IsSpecError(err) || !strings.HasPrefix(err.Error(), "systems = hybrid, messages: ") {
		t.Errorf("AB: %v", err)
	}
	fails(t, "systems = hybrid, messages: ", func() { Sweep(systemtest.SideBySide(), Axis{"coroutines", []int{1, 2}}) })
}
