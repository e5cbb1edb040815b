package web

import (
	"testing"

	"drtmx/cluster/agent"
	"drtmx/cluster/system"
	"drtmx/cluster/system/systemtest"
)

// TestLiveChangeWithoutEffectIsRefused: a knob that does nothing before a change and after it is refused with the field, the value, the
// rule and the nearest knob that has an effect. Undo goes the same way and is not: what sets back to a value of this session passes, as
// does what another knob of the same change brings to life, and what is so already.
func TestLiveChangeWithoutEffectIsRefused(t *testing.T) {
	a, err := agent.New(systemtest.Tiny(), agent.Options{Paused: true, Open: system.OpenEngine})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	s := web(t, a, Options{})
	set := func(body string) reply { return ask(t, s, "PATCH", "/api/knobs", body) }
	set(`{"workload.payload": 16}`).want(t, 400, "workload.payload = 16B: has no effect here: workload smallbank does not use it; leave it out")
	set(`{"fault.nic_slowdown_node": 1}`).want(t, 400, "fault.nic_slowdown_node = 1: has no effect here: fault.nic_slowdown is 1: no RNIC is slow; leave it out, or change what keeps it from working; fault.nic_slowdown has an effect")
	set(`{"coroutines": 3, "workload.payload": 16}`).want(t, 400, "workload.payload") // all or nothing
	ask(t, s, "GET", "/api/state", "").want(t, 200, `"knobs_version":1`)
	set(`{"workload.payload": "64B"}`).want(t, 200, `"version":1`) // as it is already

	set(`{"fault.nic_slowdown": 4, "fault.nic_slowdown_node": 1}`).want(t, 200, `"version":2`) // one brings the other to life
	set(`{"fault.nic_slowdown_node": 2}`).want(t, 200, `"version":3`)
	set(`{"fault.nic_slowdown": 1}`).want(t, 200, `"version":4`)
	set(`{"fault.nic_slowdown_node": 1}`).want(t, 200, `"version":5`) // what undo of the third version sends
	ask(t, s, "POST", "/api/systems", `{"fork": "a", "set": {"coroutines": 1}}`).want(t, 200, `"sys":"b"`)
	systemtest.Eventually(t, "the fork is level", func() bool { return ask(t, s, "PATCH", "/api/knobs?sys=b", `{"coroutines": 4}`).code == 200 })
	ask(t, s, "PATCH", "/api/knobs?sys=b", `{"fault.nic_slowdown_node": 2}`).want(t, 200, "") // its session is that of its parent
	ask(t, s, "PATCH", "/api/knobs?sys=a&sys=b", `{"workload.payload": 16}`).want(t, 400, "workload.payload")
}

// TestChangeOfSeveralSystems passes where the knob does something in one of them.
func TestChangeOfSeveralSystems(t *testing.T) {
	spec := systemtest.SideBySide()
	spec.Systems[1].Set = map[string]any{"fault.nic_slowdown": 2.0}
	a, err := agent.New(spec, agent.Options{Paused: true, Open: system.OpenEngine})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	s := web(t, a, Options{})
	ask(t, s, "PATCH", "/api/knobs?sys=a", `{"fault.nic_slowdown_node": 1}`).want(t, 400, "no RNIC is slow")
	ask(t, s, "PATCH", "/api/knobs?sys=a&sys=b", `{"fault.nic_slowdown_node": 1}`).want(t, 200, "")
}
