package r2

import (
	"fmt"

	"drtmx/engine/metrics"
)

// Phases for the requests of tests.
var (
	phaseExecution = metrics.NewPhase(metrics.PhaseInfo{Name: "execution"})
	phaseLock      = metrics.NewPhase(metrics.PhaseInfo{Name: "lock"})
	phaseLogging   = metrics.NewPhase(metrics.PhaseInfo{Name: "logging"})
	phaseCommit    = metrics.NewPhase(metrics.PhaseInfo{Name: "commit"})
)

// handle installs a handler under an id that a test chooses.
func (cl *Cluster) handle(id uint8, h Handler) {
	for n := uint8(0); n <= id; n++ {
		if cl.rpc(n).Name == "" {
			cl.Handle(fmt.Sprintf("test.%d", n), nil)
		}
	}
	cl.rpc(id).Serve = h
}
