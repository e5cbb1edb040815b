package web

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"drtmx/cluster/agent"
	"drtmx/cluster/agent/agenttest"
	"drtmx/cluster/system/systemtest"
	"drtmx/engine/experiment"
)

// A change of several systems is one of all or of none, also over HTTP.
func TestSetEach(t *testing.T) {
	agent, err := agent.New(systemtest.SideBySide(), agent.Options{Paused: true})
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	server := web(t, agent, Options{})
	value := func(sys, name string) any {
		t.Helper()
		s, err := agent.Spec(context.Background(), sys)
		if err != nil {
			t.Fatal(err)
		}
		v, err := experiment.Resolve(s)
		if err != nil {
			t.Fatal(err)
		}
		return v[name]
	}
	both := []string{"a", "b"}
	list, err := agent.SetEach(context.Background(), both, experiment.Knobs{"coroutines": 1}, "page")
	if err != nil || len(list) != 2 || value("a", "coroutines") != 1 || value("b", "coroutines") != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	// hybrid could lock one-sided, messages commits two-sided and cannot
	for _, bad := range []experiment.Knobs{{"phase.lock": "one-sided"}, {"coroutines": 1000}, {"nodez": 1}, {"nodes": 5}, {}} {
		if _, err := agent.SetEach(context.Background(), both, bad, "page"); !experiment.IsSpecError(err) || value("a", "phase.lock") != "auto" {
			t.Errorf("%v: %v, lock of a %v", bad, err, value("a", "phase.lock"))
		}
	}
	if _, err := agent.SetEach(context.Background(), []string{"a", "x"}, experiment.Knobs{"coroutines": 2}, "page"); err == nil || value("a", "coroutines") != 1 {
		t.Errorf("of a system that is not there: %v, a has %v", err, value("a", "coroutines"))
	}
	patch := func(query, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequest(http.MethodPatch, server.URL+"/api/knobs?"+query, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text)
	}
	if code, text := patch("sys=a&sys=b", `{"coroutines": 2}`); code != 200 || !strings.Contains(text, `"a":{`) || !strings.Contains(text, `"b":{`) || value("b", "coroutines") != 2 {
		t.Errorf("%d %s", code, text)
	}
	if code, text := patch("sys=a&sys=b", `{"phase.lock": "one-sided"}`); code != 400 || strings.Count(strings.TrimSpace(text), "\n") != 0 {
		t.Errorf("%d %s", code, text)
	}
	if code, text := patch("sys=b", `{"coroutines": 1}`); code != 200 || !strings.HasPrefix(text, `{"`) || value("a", "coroutines") != 2 {
		t.Errorf("%d %s", code, text)
	}
}

// Between the look whether all systems accept a change and the change itself none goes on, so nothing can come between.
func TestSetEachLeavesNoGap(t *testing.T) {
	a := agenttest.Several(t, systemtest.Options{}, systemtest.Options{})
	if err := a.Resume(context.Background(), ""); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i, order := range [][]string{{"a", "b"}, {"b", "a", "b"}} {
		wg.Go(func() {
			for n := range 50 {
				if _, err := a.SetEach(context.Background(), order, experiment.Knobs{"coroutines": 1 + n%3 + 4*i}, "page"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	x, err := a.Spec(context.Background(), "a")
	y, err2 := a.Spec(context.Background(), "b")
	if err != nil || err2 != nil || x.Set["coroutines"] != y.Set["coroutines"] {
		t.Errorf("%v and %v after the same changes, %v %v", x.Set["coroutines"], y.Set["coroutines"], err, err2)
	}
	if now := agenttest.State(t, a, "a"); now.KnobsVersion != 101 {
		t.Errorf("version %d, want 101: each change made one", now.KnobsVersion)
	}
}
