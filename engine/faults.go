package engine

import (
	"fmt"
	"math"

	"drtmx/engine/fabric"
)

// slowNICs puts fault.nic_slowdown into effect.
func slowNICs(f *fabric.Fabric, v Knobs) {
	percent := int(math.Round((v.float("fault.nic_slowdown") - 1) * 100))
	for m := range f.Machines() {
		for _, n := range f.Machine(m).NICs {
			n.SetSlowdown(0)
			if m == v.int("fault.nic_slowdown_node") {
				n.SetSlowdown(percent)
			}
		}
	}
}

func noSlowNIC(v Knobs) string {
	if v.float("fault.nic_slowdown") == 1 {
		return "fault.nic_slowdown is 1: no RNIC is slow"
	}
	return ""
}

func validFaults(v Knobs) error {
	all, _ := machines(v)
	if n := v.int("fault.nic_slowdown_node"); n >= all && v.float("fault.nic_slowdown") != 1 {
		return invalid("fault.nic_slowdown_node", n, fmt.Sprintf("use 0 to %d", all-1), "there are %d machines", all)
	}
	return nil
}
