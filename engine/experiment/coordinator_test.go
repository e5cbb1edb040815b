package experiment

import (
	"strings"
	"testing"

	"drtmx/engine/txn"
)

// coordinator.scale is about what each protocol's own program and its reclaims take, and composes with what drtmx why makes
// faster.
func TestCoordinatorScale(t *testing.T) {
	resolved := func(cc string, set Knobs) Knobs {
		t.Helper()
		set["cc"], set["workload"] = cc, "registers" // which all protocols run
		v, err := Resolve(Spec{Set: set})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for i := range Protocols {
		name := Protocols[i].Name
		var none *Scaling
		if none.CostsInCode(resolved(name, Knobs{})) != nil {
			t.Errorf("%s: costs are scaled by default", name)
		}
		v, scaled := resolved(name, Knobs{txn.KnobCoordinator: 1.4}), 0
		scale := none.CostsInCode(v)
		for _, c := range Protocols[i].Costs() {
			want := 100
			if strings.HasPrefix(c.Name, "coordinator.") || c.Name == txn.CostReclaim {
				want = 140
				scaled++
			}
			if got := scale.Of(c.Name, 100); got != want || scale.Of(c.Name, 0) != 0 {
				t.Errorf("%s: %s: 100 becomes %d, want %d", name, c.Name, got, want)
			}
		}
		if scaled < 3 {
			t.Errorf("%s: only %d costs are its program's", name, scaled)
		}
		half := &Scaling{Factor: 0.5, Costs: map[string]bool{txn.CostReclaim: true}}
		if got := half.CostsInCode(v).Of(txn.CostReclaim, 100); got != 70 {
			t.Errorf("%s: both factors make %d of 100, want 70", name, got)
		}
	}
}
