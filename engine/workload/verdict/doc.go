// Package verdict is what the tests of workloads ask all checkers for at the end
// of a run. It leaves the run itself, and the drain before, to them.
package verdict

import (
	"drtmx/engine/history"
	"drtmx/engine/workload"
)

// Of lists every complaint about a bench that has been drained: replicas, the
// workload's invariants, the history.
func Of(bench workload.Bench, rec *history.Recorder) (bad []string) {
	bench.DB().CheckReplicas()
	for _, inv := range bench.Check() {
		if !inv.OK {
			bad = append(bad, inv.Name+": "+inv.Text)
		}
	}
	rep := rec.Finish()
	for _, a := range rep.Anomalies {
		bad = append(bad, a.Kind+": "+a.Text)
	}
	if !rep.OK && len(bad) == 0 {
		bad = append(bad, "the report is not ok")
	}
	return bad
}
