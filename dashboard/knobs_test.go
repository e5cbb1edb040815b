package dashboard

import (
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/fabric/profile"
)

// On every profile the page can ask for all numbers of the hardware; none is there twice, and each can be set.
func TestNumbersOfTheHardware(t *testing.T) {
	for _, profile := range profile.Names() {
		spec := experiment.Spec{Workload: "micro-rpc", Set: experiment.Knobs{"profile": profile, "hardware.cpu.dispatch": 11}}
		states, err := experiment.Describe(spec)
		if err != nil {
			t.Fatal(err)
		}
		n := len(states)
		if states, err = withNumbers(states, spec); err != nil {
			t.Fatalf("%s: %v", profile, err)
		}
		seen := map[string]bool{}
		for _, k := range states {
			if seen[k.Name] {
				t.Errorf("%s: %s is there twice", profile, k.Name)
			}
			seen[k.Name] = true
		}
		if len(states) < n+20 || !seen["hardware.cpu.dispatch"] {
			t.Errorf("%s: %d knobs, and %d numbers of the hardware", profile, n, len(states)-n)
		}
		for _, k := range states[n:] {
			next, err := spec.With(experiment.Knobs{k.Name: k.Value})
			if err == nil {
				_, err = experiment.Resolve(next)
			}
			if err != nil {
				t.Errorf("%s: %s cannot be set: %v", profile, k.Name, err)
			}
		}
	}
}
