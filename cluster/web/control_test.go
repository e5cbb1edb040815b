package web

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"drtmx/cluster/agent"
	"drtmx/cluster/agent/agenttest"
	"drtmx/cluster/system"
	"drtmx/cluster/system/systemtest"
	"drtmx/engine/experiment"
)

// A command to all systems is one to those that can follow.
func TestFailedSystemDoesNotHoldUpTheOthers(t *testing.T) {
	a := agenttest.Several(t, systemtest.Options{FailAt: 1000}, systemtest.Options{})
	s := web(t, a, Options{})
	control := func(path, body string) reply { t.Helper(); return ask(t, s, "POST", "/api/control"+path, body) }
	if a.Step(context.Background(), "a", 2000) == nil {
		t.Fatal("a did not fail")
	}
	control("", `{"action":"step","virtual_ns":5000}`).want(t, 200, "")
	if now := agenttest.State(t, a, "b"); now.VirtualNS != 5000 || now.State != system.StatePaused {
		t.Errorf("after a step of all: %+v", now)
	}
	control("", `{"action":"resume"}`).want(t, 200, "")
	if now := agenttest.State(t, a, "b"); now.State != system.StateRunning {
		t.Errorf("after a resume of all: %+v", now)
	}
	for _, action := range []string{`{"action":"resume"}`, `{"action":"step","virtual_ns":5000}`} {
		control("?sys=a", action).want(t, 409, "system a has failed")
	}
	if err := a.CloseSystem("b"); err != nil {
		t.Fatal(err)
	}
	for _, action := range []string{`{"action":"resume"}`, `{"action":"step","virtual_ns":5000}`} {
		control("", action).want(t, 409, "system a has failed")
	}
}

// during begins a request, waits until time passes in the system, does
// something else and returns the answer.
func during(t *testing.T, a *agent.Agent, s *httptest.Server, sys, path, body string, f func()) reply {
	t.Helper()
	from := agenttest.State(t, a, sys).VirtualNS
	answer := make(chan reply, 1)
	go func() { answer <- ask(t, s, "POST", path+"?sys="+sys, body) }()
	systemtest.Eventually(t, "time passes", func() bool { return agenttest.State(t, a, sys).VirtualNS > from })
	f()
	select {
	case r := <-answer:
		return r
	case <-time.After(10 * time.Second):
		a.Close() // else the server waits for the answer
		t.Fatal("no answer")
		return reply{}
	}
}

// Time stands once a pause is answered, also in a step, whose caller is told that it
// did not get what it asked for.
func TestPauseEndsAStep(t *testing.T) {
	a := agenttest.Several(t, systemtest.Options{Slow: time.Millisecond})
	s := web(t, a, Options{})
	var stood int64
	during(t, a, s, "a", "/api/control", longStep, func() {
		ask(t, s, "POST", "/api/control", `{"action":"pause"}`).want(t, 200, `"state":"paused"`)
		stood = agenttest.State(t, a, "a").VirtualNS
	}).want(t, 409, "system a was paused at ")
	time.Sleep(20 * time.Millisecond)
	if now := agenttest.State(t, a, "a"); now.VirtualNS != stood || now.State != system.StatePaused {
		t.Errorf("paused at %d, then %+v", stood, now)
	}
	if err := a.Step(context.Background(), "a", 1000); err != nil {
		t.Errorf("the next step: %v", err)
	}
}

