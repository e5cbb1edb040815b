package cli

import (
	"testing"

	"drtmx/engine/history"
	"drtmx/engine/result"
)

// The last line of a run names what was claimed and broken, also where an anomaly that may be was seen first.
func TestLastLineNamesWhatIsBroken(t *testing.T) {
	r := &result.Result{Checks: &result.Checks{Mode: history.Full, Claimed: history.Serializable, OK: history.Violated,
		Anomalies: []history.Anomaly{{Kind: history.RealTime, Text: "stale"}}}}
	r.Checks.Violation("snapshots.staleness", "5 µs, at most 3 µs")
	if err := ChecksOf(r); err == nil || err.Error() != "checks: snapshots.staleness is violated: snapshots.staleness: 5 µs, at most 3 µs" {
		t.Errorf("%v", err)
	}
}
