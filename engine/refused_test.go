package engine

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/protocol/occ"
)

// Table 6-1: where records have versions, whoever locks, validates, installs or reads at a point does more than a verb can. Such a choice is
// refused under every scheme, when a system is opened and while it runs; other phases keep theirs.
func TestPhasesThatVersionsForbid(t *testing.T) {
	defaults, err := experiment.Resolve(versioned(nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, scheme := range experiment.Schemes.Names() {
		base := experiment.Knobs{"ts.scheme": scheme, "oracle": experiment.Schemes.Named(scheme).Traits(defaults).Oracle}
		s := open(t, versioned(base))
		for _, x := range []struct {
			phase, prim string
			also        experiment.Knobs // that another rule wants
			next        string           // "": it is allowed
		}{
			{"validation", "one-sided", nil, "two-sided or auto"},
			{"lock", "one-sided", experiment.Knobs{"phase.commit": "auto"}, "two-sided or auto"},
			{"commit", "one-sided", experiment.Knobs{"phase.lock": "auto"}, "two-sided or auto"},
			{"ro_read", "one-sided", nil, "two-sided, hybrid or auto"},
			{"ro_read", "hybrid", experiment.Knobs{"cache.enabled": true}, ""},
			{"logging", "one-sided", nil, ""},
		} {
			name := "phase." + x.phase
			set := experiment.Knobs{name: x.prim}
			maps.Copy(set, x.also)
			whole := base.Clone()
			maps.Copy(whole, set)
			_, err := experiment.Resolve(versioned(whole))
			for how, err := range map[string]error{"opened": err, "live": s.Check(set)} { // order-free: each is looked at by itself
				if x.next == "" {
					if err != nil {
						t.Errorf("%s, %v %s: %v", scheme, set, how, err)
					}
					continue
				}
				var e *experiment.SpecError
				if !errors.As(err, &e) || e.Field != name || e.Reset {
					t.Errorf("%s, %v %s: %v", scheme, set, how, err)
					continue
				}
				for _, want := range []string{name + " = " + x.prim + ": ", "records have versions under ts.scheme=" + scheme, "(section 5.3.2)", "set " + name + "=" + x.next + ", or ts.scheme=none"} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("%s, %v %s: %q is not in %q", scheme, set, how, want, err)
					}
				}
			}
		}
		if s.KnobsVersion() != 1 || len(s.Changes()) != 0 {
			t.Errorf("%s: a refused change left something behind", scheme)
		}
	}
	// Each of these phases may be one-sided without timestamps.
	for _, p := range occ.Phases {
		set := experiment.Knobs{"ts.scheme": "none", p.Knob(): "one-sided"}
		switch p.Name {
		case "lock":
			set["phase.commit"] = "one-sided"
		case "commit":
			set["phase.lock"] = "one-sided"
		}
		if _, err := experiment.Resolve(versioned(set)); err != nil {
			t.Errorf("%v: %v", set, err)
		}
	}
}
