// Package cputime is the clock of CPU time, for benchmarks: on a machine with
// neighbours wall time says little. getrusage would be counted in timer ticks on
// some systems. No model reads it.
package cputime
