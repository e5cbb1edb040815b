//go:build !unix

package workload_test

import "time"

var begin = time.Now()

// cpuTime is wall time where there is no clock of CPU time.
func cpuTime() time.Duration { return time.Since(begin) }
