package experiment

import (
	"strings"
	"testing"
)

// A whole mix gives each type that it names its weight and all others none, whatever the spec said before; in a list of systems it is that
// of each one's workload.
func TestWholeMix(t *testing.T) {
	weights := func(s Spec, err error) map[string]any {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		v, err := Resolve(s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	s := Spec{Workload: "smallbank", Set: Knobs{"workload.mix.balance": 3}}
	v := weights(s.With(Knobs{"workload.mix": "balance:70,send-payment:30"}))
	for name, want := range map[string]int{"balance": 70, "send-payment": 30, "amalgamate": 0, "write-check": 0} { // order-free: each type once
		if v["workload.mix."+name] != want {
			t.Errorf("%s has weight %v, want %d", name, v["workload.mix."+name], want)
		}
	}
	v = weights(s.With(Knobs{"workload": "tpcc", "workload.mix": "payment:1"}))
	if v["workload.mix.payment"] != 1 || v["workload.mix.new-order"] != 0 {
		t.Errorf("of another workload: %v", v)
	}
	file, err := ParseSpec([]byte("workload: ycsb-a\nset: {workload.mix: 'get:100'}\n"))
	if v = weights(file, err); v["workload.mix.get"] != 100 || v["workload.mix.update"] != 0 {
		t.Errorf("in a file: %v", v)
	}
	file, err = ParseSpec([]byte("workload: tpcc\nsystems: [{name: a}, {name: b, set: {workload.mix: 'payment:5'}}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := file.Each()
	if err != nil {
		t.Fatal(err)
	}
	if v = weights(list[1], nil); v["workload.mix.payment"] != 5 || v["workload.mix.delivery"] != 0 {
		t.Errorf("of one system: %v", v)
	}
}

func TestBadMixes(t *testing.T) {
	for _, tt := range []struct{ load, mix, says string }{
		{"smallbank", "balance", "wants TYPE:WEIGHT"},
		{"smallbank", "bal:1", "there is no type bal; the types of smallbank are amalgamate, balance"},
		{"smallbank", "balance:1,balance:2", "balance is there twice"},
		{"smallbank", "balance:x", "workload.mix.balance = x"},
		{"smallbank", "balance:0", "all weights are 0"},
		{"micro-read", "read:1", "is for workloads of several types; micro-read has no types"},
	} {
		s, err := Spec{}.With(Knobs{"workload": tt.load, "workload.mix": tt.mix})
		if err == nil {
			_, err = Resolve(s)
		}
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s of %s: %v, want %q", tt.mix, tt.load, err, tt.says)
		}
	}
	if _, err := (Spec{}).With(Knobs{"workload.mix": "balance:1", "workload.mix.balance": 2}); err == nil || !strings.Contains(err.Error(), "is set as well") {
		t.Error(err)
	}
}
