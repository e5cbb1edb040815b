package system

// Snapshot is how a system stood after its latest slice.
type Snapshot struct {
	Sys          string  `json:"sys"`
	Name         string  `json:"name,omitempty"` // of its spec
	Of           string  `json:"of,omitempty"`   // the spec that lists it beside others
	Epoch        string  `json:"epoch"`
	State        string  `json:"state"`
	Error        string  `json:"error,omitempty"`
	Unrecorded   string  `json:"unrecorded,omitempty"` // why the session file is no longer written
	VirtualNS    int64   `json:"virtual_ns"`
	Pace         int64   `json:"pace"`
	Speed        float64 `json:"speed"`
	KnobsVersion int     `json:"knobs_version"`
	ForkedFrom   string  `json:"forked_from,omitempty"`
	ForkEpoch    string  `json:"fork_epoch,omitempty"` // of the system it was forked from, then
	ForkNS       int64   `json:"fork_ns,omitempty"`
	Without      int     `json:"without,omitempty"`     // the version of the knobs, and all after it, that a ghost has not got
	CatchingUp   bool    `json:"catching_up,omitempty"` // with what was recorded
	Behind       bool    `json:"behind,omitempty"`      // on its way to the system that it was forked from, which does not wait
	Held         bool    `json:"held,omitempty"`        // paused in a run, which goes on when resumed
}

// States of a system as frames and GET /api/state report them.
const (
	StateRunning  = "running"
	StatePaused   = "paused"
	StateDraining = "draining"
	StateFailed   = "failed"
)