// A run is held by a pause, and ends where it would have ended, with what it would
// have measured; then the system stands, or goes on, as before the run.
func TestPauseHoldsARun(t *testing.T) {
	const body, end = `{"virtual_ns":100000000}`, 100_000_000
	unheld := ask(t, web(t, agenttest.Several(t, systemtest.Options{}), Options{}), "POST", "/api/run", body)
	for _, goesOn := range []bool{false, true} {
		slices, release := systemtest.Slowly()
		a := agenttest.Several(t, systemtest.Options{Hang: slices})
		t.Cleanup(release) // before the agent ends
		s := web(t, a, Options{})
		r := during(t, a, s, "a", "/api/run", body, func() {
			if goesOn { // as of a cluster that runs by itself
				ask(t, s, "POST", "/api/control", `{"action":"resume"}`).want(t, 200, "")
			}
			for range 2 {
				ask(t, s, "POST", "/api/control", `{"action":"pause"}`).want(t, 200, `"state":"paused"`)
			}
			stood := agenttest.State(t, a, "a")
			ask(t, s, "POST", "/api/control", longStep).want(t, 409, "is in a run that is paused; resume it")
			time.Sleep(20 * time.Millisecond)
			if now := agenttest.State(t, a, "a"); now != stood || !now.Held || now.VirtualNS >= end {
				t.Errorf("paused at %+v, then %+v", stood, now)
			}
			ask(t, s, "POST", "/api/control", `{"action":"resume"}`).want(t, 200, `"state":"running"`)
			release()
		}).want(t, 200, "")
		if !goesOn && r.body != unheld.body {
			t.Errorf("held\n%s\nnot held\n%s", r.body, unheld.body)
		}
		if goesOn {
			systemtest.Eventually(t, "it goes on", func() bool { return agenttest.State(t, a, "a").VirtualNS > end })
		} else if now := agenttest.State(t, a, "a"); now.State != system.StatePaused || now.Held || now.VirtualNS != end {
			t.Errorf("after the run: %+v", now)
		}
	}
}

// What another client did to a system is a conflict, not a fault of the server.
func TestWhatOthersEndIsAConflict(t *testing.T) {
	for path, body := range map[string]string{"/api/control": longStep, "/api/run": longRun} {
		a := agenttest.Several(t, systemtest.Options{Slow: time.Millisecond}, systemtest.Options{Slow: time.Millisecond})
		s := web(t, a, Options{})
		during(t, a, s, "b", path, body, func() {
			ask(t, s, "POST", "/api/control?sys=b", `{"action":"reset"}`).want(t, 200, "")
		}).want(t, 409, "system b was reset")
		during(t, a, s, "b", path, body, func() {
			ask(t, s, "DELETE", "/api/systems?sys=b", "").want(t, 200, "")
		}).want(t, 409, "system b was closed")
		var err error
		done := make(chan struct{})
		go func() { defer close(done); err = a.Step(context.Background(), "a", 1_000_000_000_000) }()
		systemtest.Eventually(t, "time passes", func() bool { return agenttest.State(t, a, "a").VirtualNS > 0 })
		a.Close()
		if <-done; !errors.Is(err, agent.ErrClosed) {
			t.Errorf("when all is closed: %v", err)
		}
	}
}

// A trace of a system in which nothing ends any more, or too little, is a conflict
// with how it stands, and says what helps.
func TestTraceOfWhatDoesNotEndIsAConflict(t *testing.T) {
	spec := experiment.Spec{Workload: "micro-read", Set: experiment.Knobs{"servers": 1, "clients": 2, "threads": 1, "workload.keys": 1000, "check": "off"}}
	a, err := agent.New(spec, agent.Options{Paused: true, Open: system.OpenEngine})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	s := web(t, a, Options{})
	ask(t, s, "POST", "/api/trace", `{"txns":1}`).want(t, 200, `"outcome":"committed"`)
	for _, n := range []string{"1", "2"} {
		ask(t, s, "PATCH", "/api/knobs", `{"fault.crash":`+n+`}`).want(t, 200, "")
	}
	ask(t, s, "POST", "/api/trace", `{"txns":1}`).want(t, 409, "machine 2 is down: set fault.restart=2")
	ask(t, s, "PATCH", "/api/knobs", `{"fault.restart":2}`).want(t, 200, "")
	ask(t, s, "POST", "/api/trace", `{"txns":1}`).want(t, 200, `"outcome":"committed"`)
	ask(t, s, "POST", "/api/control", `{"action":"reset","set":{"fault.crash":-1,"clients.arrival":"open:1"}}`).want(t, 200, "")
	ask(t, s, "POST", "/api/trace", `{"txns":100}`).want(t, 409, "ask again, or for fewer")
	ask(t, s, "POST", "/api/trace", `{"txns":0}`).want(t, 400, "txns = 0")
}

const (
	longStep = `{"action":"step","virtual_ns":1000000000000}`
	longRun  = `{"virtual_ns":1000000000000}`
)
