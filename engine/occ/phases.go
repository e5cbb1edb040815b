package occ

import "drtmx/engine/metrics"

// Phases of this protocol alone: the read set is checked again.
var (
	Validation   = metrics.NewPhase(metrics.PhaseInfo{Name: "validation", Label: "validation", Colour: "#DDCC77", Order: 30})
	ROValidation = metrics.NewPhase(metrics.PhaseInfo{Name: "ro_validation", Label: "read-only validation", Colour: "#44AA99", Order: 70})
)
