package explore

import (
	"context"
	"slices"
	"strings"
	"testing"

	"drtmx/engine"
	"drtmx/engine/experiment"
)

// tiny is the default spec with some knobs.
func tiny(t testing.TB, set experiment.Knobs) experiment.Spec {
	t.Helper()
	spec, err := DefaultSpec().With(set)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// shows runs a counterexample as a person would who has it in a file.
func shows(t *testing.T, x *Counterexample) {
	t.Helper()
	spec, err := experiment.ParseSpec([]byte(x.Spec.YAML()))
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.Run(context.Background(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := r.Checks
	said := append(c.Findings(), c.Why())
	for _, a := range c.Anomalies {
		said = append(said, a.Text)
	}
	if c.Passed() || !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, x.Text) }) {
		t.Errorf("the spec does not show %q but %q:\n%s", x.Text, said, x.Spec.YAML())
	}
}
