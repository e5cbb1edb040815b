package replication

import "drtmx/engine/metrics"

// Phases in which entries are on their way: to the logs of the backups, and from there to their rows.
var (
	Logging = metrics.NewPhase(metrics.PhaseInfo{Name: "logging", Label: "logging", Colour: "#117733", Order: 40})
	Reclaim = metrics.NewPhase(metrics.PhaseInfo{Name: "reclaim", Label: "log reclaim", Colour: "#999933", Order: 80})
)
