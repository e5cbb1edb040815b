package measure

import (
	"drtmx/engine/fabric"
	"drtmx/engine/sim"
	"drtmx/rdpma/nvm"
)

// Load is what the parts of all machines have done since time 0.
type Load struct {
	PS       int64
	Version  int
	Machines []MachineLoad
}

type MachineLoad struct {
	fabric.MachineLoad
	Threads []int64     // busy ps
	NVM     []nvm.Stats // by socket; nil without
	DIMMs   [][]DIMMLoad
}

type DIMMLoad struct {
	Stats       nvm.Stats
	Read, Write sim.Time
}
