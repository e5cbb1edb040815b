package experiment

import (
	"drtmx/engine/fabric/exploration"
	"drtmx/engine/knob"
	"drtmx/engine/sim"
)

// exploreKnobs hold single messages back, so that a system runs through another order of what it does: the counterexamples of
// engine/explore are specs with them.
func exploreKnobs() []knob.Row {
	return []knob.Row{
		{Knob: knob.Knob{Name: "explore.delays", Kind: knob.Text, Default: exploration.FormatDelays(nil), Label: "Delayed messages", Unit: "none | MESSAGE:UNITS,...", Group: knob.Faults,
			Doc: "Holds single messages of the network back: 17:2,23:1 delays the one that leaves as number 17, counted from 0, by two of explore.unit_ns, and number 23 by one. Later messages between the same two queue pairs wait behind it. `drtmx explore` finds such lists."}, Normal: normalDelays},
		{Knob: knob.Knob{Name: "explore.unit_ns", Kind: knob.Duration, Default: 5_000, Min: 1, Max: int(exploration.MaxDelay / sim.Nanosecond), Unit: "ns", Label: "Unit of delays", Group: knob.Faults,
			Doc: "Unit of explore.delays, and the step of `drtmx explore`. The default is longer than a phase of a transaction, so that each further unit changes the order of messages. Above 150 µs, requests are resent in the meantime."}, Inactive: func(v Knobs) string {
			if len(Delays(v)) == 0 {
				return "explore.delays is none"
			}
			return ""
		}},
	}
}

func normalDelays(s string) (string, string) {
	list, err := exploration.ParseDelays(s)
	if err != nil {
		return "", "must be none, or a list such as 17:2,23:1: " + err.Error()
	}
	return exploration.FormatDelays(list), ""
}

// Delays are the messages that resolved values hold back.
func Delays(v Knobs) []exploration.Delay {
	list, err := exploration.ParseDelays(v.Text("explore.delays"))
	if err != nil {
		panic("engine: resolved explore.delays: " + err.Error())
	}
	return list
}

// Exploration is what holds back the messages that resolved values name.
func Exploration(v Knobs) *exploration.Exploration {
	return exploration.New(sim.Time(v.Int("explore.unit_ns"))*sim.Nanosecond, Delays(v))
}
