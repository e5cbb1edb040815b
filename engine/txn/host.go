package txn

import (
	"math"

	"drtmx/engine/knob"
)

// KnobHost changes what the handlers of a protocol take that stands for the server of another system.
const KnobHost = "host.scale"

// HostRow is that knob, for the rows of such a protocol.
func HostRow() knob.Row {
	return knob.Row{Knob: knob.Knob{Name: KnobHost, Kind: knob.Float, Default: 1.0, Min: 0.1, Max: 10.0, Unit: "x", Label: "Server's time, all", Section: "5.5.2", Group: knob.Phases, Live: true,
		Doc: "Factor on the CPU time per record at a server, under protocols that stand for other systems. Those times are assumed, so the band of a figure is from 1/2 to 2."}}
}

// HostScale is what it says, in thousandths.
func HostScale(v knob.Values) int { return int(math.Round(1000 * v.Float(KnobHost))) }
