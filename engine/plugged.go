package engine

import (
	"drtmx/engine/experiment"
	"drtmx/engine/knob"
)

// plugged is what a system knows of the list of parts, which grows where an author plugs in some: in a notebook at any time.
type plugged struct {
	edition int // of the list of knobs that the system's values are of
	parts   int // experiment.PluggedAt of its own parts
}

// refit takes in that parts were plugged in since the system was here last: a knob that came with one has its default, one that went is gone. A system
// that has a part which another took the place of cannot go on, for it is made of the old one.
func (s *System) refit() {
	if s.plugged.edition == knob.Edition() {
		return
	}
	s.plugged.edition = knob.Edition()
	s.values, s.active = experiment.Fitting(s.values), experiment.Fitting(s.active)
	if name, at := experiment.PluggedAt(s.values); at != s.plugged.parts && s.state != StateFailed {
		_ = s.fail(&experiment.SpecError{Field: name, Value: s.values.Text(name), Rule: "was plugged in anew since this system was opened", Next: "reset it", Reset: true})
	}
}
