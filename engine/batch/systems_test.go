package batch

import (
	"context"
	"strings"
	"testing"

	"drtmx/engine"
	"drtmx/engine/experiment"
)

const rivals = `workload: registers
set: {workload.keys: 400}
systems:
  - {name: hybrid, set: {coroutines: 2}}
  - {name: remote, preset: drtm+r}
  - {name: "7", preset: fasst, workload: cycle}
`

// TestRunSystems: every system runs once, under its name, and is compared with the first.
func TestRunSystems(t *testing.T) {
	s, err := experiment.ParseSpec([]byte(rivals))
	if err != nil {
		t.Fatal(err)
	}
	if s, err = s.With(experiment.Knobs{"nodes": 3, "threads": 1, "warmup_ns": 60_000, "duration_ns": 240_000}); err != nil {
		t.Fatal(err)
	}
	r, err := RunSystems(context.Background(), s, SweepOptions{})
	if err != nil {
		t.Fatal(err)
	}
	list, _ := s.Each()
	for i, x := range r.Systems {
		alone := runOf(t, list[i])
		if x.Name != list[i].Name || x.Digest != alone.Digest || x.Commits == 0 {
			t.Errorf("system %d is %s with digest %s, alone %s", i, x.Name, x.Digest, alone.Digest)
		}
	}
	if len(r.Comparison) != 2 || r.Comparison[0].A != "hybrid" || r.Comparison[0].B != "remote" || r.Comparison[1].B != "7" {
		t.Fatalf("compared: %+v", r.Comparison)
	}
	for _, c := range r.Comparison {
		found := map[string]bool{}
		for _, d := range c.Spec {
			found[d.Knob] = true
		}
		if !found["preset"] || !found["coroutines"] || len(c.Metrics) < 10 || c.Metrics[0].Change == nil {
			t.Errorf("%s against %s: %v, %d numbers", c.B, c.A, c.Spec, len(c.Metrics))
		}
	}
	text := r.String()
	for _, want := range []string{"hybrid", "remote", "coroutines", "throughput ", " %"} {
		if !strings.Contains(text, want) {
			t.Errorf("without %q:\n%s", want, text)
		}
	}
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "workload ") && strings.Join(strings.Fields(line), " ") != "workload registers registers cycle" {
			t.Errorf("a system without a difference has the first one's value: %s", line)
		}
	}
}

// TestEqualSystems: equal ones share a run, and keep their names.
func TestEqualSystems(t *testing.T) {
	k := experiment.Knobs{"nodes": 3, "threads": 1, "warmup_ns": 20_000, "duration_ns": 50_000, "workload": "cycle"}
	r, err := RunSystems(context.Background(), experiment.Spec{Set: k, Systems: []experiment.Spec{{Name: "x"}, {Name: "y"}}}, SweepOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Systems[0].Name != "x" || r.Systems[1].Name != "y" || len(r.Comparison[0].Spec) != 0 || !strings.Contains(r.String(), "no knob differs") {
		t.Error(r)
	}
}

// TestOneSystemIsNeeded: what runs one system refuses several in a line.
func TestOneSystemIsNeeded(t *testing.T) {
	two := experiment.Spec{Systems: []experiment.Spec{{Name: "a"}, {Name: "b"}}}
	for name, f := range map[string]func() error{
		"Open": func() error { _, err := engine.Open(two); return err },
		"Run":  func() error { _, err := engine.Run(context.Background(), two, nil); return err },
		"Sweep": func() error {
			_, err := Sweep(context.Background(), two, []experiment.Axis{{Knob: "seed", Values: []any{1}}}, SweepOptions{})
			return err
		},
		"RunSeeds":      func() error { _, err := RunSeeds(context.Background(), two, 2, SweepOptions{}); return err },
		"MeasureCauses": func() error { _, err := MeasureCauses(context.Background(), two, CausesOptions{}); return err },
		"RunKey":        func() error { _, err := RunKey(two); return err },
	} {
		if err := f(); !experiment.IsSpecError(err) || !strings.HasPrefix(err.Error(), "systems = a, b: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
