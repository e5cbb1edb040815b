// Package workload is the frame of the workloads: what a benchmark offers to
// the engine, the mixes of transaction types, and the distributions that keys
// are drawn from.
//
// # What is modelled
//
// A workload is a closed loop per coroutine: engine calls Runner.Next again
// and again, and each call is one request from its first attempt to the end.
// Everything random comes from the coroutine's own stream, so that two runs
// with the same seed but another protocol draw the same inputs for as long as
// they run the same requests.
//
// What a workload counts or judges, each machine writes down for itself (engine/owned, Fresh, Tally). It is put together at the end of each
// window and at the end of the run, in the order of times: so no machine looks at what another one does.
//
// # Caveats
//
// Distributions are integer tables: the only floating point is in building
// them, in arithmetic that is rounded at each step and so equal on every
// machine. The tail of a zipfian distribution is flat within steps of 0.4 per
// cent of its rank.
package workload
