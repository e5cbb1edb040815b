package cluster

import "drtmx/engine/experiment"

// Spec and Knobs are those of the engine, so that a notebook needs one
// import.
type (
	Spec  = experiment.Spec
	Knobs = experiment.Knobs
)
