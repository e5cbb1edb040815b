//go:build !unix

package main

import (
	"os"
	"time"
)

var began = time.Now()

// cpuTime is wall time where there is no clock of CPU time.
func cpuTime() time.Duration { return time.Since(began) }

// peakMemory is unknown.
func peakMemory(*os.ProcessState) float64 { return 0 }
