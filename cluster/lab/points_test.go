package lab

import (
	"encoding/json"
	"testing"

	"drtmx/cluster/keep"
	"drtmx/cluster/work"
	"drtmx/engine/experiment"
)

// Nothing is plugged in here, so all parts are this module's own.
func TestOwnPartsAreCounted(t *testing.T) {
	for _, x := range []struct {
		what      string
		have, say int
	}{
		{"ownProtocols", len(experiment.Protocols), ownProtocols}, {"ownStores", len(experiment.Stores), ownStores},
		{"ownOrdered", len(experiment.Ordered), ownOrdered}, {"ownWorkloads", len(experiment.Workloads), ownWorkloads},
	} {
		if x.have != x.say {
			t.Errorf("package experiment lists %d, %s says %d: a new part of this module is to be counted", x.have, x.what, x.say)
		}
	}
}

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
	v := values(nil)
	for knob, value := range map[string]string{"workload": "mine", "cc": "mine", "store": "mine", "store.ordered": "mine", "workload.dataset": "sosd:/tmp/keys"} {
		w := v.Clone()
		if w[knob] = value; portable(w) {
			t.Errorf("%s=%s is portable", knob, value)
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
