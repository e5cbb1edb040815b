package metrics_test

import (
	"fmt"

	"drtmx/engine/metrics"
)

// A card: throughput of the windows before and after a knob was turned.
func ExampleDiff() {
	before := []float64{90.1, 89.7, 90.4, 90.0, 89.8}
	after := []float64{74.0, 81.9, 82.2, 81.8, 82.1, 82.0}
	after = after[metrics.Settled(after):] // the first window still saw the old setting
	diff, half := metrics.Diff(before, after)
	fmt.Printf("%+.1f ± %.1f M/s\n", diff, half)
	// Output: -8.0 ± 0.3 M/s
}
