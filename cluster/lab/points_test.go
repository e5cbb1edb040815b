package lab

import (
	"encoding/json"
	"testing"

	"drtmx/cluster/keep"
	"drtmx/cluster/work"
	"drtmx/engine/example/array"
	"drtmx/engine/example/counters"
	"drtmx/engine/example/serial"
	"drtmx/engine/example/sorted"
	"drtmx/engine/experiment"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

func TestWhatIsPortable(t *testing.T) {
	values := func(set experiment.Knobs) experiment.Knobs {
		t.Helper()
		v, err := experiment.Resolve(experiment.Spec{Set: set})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if !portable(values(nil)) || !portable(values(experiment.Knobs{"workload": "ycsb-c"})) {
		t.Error("a shipped spec stays here")
	}
	w := values(nil).Clone()
	if w["workload.dataset"] = "sosd:/tmp/keys"; portable(w) {
		t.Error("a file of this machine is portable")
	}
	experiment.Plug(txn.Kinds{serial.Kind}, store.Kinds{array.Kind}, store.Ordered{sorted.Kind}, workload.Parts{counters.Kind}, nil, nil)
	for _, set := range []experiment.Knobs{
		{"cc": "serial", "replicas": 1}, {"store": "array"}, {"workload": "counters"}, {"workload": "ycsb-c", "store.ordered": "sorted", "workload.keys": 10_000},
	} {
		if portable(values(set)) {
			t.Errorf("%v is portable", set)
		}
	}
}

// A point is what its spec resolves to, also after it went over the network.
func TestComputePointRefusesOthers(t *testing.T) {
	spec := experiment.Spec{Set: experiment.Knobs{"nodes": 2, "workload.theta": 0.5, "warmup_ns": "10us"}}
	if _, err := experiment.Resolve(spec); err != nil {
		spec.Set = experiment.Knobs{"nodes": 2, "replicas": 1, "warmup_ns": "10us", "duration_ns": "20us"}
	}
	v, err := experiment.Resolve(spec)
	if err != nil {
		t.Fatal(err)
	}
	p, err := pointOf(spec, v)
	if err != nil {
		t.Fatal(err)
	}
	body, err := Compute(t.Context(), p, func() {})
	if r, ok := keep.ReadResult(body); err != nil || !ok || r.Digest == "" {
		t.Fatalf("%v", err)
	}
	for name, text := range map[string]string{"another spec": `{"set":{"nodes":3}}`, "no spec": `[]`, "a field too many": `{"extra":1}`, "a knob that is none": `{"set":{"nodez":3}}`} {
		q := p
		q.Spec = json.RawMessage(text)
		if _, err := Compute(t.Context(), q, func() {}); !isRefusal(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func isRefusal(err error) bool {
	_, ok := err.(*work.Refusal)
	return ok
}
