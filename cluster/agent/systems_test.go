package agent

import (
	"path/filepath"
	"strings"
	"testing"

	"drtmx/cluster/system/systemtest"
	"drtmx/engine/experiment"
)

// A live agent starts all systems together, and keeps them together. Each has its own session on the page: a file
// would have that of one.
func TestAgentOfSeveralSystems(t *testing.T) {
	spec := systemtest.Spec()
	for _, name := range []string{"one", "two", "three", "four"} {
		spec.Systems = append(spec.Systems, experiment.Spec{Name: name})
	}
	opened := map[string]int{}
	o := Options{Pace: 1_000_000, Open: systemtest.Opener(systemtest.Options{}), Progress: func(_ string, done, total int) {
		if done > total {
			t.Errorf("progress %d of %d", done, total)
		}
	}}
	file := o
	file.Session = filepath.Join(t.TempDir(), "session.jsonl")
	if _, err := New(spec, file); !experiment.IsSpecError(err) || !strings.Contains(err.Error(), "records one system, the spec lists 4") {
		t.Errorf("with a session file: %v", err)
	}
	a, err := New(spec, o)
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
