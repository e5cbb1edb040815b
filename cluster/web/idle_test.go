package web

import (
	"net/http/httptest"
	"testing"

	"drtmx/cluster/agent"
	"drtmx/cluster/system"
	"drtmx/cluster/system/systemtest"
	"drtmx/engine/experiment"
)

// paused serves a real system that stands still.
func paused(t *testing.T, spec experiment.Spec) *httptest.Server {
	t.Helper()
	a, err := agent.New(spec, agent.Options{Paused: true, Open: system.OpenEngine})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return web(t, a, Options{})
}

// TestLiveChangeWithoutEffectIsRefused: a knob that does nothing before a change and after it is refused with the field, the value, the
// rule and the nearest knob that has an effect. Undo goes the same way and is not: what sets back to a value of this session passes, as
// does what another knob of the same change brings to life, and what is so already.
func TestLiveChangeWithoutEffectIsRefused(t *testing.T) {
	s := paused(t, systemtest.Tiny())
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

// TestForkAndResetWithoutEffectAreRefused, as live changes are. What sets a knob back to what it is by itself passes, as undoing an earlier
// reset does.
func TestForkAndResetWithoutEffectAreRefused(t *testing.T) {
	s := paused(t, systemtest.Tiny())
	const rule = "workload.payload = 16B: has no effect here: workload smallbank does not use it; leave it out"
	ask(t, s, "POST", "/api/systems", `{"fork": "a", "set": {"coroutines": 1, "workload.payload": 16}}`).want(t, 400, rule)
	reset := func(set string) reply {
		return ask(t, s, "POST", "/api/control", `{"action": "reset", "set": `+set+`}`)
	}
	reset(`{"workload.payload": 16}`).want(t, 400, rule)
	ask(t, s, "GET", "/api/state", "").want(t, 200, `"knobs_version":1`)
	reset(`{"fault.nic_slowdown": 4, "fault.nic_slowdown_node": 1}`).want(t, 200, "") // one brings the other to life
	reset(`{"fault.nic_slowdown": 1, "fault.nic_slowdown_node": 0}`).want(t, 200, "") // undone
	reset(`{"workload": "micro-read", "workload.payload": 16}`).want(t, 200, "")
	reset(`{"workload": "smallbank", "workload.payload": 32}`).want(t, 400, "workload.payload = 32B")
	reset(`{"workload": "smallbank", "workload.payload": 16}`).want(t, 200, "") // it stays as it was
}

// TestChangeOfSeveralSystems passes where the knob does something in one of them.
func TestChangeOfSeveralSystems(t *testing.T) {
	spec := systemtest.SideBySide()
	spec.Systems[1].Set = map[string]any{"fault.nic_slowdown": 2.0}
	s := paused(t, spec)
	ask(t, s, "PATCH", "/api/knobs?sys=a", `{"fault.nic_slowdown_node": 1}`).want(t, 400, "no RNIC is slow")
	ask(t, s, "PATCH", "/api/knobs?sys=a&sys=b", `{"fault.nic_slowdown_node": 1}`).want(t, 200, "")
}
