package dashboard

import (
	"strings"
	"testing"

	"drtmx/engine"
)

// Every shipped spec has three steps, and each can be clicked in a system that
// was just started and after any other step.
func TestSteps(t *testing.T) {
	all, err := readSteps()
	if err != nil {
		t.Fatal(err)
	}
	bySpec := map[string]Steps{}
	for _, s := range all {
		bySpec[s.Spec] = s
	}
	live := map[string]bool{}
	for _, k := range engine.Registry() {
		live[k.Name] = k.Live
	}
	for _, name := range engine.SpecNames() {
		s, ok := bySpec[name]
		if !ok || len(s.Steps) != 3 {
			t.Errorf("spec %s has %d steps, want 3", name, len(s.Steps))
			continue
		}
		delete(bySpec, name)
		spec, err := engine.LoadSpec(name)
		if err != nil {
			t.Fatal(err)
		}
		starts := []engine.Spec{spec}
		for _, x := range s.Steps {
			if with, err := spec.With(x.Set); err == nil {
				starts = append(starts, with)
			}
		}
		for _, x := range s.Steps {
			x.complete(t)
			for n := range x.Set {
				if !live[n] {
					t.Errorf("%s: knob %s is not live", x.Button, n)
				}
			}
			for i, from := range starts {
				with, err := from.With(x.Set)
				if err == nil {
					_, err = engine.Resolve(with)
				}
				if err != nil {
					t.Errorf("%s after step %d: %v", x.Button, i, err)
				}
			}
		}
	}
	for name := range bySpec {
		t.Errorf("steps for %s, which is no shipped spec", name)
	}
}

func (x Step) complete(t *testing.T) {
	t.Helper()
	if !strings.HasSuffix(x.Question, "?") {
		t.Errorf("%q is no question", x.Question)
	}
	for name, v := range map[string]string{"hint": x.Hint, "button": x.Button, "thesis": x.Thesis, "section": x.Section} {
		if strings.TrimSpace(v) == "" {
			t.Errorf("%s: %s is missing", x.Question, name)
		}
	}
	if !strings.HasPrefix(x.Section, "§") {
		t.Errorf("section %q", x.Section)
	}
}
