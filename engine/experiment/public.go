package experiment

import (
	"errors"

	"drtmx/engine/knob"
)

// Aliases of package knob's types, for callers of the engine.
type (
	// Knobs are settings by knob name.
	Knobs = knob.Values
	// Knob is one row of the registry.
	Knob = knob.Knob
	// KnobState is a knob in one spec or system.
	KnobState = knob.State
	// AutoChoice is the value chosen for a knob that is set to auto.
	AutoChoice = knob.Auto
	// SpecError is the error of a bad spec: field, value, rule and next step.
	SpecError = knob.Error
)

// IsSpecError says whether err is the caller's mistake (exit status 2, HTTP 400).
func IsSpecError(err error) bool {
	var e *SpecError
	return errors.As(err, &e)
}

// NeedsReset says whether err refuses a live change that a new system would accept (HTTP 409).
func NeedsReset(err error) bool {
	var e *SpecError
	return errors.As(err, &e) && e.Reset
}

// Format writes a value of a knob as a person would type it.
func Format(name string, v any) string { return knob.Format(name, v) }
