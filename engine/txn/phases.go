package txn

import "drtmx/engine/metrics"

// Phases that protocols share. The body of a transaction runs in Execution, or in RORead if it writes nothing.
var (
	Execution = metrics.NewPhase(metrics.PhaseInfo{Name: "execution", Label: "execution", Colour: "#332288", Order: 10})
	Lock      = metrics.NewPhase(metrics.PhaseInfo{Name: "lock", Label: "lock", Colour: "#CC6677", Order: 20})
	// Timestamp is the time in which a transaction asks for its stamp or its point.
	Timestamp = metrics.NewPhase(metrics.PhaseInfo{Name: "timestamp", Label: "timestamp", Colour: "#8700F0", Order: 35})
	Commit    = metrics.NewPhase(metrics.PhaseInfo{Name: "commit", Label: "commit", Colour: "#88CCEE", Order: 50})
	RORead    = metrics.NewPhase(metrics.PhaseInfo{Name: "ro_read", Label: "read-only read", Colour: "#882255", Order: 60})
)
