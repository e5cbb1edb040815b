package agent

import (
	"bytes"
	"path/filepath"
	"testing"

	"drtmx/cluster/session"
	"drtmx/cluster/system"
	"drtmx/cluster/system/systemtest"
	"drtmx/engine/experiment"
)

// A session in which machines crash and start again replays to its digest, a fork
// of it is the same system, and an agent with a machine down closes.
func TestSessionWithCrashesReplays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	spec := experiment.Spec{Workload: "micro-write", Set: experiment.Knobs{"nodes": 3, "threads": 2, "workload.keys": 1000, "window_ns": "50us", "check": "off"}}
	a, err := New(spec, Options{Paused: true, Session: path, Open: system.OpenEngine})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []experiment.Knobs{{"fault.crash": 1}, {"fault.crash": 2}, {"fault.restart": 1}, {"coroutines": 5}, {"fault.restart": 2}, {"fault.crash": 0}} {
		if err := a.Step(bg, "", 123_457); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Set(bg, "", k, "page"); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Step(bg, "", 300_000); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Set(bg, "", experiment.Knobs{"fault.crash": 0}, "page"); !experiment.IsSpecError(err) {
		t.Errorf("a machine that is down crashes: %v", err)
	}
	fork, err := a.Fork(bg, "a", nil, "page")
	if err != nil {
		t.Fatal(err)
	}
	systemtest.Eventually(t, "the fork has caught up", func() bool { return !stateOf(t, a, fork.Sys).CatchingUp })
	x, err := a.Result(bg, "a")
	if err != nil {
		t.Fatal(err)
	}
	y, err := a.Result(bg, fork.Sys)
	if err != nil {
		t.Fatal(err)
	}
	if x.Digest != y.Digest || x.Failed == 0 || x.Failed != y.Failed {
		t.Errorf("digest %s and %d errors, of the fork %s and %d", x.Digest, x.Failed, y.Digest, y.Failed)
	}
	b, err := a.Session(bg, "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := session.Replay(bg, bytes.NewReader(b), session.ReplayOptions{})
	if err != nil || !r.OK || r.Changes != 6 || r.Digest != x.Digest {
		t.Errorf("%+v, %v", r, err)
	}
}

// Machines that crashed are up again when the system begins again; one that was down
// from the start is down again, and so is one that the reset asks for.
func TestResetUndoesCrashes(t *testing.T) {
	for _, first := range []int{-1, 2} {
		spec := experiment.Spec{Workload: "micro-write", Set: experiment.Knobs{"nodes": 4, "threads": 1, "workload.keys": 1000, "check": "off", "fault.crash": first}}
		a, err := New(spec, Options{Paused: true, Open: system.OpenEngine})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		down := func(want int) {
			t.Helper()
			s, err := a.Spec(bg, "")
			if err != nil {
				t.Fatal(err)
			}
			v, err := experiment.Resolve(s)
			if err != nil || v["fault.crash"] != want {
				t.Errorf("began with %d down, after the reset %v (%v), want %d", first, v["fault.crash"], err, want)
			}
			if _, err := a.Set(bg, "", experiment.Knobs{"fault.crash": 1}, "page"); err != nil {
				t.Errorf("began with %d down: %v", first, err)
			}
		}
		crash := func(k experiment.Knobs) {
			t.Helper()
			if err := a.Step(bg, "", 20_000); err != nil {
				t.Fatal(err)
			}
			if _, err := a.Set(bg, "", k, "page"); err != nil {
				t.Fatal(err)
			}
		}
		crash(experiment.Knobs{"fault.crash": 1})
		crash(experiment.Knobs{"fault.crash": 0, "coroutines": 3})
		if err := a.Reset(bg, "", nil, nil, "page"); err != nil {
			t.Fatal(err)
		}
		down(first)
		if s, _ := a.Spec(bg, ""); s.Set["coroutines"] != 3 {
			t.Errorf("the reset lost a setting: %v", s.Set)
		}
		if err := a.Reset(bg, "", experiment.Knobs{"fault.crash": 3}, nil, "page"); err != nil {
			t.Fatal(err)
		}
		down(3)
		if err := a.Reset(bg, "", experiment.Knobs{"workload": "smallbank", "fault.crash": -1}, nil, "page"); err != nil {
			t.Fatal(err)
		}
	}
}
