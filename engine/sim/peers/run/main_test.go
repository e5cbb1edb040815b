//go:build linux

package main

import (
	"errors"
	"testing"
)

func TestReason(t *testing.T) {
	failed := errors.New("exit status 2")
	for _, tt := range []struct{ text, want string }{
		{"libns3-dev is missing\nmake: *** [Makefile:24: ns3] Error 1\n", "libns3-dev is missing"},
		{"make: *** [Makefile:24: ns3] Error 1\n\n", "exit status 2"},
		{"", "exit status 2"},
	} {
		if got := reason([]byte(tt.text), failed); got != tt.want {
			t.Errorf("reason of %q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

// A missing peer neither fulfils nor breaks a requirement; the best style of a
// peer and the median of its repetitions count.
func TestCheck(t *testing.T) {
	ours := &contender{name: "drtmx", style: "events", kind: events, ns: []float64{30, 90, 31}}
	process := &contender{name: "drtmx", style: "process", kind: processes, ns: []float64{100, 100}}
	slow := &contender{name: "ns-3", style: "Heap", kind: events, ns: []float64{100, 120, 1}}
	fast := &contender{name: "ns-3", style: "Map", kind: events, ns: []float64{50, 60, 62}}
	if !check([]*contender{ours, process}) {
		t.Error("a requirement fails without any peer")
	}
	if !check([]*contender{ours, process, slow}) {
		t.Error("31 ns are too slow beside 100 ns")
	}
	if check([]*contender{ours, process, slow, fast}) {
		t.Error("31 ns pass beside 60 ns")
	}
}
