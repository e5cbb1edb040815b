package session

import (
	"drtmx/cluster/system"
	"drtmx/engine/experiment"
	"strings"
)

// Event is something that happened to a system at a virtual time.
type Event struct {
	VirtualNS int64            `json:"virtual_ns"`
	Kind      string           `json:"kind"` // knob, preset, auto, retrain, fault, failed, reset, fork; close in frames only
	By        string           `json:"by,omitempty"`
	Version   int              `json:"version,omitempty"` // of the knobs from here on
	Set       experiment.Knobs `json:"set,omitempty"`
	Was       experiment.Knobs `json:"was,omitempty"`
	Pending   bool             `json:"pending,omitempty"` // a drain barrier stands before it
	Text      string           `json:"text,omitempty"`
}

// ValuesOf are the present values of the knobs in k.
func ValuesOf(sys system.System, k experiment.Knobs) experiment.Knobs {
	was := experiment.Knobs{}
	before := sys.Values()
	for name := range k {
		if v, ok := before[name]; ok {
			was[name] = v
		}
	}
	return was
}

// KindOf names the event of a change.
func KindOf(k experiment.Knobs) string {
	kind := "knob"
	for name := range k {
		if name == "preset" {
			return "preset"
		}
		if strings.HasPrefix(name, "fault.") {
			kind = "fault"
		}
	}
	return kind
}
