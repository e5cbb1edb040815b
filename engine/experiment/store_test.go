package experiment

import (
	"encoding/json"
	"testing"

	"drtmx/engine/store"
)

// Specs name the unordered store by the knob's old name too, in whatever form they come: they are the same run.
func TestStoreIsUnordered(t *testing.T) {
	now, err := Spec{Workload: "smallbank"}.With(Knobs{store.UnorderedKnob: "drtm-kv"})
	if err != nil {
		t.Fatal(err)
	}
	set, err := Spec{Workload: "smallbank"}.With(Knobs{"store": "drtm-kv"})
	if err != nil {
		t.Fatal(err)
	}
	written, err := ParseSpec([]byte("workload: smallbank\nset:\n  store: drtm-kv\n"))
	if err != nil {
		t.Fatal(err)
	}
	var recorded Knobs
	if err := json.Unmarshal([]byte(`{"workload": "smallbank", "store": "drtm-kv"}`), &recorded); err != nil || recorded.Text(store.UnorderedKnob) != "drtm-kv" {
		t.Errorf("recorded values are %v: %v", recorded, err)
	}
	want, err := Resolve(now)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []Spec{set, written} {
		v, err := Resolve(spec)
		if err != nil || v.Text(store.UnorderedKnob) != "drtm-kv" || len(v) != len(want) {
			t.Errorf("%v: %v, %d knobs instead of %d", spec, err, len(v), len(want))
		}
		for k := range want { // order-free: each alone
			if v[k] != want[k] {
				t.Errorf("%s is %v, under its new name %v", k, v[k], want[k])
			}
		}
	}
}
