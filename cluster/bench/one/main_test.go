package main

import (
	"testing"
	"time"

	"drtmx/engine/experiment"
	"drtmx/engine/knob"
)

// Every frozen spec names all knobs of its time, some by names of then, is one that today's code takes, and is measured: everything but the numbers.
func TestFrozenSpecs(t *testing.T) {
	for _, name := range []string{"read", "smallbank", "new-order"} {
		o := one{name: name, set: `{"nodes": 3, "threads": 2, "coroutines": 2, "gone": 1}`, warm: 20 * time.Microsecond, span: 100 * time.Microsecond}
		s, left, err := o.spec()
		if err != nil {
			t.Fatal(err)
		}
		if len(left) != 1 || left[0] != "gone" || len(s.Set) < 190 {
			t.Errorf("%s: %d knobs, without %v", name, len(s.Set), left)
		}
		v, err := experiment.Resolve(s)
		if err != nil {
			t.Fatal(err)
		}
		for k, x := range s.Set { // order-free: each alone
			if want, err := knob.Find(k).Parse(x); err != nil || v[knob.Find(k).Name] != want {
				t.Errorf("%s: %s is %v, frozen as %v (%v)", name, k, v[knob.Find(k).Name], want, err)
			}
		}
		m, err := o.measure(s)
		if err != nil {
			t.Fatal(err)
		}
		if m.Digest == "" || m.Rate <= 0 {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if _, _, err := (one{name: "nothing", set: "{}"}).spec(); err == nil {
		t.Error("an unknown spec is accepted")
	}
}
