package cluster

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drtmx/cluster/system/systemtest"
	"drtmx/engine/experiment"
)

// sideBySide is a small spec of two systems.
func sideBySide() Spec {
	s := tiny()
	s.Systems = []Spec{{Name: "hybrid"}, {Name: "messages", Preset: "fasst"}}
	return s
}

// Up of a spec that lists several opens all of them: the first is what it returns, and each is driven alone.
func TestUpOfSeveralSystems(t *testing.T) {
	up := Up(sideBySide())
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

// A live agent starts all systems together, and keeps them together. Each has its own session on the page: a file
// would have that of one.
func TestAgentOfSeveralSystems(t *testing.T) {
	spec := systemtest.Spec()
	for _, name := range []string{"one", "two", "three", "four"} {
		spec.Systems = append(spec.Systems, Spec{Name: name})
	}
	opened := map[string]int{}
	o := Options{Pace: 1_000_000, Open: systemtest.Opener(systemtest.Options{}), Progress: func(_ string, done, total int) {
		if done > total {
			t.Errorf("progress %d of %d", done, total)
		}
	}}
	file := o
	file.Session = filepath.Join(t.TempDir(), "session.jsonl")
	if _, err := NewAgent(spec, file); !experiment.IsSpecError(err) || !strings.Contains(err.Error(), "records one system, the spec lists 4") {
		t.Errorf("with a session file: %v", err)
	}
	a, err := NewAgent(spec, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	for _, s := range a.Systems() {
		opened[s.Sys+" "+s.Name]++
	}
	for _, want := range []string{"a one", "b two", "c three", "d four"} {
		if opened[want] != 1 {
			t.Errorf("systems %v, without %s", opened, want)
		}
	}
	systemtest.Eventually(t, "all move", func() bool {
		for _, s := range a.Systems() {
			if s.VirtualNS < 100_000 {
				return false
			}
		}
		return true
	})
	list := a.Systems()
	for _, s := range list {
		if gap := s.VirtualNS - list[0].VirtualNS; gap > 1_000_000 || gap < -1_000_000 {
			t.Errorf("%s is at %d, %s at %d", s.Sys, s.VirtualNS, list[0].Sys, list[0].VirtualNS)
		}
	}
}

// One system that cannot be opened leaves none, and is named.
func TestSeveralSystemsOrNone(t *testing.T) {
	spec := sideBySide()
	spec.Systems[1].Set = Knobs{"replicas": 8}
	if _, err := NewAgent(spec, Options{}); !experiment.IsSpecError(err) || !strings.HasPrefix(err.Error(), "system messages: replicas = 8: ") {
		t.Errorf("%v", err)
	}
	if _, err := StartAB(sideBySide(), nil, nil); !experiment.IsSpecError(err) || !strings.HasPrefix(err.Error(), "systems = hybrid, messages: ") {
		t.Errorf("AB: %v", err)
	}
	fails(t, "systems = hybrid, messages: ", func() { Sweep(sideBySide(), Axis{"coroutines", []int{1, 2}}) })
}

// A change of several systems is one of all or of none, also over HTTP.
func TestSetEach(t *testing.T) {
	up := Up(sideBySide())
	defer up.Close()
	agent := up.c.d.(*local).agent
	value := func(sys, name string) any {
		t.Helper()
		s, err := agent.Spec(bg, sys)
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
	list, err := agent.SetEach(bg, both, Knobs{"coroutines": 1}, "page")
	if err != nil || len(list) != 2 || value("a", "coroutines") != 1 || value("b", "coroutines") != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	// hybrid could lock one-sided, messages commits two-sided and cannot
	for _, bad := range []Knobs{{"phase.lock": "one-sided"}, {"coroutines": 1000}, {"nodez": 1}, {"nodes": 5}, {}} {
		if _, err := agent.SetEach(bg, both, bad, "page"); !experiment.IsSpecError(err) || value("a", "phase.lock") != "auto" {
			t.Errorf("%v: %v, lock of a %v", bad, err, value("a", "phase.lock"))
		}
	}
	if _, err := agent.SetEach(bg, []string{"a", "x"}, Knobs{"coroutines": 2}, "page"); err == nil || value("a", "coroutines") != 1 {
		t.Errorf("of a system that is not there: %v, a has %v", err, value("a", "coroutines"))
	}
	patch := func(query, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequest(http.MethodPatch, up.Dashboard().URL+"api/knobs?"+query, strings.NewReader(body))
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
