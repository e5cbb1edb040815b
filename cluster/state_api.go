package cluster

import (
	"drtmx/cluster/system"
	"drtmx/engine/result"
)

// state is GET /api/state: the latest window and how the system stands.
type state struct {
	*result.Window
	system.Snapshot
	KnobsVersion int `json:"knobs_version"` // of now; the window's may be older
}
