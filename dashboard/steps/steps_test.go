package steps

import (
	"math"
	"slices"
	"strings"
	"testing"

	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Every shipped spec has three steps at least, and each can be clicked in a system that
// was just started and after any other step.
func TestSteps(t *testing.T) {
	all, err := readSteps()
	if err != nil {
		t.Fatal(err)
	}
	bySpec := map[string]Offer{}
	for _, s := range all {
		bySpec[s.Spec] = s
	}
	live := map[string]bool{}
	for _, k := range experiment.Registry() {
		live[k.Name] = k.Live
	}
	for _, name := range experiment.SpecNames() {
		s, ok := bySpec[name]
		if !ok || len(s.Steps) < 3 {
			t.Errorf("spec %s has %d steps, want 3 at least", name, len(s.Steps))
			continue
		}
		delete(bySpec, name)
		spec, err := experiment.LoadSpec(name)
		if err != nil {
			t.Fatal(err)
		}
		systems, err := spec.Each()
		if err != nil {
			t.Fatal(err)
		}
		starts := slices.Clone(systems)
		for _, x := range s.Steps {
			for _, from := range systems {
				if with, err := from.With(x.Set); err == nil {
					starts = append(starts, with)
				}
			}
		}
		for _, x := range s.Steps {
			x.complete(t)
			for _, from := range systems {
				x.changesWhatItSays(t, from)
			}
			for n := range x.Set {
				if !live[n] {
					t.Errorf("%s: knob %s is not live", x.Button, n)
				}
			}
			for i, from := range starts {
				with, err := from.With(x.Set)
				if err == nil {
					_, err = experiment.Resolve(with)
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

// A step changes, from the start that it names, each of the knobs that it sets and no
// other but the switches that follow a primitive; one that chooses a preset does nothing else.
func (x Step) changesWhatItSays(t *testing.T, spec experiment.Spec) {
	t.Helper()
	if len(x.Start) == 0 {
		t.Errorf("%s names no start", x.Button)
	}
	if _, ok := x.Set["preset"]; ok && len(x.Set) > 1 {
		t.Errorf("%s chooses a preset and changes %v", x.Button, experiment.SortedNames(x.Set))
	}
	start, err := spec.With(x.Start)
	if err != nil {
		t.Fatal(err)
	}
	next, err := start.With(x.Set)
	if err != nil {
		t.Fatal(err)
	}
	before, err := experiment.Resolve(start)
	if err != nil {
		t.Fatal(err)
	}
	after, err := experiment.Resolve(next)
	if err != nil {
		t.Fatal(err)
	}
	_, preset := x.Set["preset"]
	for _, n := range experiment.SortedNames(after) {
		_, said := x.Set[n]
		if moved := before.Value(n) != after.Value(n); moved != said && !(moved && (preset || experiment.IsGroup(n) || experiment.IsSwitch(n))) {
			t.Errorf("%s: %s goes from %v to %v", x.Button, n, before.Value(n), after.Value(n))
		}
	}
}

// Two of the first three steps of the default spec at least move throughput or p50 by more
// than a tenth, each from its start: a newcomer sees something happen.
func TestDefaultStepsMove(t *testing.T) {
	if testing.Short() {
		t.Skip("runs six clusters; not in short mode")
	}
	spec, err := experiment.LoadSpec("")
	if err != nil {
		t.Fatal(err)
	}
	all, err := readSteps()
	if err != nil {
		t.Fatal(err)
	}
	steps := all[slices.IndexFunc(all, func(s Offer) bool { return s.Spec == spec.Name })].Steps
	measure := func(from experiment.Spec, sets ...experiment.Knobs) *result.Result {
		for _, set := range append(sets, experiment.Knobs{"warmup_ns": 400_000, "duration_ns": 1_000_000, "check": "off"}) {
			if from, err = from.With(set); err != nil {
				t.Fatal(err)
			}
		}
		r, err := engine.Run(t.Context(), from, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	moved := 0
	for _, x := range steps[:3] {
		a, b := measure(spec, x.Start), measure(spec, x.Start, x.Set)
		rate, p50 := 100*(b.Throughput/a.Throughput-1), 100*(b.LatencyUS.P50/a.LatencyUS.P50-1)
		t.Logf("%s: throughput %.2f M/s to %.2f M/s, %+.0f %%; p50 %.1f µs to %.1f µs, %+.0f %%", x.Button, a.Throughput/1e6, b.Throughput/1e6, rate, a.LatencyUS.P50, b.LatencyUS.P50, p50)
		if max(math.Abs(rate), math.Abs(p50)) > 10 {
			moved++
		}
	}
	if moved < 2 {
		t.Errorf("%d of the first three steps move throughput or p50 by more than 10 %%, want 2", moved)
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
