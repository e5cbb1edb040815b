package experiment

import "drtmx/engine/txn"

// TxnConfig is what resolved values say to the protocol, and what is seen of the load.
func TxnConfig(v Knobs, seen txn.Seen) txn.Config {
	return Protocols.Of(v).Config(v, Workloads.Load(v), seen)
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
