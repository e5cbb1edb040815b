package engine

import (
	"fmt"
	"math"
	"slices"

	"drtmx/engine/knob"

	"drtmx/engine/fabric"
	"drtmx/engine/testbed"
)

// slowNICs puts fault.nic_slowdown into effect.
func slowNICs(f *fabric.Fabric, v Knobs) {
	percent := int(math.Round((v.Float("fault.nic_slowdown") - 1) * 100))
	for m := range f.Machines() {
		for _, n := range f.Machine(m).NICs {
			n.SetSlowdown(0)
			if m == v.Int("fault.nic_slowdown_node") {
				n.SetSlowdown(percent)
			}
		}
	}
}

func noSlowNIC(v Knobs) string {
	if v.Float("fault.nic_slowdown") == 1 {
		return "fault.nic_slowdown is 1: no RNIC is slow"
	}
	return ""
}

// nobody is the value of fault.crash while all machines are up, and of
// fault.restart always: a restart is done with when it has begun.
const nobody = -1

// noCrash says why machines cannot crash.
func noCrash(v Knobs) string {
	w := workloads.Of(v)
	switch {
	case w.Transactions:
		return "workload " + w.Name + " runs transactions, and they have no recovery yet: use micro-read or micro-write"
	case !w.RequestsOf(v).Retried:
		return "the clients of workload " + w.Name + " do not go on behind an error: use micro-read or micro-write"
	case testbed.HasNVM(v) && !v.Bool("nvm.durability"):
		return "nobody keeps what a crash would leave of the NVM: reset with nvm.durability=true"
	}
	return ""
}

func validFaults(v Knobs) error {
	all, _ := testbed.Machines(v)
	// Also while no RNIC is slow: or it would be a later change of fault.nic_slowdown that is refused.
	if err := validMachine("fault.nic_slowdown_node", v.Int("fault.nic_slowdown_node"), all); err != nil {
		return err
	}
	if n := v.Int("fault.restart"); n != nobody {
		return knob.Invalid("fault.restart", n, "set it while the machine is down", "no machine that is down can be restarted before the system runs")
	}
	n := v.Int("fault.crash")
	if n == nobody {
		return nil
	}
	if why := noCrash(v); why != "" {
		return knob.Invalid("fault.crash", n, "leave it at -1", "%s", why)
	}
	return validMachine("fault.crash", n, all)
}

func validMachine(name string, n, all int) error {
	if n >= all {
		return knob.Invalid(name, n, fmt.Sprintf("use 0 to %d", all-1), "there are %d machines", all)
	}
	return nil
}

// nodeFaults are what a change does to machines, at once; nobody: none.
type nodeFaults struct{ crash, restart int }

// nodeFaultsOf reads it from a change.
func nodeFaultsOf(set Knobs) nodeFaults {
	o := nodeFaults{nobody, nobody}
	if n, ok := set["fault.crash"]; ok {
		o.crash = n.(int)
	}
	if n, ok := set["fault.restart"]; ok {
		o.restart = n.(int)
	}
	return o
}

func (o nodeFaults) none() bool { return o.crash == nobody && o.restart == nobody }

// after is who is down behind it, the last to crash at the end.
func (o nodeFaults) after(down []int) []int {
	down = slices.DeleteFunc(slices.Clone(down), func(m int) bool { return m == o.restart })
	if o.crash != nobody {
		down = append(down, o.crash)
	}
	return down
}

// lastDown is the value of fault.crash.
func lastDown(down []int) int {
	if len(down) == 0 {
		return nobody
	}
	return down[len(down)-1]
}

// plan checks what a change does to machines and says in v what the knobs read
// then: fault.crash the machine that crashed last of those that are down.
func (s *System) plan(set, v Knobs) error {
	o := nodeFaultsOf(set)
	all, _ := testbed.Machines(v)
	if n := o.restart; n != nobody {
		if err := validMachine("fault.restart", n, all); err != nil {
			return err
		}
		if s.cl.Starting(n) {
			return knob.Invalid("fault.restart", n, "let virtual time pass", "machine %d starts already", n)
		}
		if s.cl.Up(n) {
			return knob.Invalid("fault.restart", n, fmt.Sprintf("set fault.crash=%d first", n), "machine %d is not down", n)
		}
	}
	if n := o.crash; n != nobody {
		if err := validMachine("fault.crash", n, all); err != nil {
			return err
		}
		if s.cl.Starting(n) {
			return knob.Invalid("fault.crash", n, "let virtual time pass", "machine %d starts and is not up yet", n)
		}
		if !s.cl.Up(n) {
			return knob.Invalid("fault.crash", n, fmt.Sprintf("set fault.restart=%d", n), "machine %d is down already", n)
		}
	} else if _, asked := set["fault.crash"]; asked && len(o.after(s.down)) > 0 {
		n := lastDown(o.after(s.down))
		return knob.Invalid("fault.crash", nobody, fmt.Sprintf("set fault.restart=%d", n), "machine %d is down and does not come back by itself", n)
	}
	v["fault.crash"], v["fault.restart"] = lastDown(o.after(s.down)), nobody
	return nil
}

// applyNodeFaults crashes and restarts machines.
func (s *System) applyNodeFaults(o nodeFaults) error {
	if o.restart != nobody {
		if _, err := s.cl.Restart(o.restart); err != nil {
			return err
		}
	}
	if o.crash != nobody {
		if err := s.cl.Crash(o.crash); err != nil {
			return err
		}
		s.load.crashed(o.crash)
	}
	s.down = o.after(s.down)
	return nil
}
