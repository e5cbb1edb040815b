package experiment

import (
	"drtmx/engine/knob"
	"drtmx/engine/txn"
)

// TxnConfig is what resolved values say to the protocol, and what is seen of the load.
func TxnConfig(v Knobs, seen txn.Seen) txn.Config {
	return Protocols.Of(v).Config(v, Workloads.Load(v), seen)
}

// LongestWait is how many ns an attempt of a transaction may wait in a deadlock; 0: none waits so.
func LongestWait(v Knobs) int {
	p := Protocols.Of(v)
	if !Workloads.Of(v).Transactions || p.LongestWait == nil {
		return 0
	}
	return p.LongestWait(v)
}

// validDrain refuses a drain that ends before a deadlock under way is taken for one: correct transactions would be called stuck.
func validDrain(v Knobs) error {
	drain, wait := v.Int("drain_ns"), LongestWait(v)
	if drain == 0 || drain > wait {
		return nil
	}
	return knob.Invalid("drain_ns", knob.Format("drain_ns", drain), "set it longer, or to 0, which is automatic; or let lock waits be shorter",
		"under cc=%s a transaction may wait for locks for %s", v.Text("cc"), knob.Format("drain_ns", wait))
}

// choicesOf are the primitives of the phases.
func choicesOf(v Knobs, seen txn.Seen) []txn.Choice {
	return Protocols.Of(v).Choices(TxnConfig(v, seen))
}

// AutoChoices is what the phases that are auto came to, by knob.
func AutoChoices(v Knobs, seen txn.Seen) map[string]AutoChoice {
	if !Workloads.Of(v).Transactions {
		return nil
	}
	var out map[string]AutoChoice
	for _, c := range choicesOf(v, seen) {
		if c.Because == "" {
			continue
		}
		if out == nil {
			out = map[string]AutoChoice{}
		}
		out[c.Knob] = AutoChoice{Primitive: c.Primitive, Because: c.Because}
	}
	return out
}
