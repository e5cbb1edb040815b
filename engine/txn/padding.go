package txn

import "drtmx/engine/knob"

// PaddingKnob says whether messages have the payloads of Table 4-2 at least.
const PaddingKnob = "rpc.padding"

// paddingRow is that knob.
func paddingRow() knob.Row {
	return knob.Row{Knob: knob.Knob{Name: PaddingKnob, Kind: knob.Bool, Default: true, Label: "Payloads of Table 4-2", Section: "4.3.4", Group: knob.Phases,
		Doc: "On: the messages of a phase are padded with zeros to the payload that Table 4-2 has of the workload, where their own formats need less. Off: they have what their formats need."}, Needs: HasLog}
}

// Payloads are a workload's costs as resolved values have them.
func (c Costs) Payloads(v knob.Values) Costs {
	if v != nil && !v.Bool(PaddingKnob) {
		c.Payload = Payload{}
	}
	return c
}
