package workloadtest

import "os"

// Soak says that tests go through all of what they otherwise draw a sample of: make soak.
var Soak = os.Getenv("DRTMX_SOAK") != ""

// Effort is how much of something a test does: all, which make soak wants, or what make test can afford.
func Effort[N any](all, some N) N {
	if Soak {
		return all
	}
	return some
}
