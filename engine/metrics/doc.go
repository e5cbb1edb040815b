// Package metrics turns what happened in a run into numbers.
//
// Here are: distributions of durations (Hist); where a transaction's time went,
// by phase and by station of its verbs (Breakdown, Attribution); how busy every
// unit of the cluster was and which one is nearest to saturation (Usage,
// Utilize); the time average of transactions in flight (InFlight) and Little's
// law over it; and the statistics behind intervals and cards (EstimateMean,
// QuantileCI95, Mean95, Settled).
//
// All times that come in are integer picoseconds of virtual time. Sums are kept
// in integers, so that no number depends on the order in which it was added up;
// what is derived from them uses only operations that IEEE 754 fixes to the bit,
// with products rounded before sums, so that results are equal on every machine.
//
// Left out: wall time, counters of verbs (engine/fabric has them), exponentially
// decaying rates.
//
// Caveats, the likeliest first:
//
//   - A quantile needs 10/(1-q) samples: 20 for the median, 1000 for p99, 10,000
//     for p99.9. With fewer it is absent, which is not the same as zero.
//   - Phase means are over all transactions of the window, so that they add up to
//     the mean latency; a phase's median is over those that were in it.
//   - A bottleneck is a unit (one NIC, one direction), not the mean of a node: a
//     machine with one idle and one saturated NIC is saturated.
//   - Nothing here is safe for concurrent use. One goroutine owns a system.
package metrics
