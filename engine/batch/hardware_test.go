package batch

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/knob"
)

// Whatever form a spec takes, its numbers come back, and the same system with them.
func TestHardwareRoundTrips(t *testing.T) {
	s, err := experiment.Spec{Workload: "micro-read", Set: experiment.Knobs{"nodes": 2, "threads": 1, "coroutines": 1, "check": "off"}}.With(experiment.Knobs{
		"hardware.nic.qp_contexts": "4k", "hardware.wire.switch": "0.5us", "hardware.wire.bandwidth": "200Gbps",
		"hardware.wire.mtu": "2048B", "hardware.node_types.val.llc": "45MB", "hardware.node_types.val.frequency": "3000MHz", "hardware.nic.tx_read": 4.25, "hardware.wire.cable": math.Copysign(0, -1)})
	if err != nil {
		t.Fatal(err)
	}
	want := experiment.Knobs{"hardware.nic.qp_contexts": 4000, "hardware.wire.switch": 500.0, "hardware.wire.bandwidth": 25.0,
		"hardware.wire.mtu": 2048, "hardware.node_types.val.llc": 45, "hardware.node_types.val.frequency": 3000, "hardware.nic.tx_read": 4.25, "hardware.wire.cable": 0.0}
	v, err := experiment.Resolve(s)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range want {
		if v[name] != x {
			t.Errorf("%s is %v (%T), want %v", name, v[name], v[name], x)
		}
	}
	forms := map[string]func() (experiment.Spec, error){
		"YAML":  func() (experiment.Spec, error) { return experiment.ParseSpec([]byte(s.YAML())) },
		"short": func() (experiment.Spec, error) { return experiment.SpecOf("", v) },
		"JSON": func() (back experiment.Spec, err error) {
			text, err := json.Marshal(s)
			if err != nil {
				return back, err
			}
			return back, json.Unmarshal(text, &back)
		},
		"--set": func() (experiment.Spec, error) {
			k := experiment.Knobs{}
			for name, x := range s.Set {
				name, text, err := experiment.ParseSetting(name + "=" + knob.Format(name, x))
				if err != nil {
					return experiment.Spec{}, err
				}
				k[name] = text
			}
			return experiment.Spec{Workload: s.Workload}.With(k)
		},
	}
	for form, of := range forms {
		back, err := of()
		if err != nil {
			t.Errorf("%s: %v", form, err)
			continue
		}
		if got, err := experiment.Resolve(back); err != nil || !reflect.DeepEqual(got, v) || keyOf(got, nil) != keyOf(v, nil) {
			t.Errorf("%s comes back as %v (%v)", form, back, err)
		}
	}
}
