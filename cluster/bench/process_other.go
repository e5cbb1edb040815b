//go:build !unix

package main

import "os"

// peakMemory is unknown.
func peakMemory(*os.ProcessState) float64 { return 0 }
