package occ

import (
	"drtmx/engine/coordinator"
	"drtmx/engine/knob"
	"drtmx/engine/testbed"
)

// defaultPreset is the one whose settings the knobs have from the start.
const defaultPreset = "drtm+h"

// rows are the knobs of phases and optimisations. Those of phases are for all protocols that have them; they are here because their
// values from the start are a preset's.
func rows(load testbed.LoadOf) []knob.Row {
	def := presetKnobs(defaultPreset)
	start, _ := Preset(defaultPreset)
	list := append(coordinator.PhaseRows(load, def), messageRows(load)...)
	list = append(list, inlineRow(load))
	return append(list, coordinator.SwitchRows(load, def, start.Resolved().Primitives, func(v knob.Values) Primitives { return primitivesOf(v, load) })...)
}

// primitivesOf is how values have the phases done.
func primitivesOf(v knob.Values, load testbed.LoadOf) Primitives {
	return configOf(v, load(v)).Resolved().Primitives
}

// hasMessages is what the protocol has that follows the released code's messages.
const hasMessages = "messages as released"

// messageRows are what the released code and the thesis's text leave open about messages.
func messageRows(load testbed.LoadOf) []knob.Row {
	unless := func(why string, byRPC func(c Primitives) bool) func(v knob.Values) string {
		return func(v knob.Values) string {
			if byRPC(primitivesOf(v, load)) {
				return ""
			}
			return why
		}
	}
	return []knob.Row{
		{Knob: knob.Knob{Name: "rpc.charge_per_record", Kind: knob.Bool, Default: false, Label: "Execution charged per record", Section: "4.3.1", Group: knob.Phases, Live: true,
			Doc: "Charges a handler the execution time of Table 4-2 for each record that a message asks for. Off: once per message. By the sizes of the released code's messages, SmallBank in the table fetches 1.95 records per message."},
			Needs: hasMessages, Inactive: unless("nothing is fetched by RPC", func(c Primitives) bool { return c.Execution != OneSided || c.RORead != OneSided })},
		{Knob: knob.Knob{Name: "rpc.commit_together", Kind: knob.Bool, Default: false, Label: "One commit message", Section: "4.3.3", Group: knob.Phases, Live: true,
			Doc: "Commit by RPC sends one message per machine with all its records. Off, one message per record, as the released code: its sizes are the payloads of Table 4-2."},
			Needs: hasMessages, Inactive: unless("commit is one-sided", func(c Primitives) bool { return c.Commit == TwoSided })},
	}
}
