package agent

import (
	"time"

	"drtmx/engine/experiment"
)

// CheckPace refuses what is no pace, in virtual nanoseconds per second of wall time:
// beyond an hour it would be mistyped, or meant as flat out. field and typed are
// the name that the caller gave it.
func CheckPace(field, typed string, ns int64) error {
	if ns < 0 || ns > int64(time.Hour) {
		return &experiment.SpecError{Field: field, Value: typed, Rule: "must be from 0 (flat out) to an hour per second", Next: "such as 6000000, 6 ms per second"}
	}
	return nil
}
