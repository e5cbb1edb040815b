package experiment

import "slices"

// NodeFaults are what a change does to machines, at once: which one it crashes and which one it restarts; NoMachine: none.
type NodeFaults struct{ Crash, Restart int }

// NodeFaultsOf reads it from a change.
func NodeFaultsOf(set Knobs) NodeFaults {
	o := NodeFaults{NoMachine, NoMachine}
	if n, ok := set["fault.crash"]; ok {
		o.Crash = n.(int)
	}
	if n, ok := set["fault.restart"]; ok {
		o.Restart = n.(int)
	}
	return o
}

// None says that it does nothing.
func (o NodeFaults) None() bool { return o.Crash == NoMachine && o.Restart == NoMachine }

// After is the machines that are down after the change, the latest crash last.
func (o NodeFaults) After(down []int) []int {
	down = slices.DeleteFunc(slices.Clone(down), func(m int) bool { return m == o.Restart })
	if o.Crash != NoMachine {
		down = append(down, o.Crash)
	}
	return down
}

// LastDown is what fault.crash reads while machines are down.
func LastDown(down []int) int {
	if len(down) == 0 {
		return NoMachine
	}
	return down[len(down)-1]
}
