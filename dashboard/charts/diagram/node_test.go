package diagram

import (
	"strings"
	"testing"

	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

func inside(t *testing.T, spec experiment.Spec) []result.NodeInside {
	t.Helper()
	s, err := engine.Open(spec)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Advance(300_000); err != nil {
		t.Fatal(err)
	}
	return s.Result().Inside
}

func TestNodeDrawsItsParts(t *testing.T) {
	for name, c := range map[string]struct {
		spec experiment.Spec
		node int
		want []string
	}{
		"val":  {experiment.Spec{Workload: "smallbank", Set: experiment.Knobs{"nodes": 3, "threads": 24, "coroutines": 8, "workload.accounts": 500}}, 0, []string{"RNIC 1", "socket 1", "12 of 12 cores work", "DDIO in", "DRAM channels", "messages/s", hotColor, "saturated: cores"}},
		"r74v": {experiment.Spec{Workload: "micro-write", Set: experiment.Knobs{"profile": "r74v", "servers": 1, "clients": 3, "threads": 4, "coroutines": 4, "workload.payload": 1024, "ddio": false}}, 0, []string{"NVM DIMM 6", "DDIO off", "a server", "of its buffer is in use", "between sockets"}},
	} {
		n := inside(t, c.spec)[c.node]
		svg := Node(&n, NodeOptions{})
		wellFormed(t, name+".svg", svg)
		for _, w := range c.want {
			if !strings.Contains(svg, w) {
				t.Errorf("%s: no %q", name, w)
			}
		}
		bare := Node(&n, NodeOptions{Options: Options{Width: 350, Bare: true}, Widest: 2 * Widest(&n)})
		wellFormed(t, name+"-phone.svg", bare)
		if strings.Contains(bare, "<title>") || strings.Contains(bare, "style=") || strings.Contains(bare, "NaN") {
			t.Errorf("%s: the page's form has titles, styles or no numbers", name)
		}
	}
}

// A machine that is down has no inside to show, and an idle one no flows.
func TestNodeThatIsDown(t *testing.T) {
	svg := Node(&result.NodeInside{Node: 3, Down: true, Role: "symmetric"}, NodeOptions{})
	if !strings.Contains(svg, "node 3 is down") {
		t.Error(svg)
	}
	idle := Node(&result.NodeInside{Role: "client", NICs: []result.NICInside{{}}, Sockets: []result.SocketInside{{Cores: 1}, {Socket: 1}}}, NodeOptions{})
	wellFormed(t, "idle.svg", idle)
	if strings.Contains(idle, "NaN") || strings.Contains(idle, "Inf") || !strings.Contains(idle, "nothing is saturated") || !strings.Contains(idle, "no RNIC at this socket") {
		t.Error(idle)
	}
}

// Six full DIMMs are one part of the sentence, not six.
func TestSaturatedDIMMsAreCounted(t *testing.T) {
	full, idle := result.DIMMInside{Write: result.Flow{Busy: 0.95}}, result.DIMMInside{}
	fuller := full
	fuller.Write.Busy = 0.99
	for want, dimms := range map[string][]result.DIMMInside{
		"saturated: 3 of 4 NVM DIMMs of socket 1 at 95 to 99 %": {full, idle, fuller, full},
		"saturated: 2 of 2 NVM DIMMs of socket 1 at 95 %":       {full, full},
		"saturated: an NVM DIMM of socket 1 at 99 %":            {idle, fuller},
		"nothing is saturated":                                  {idle, idle},
	} {
		n := &result.NodeInside{Sockets: []result.SocketInside{{Socket: 1, NVM: &result.NVMInside{DIMMs: dimms}}}}
		if got := Saturated(n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
