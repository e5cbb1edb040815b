// Package engine turns a Spec into a running System and a System into a Result.
//
// Open validates a Spec (engine/experiment), estimates its memory and assembles the simulated cluster: sim, fabric, r2, kv
// and txn, a workload, history and metrics. The System then moves in slices of virtual time; what it computes does not
// depend on how the time is sliced, on what watches it, or on wall time. Knobs change live at the current virtual time, all
// of them or none. What it has measured (engine/measure) becomes a Result (engine/result); what is made of many runs is in
// engine/batch.
//
// A phase that is auto follows the rule of its protocol, in the optimistic one that of chapter 4's summaries (sections
// 4.3.1 to 4.3.5 and 4.4.1). It is applied again at each change of knobs, with what the workload foresees of its locks. What
// only the run can tell, whether servers are overloaded and whose records a user's transactions lock, is
// measured once after each change, in windows of virtual time; a primitive that changes so is an AutoChange.
// What was measured before it belongs to the warm-up: Run measures again, and a Result that spans one is not steady.
// Caches hit or miss record by record, and so does hybrid.
//
// Machines crash and start again at the instant at which fault.crash and fault.restart are set, in the
// micro-benchmarks and, where servers log, in those of key-value stores: a server then recovers its keys
// before it is up. Transactions have no recovery yet, and the knobs say so. Requests to a machine that
// is down, and those of its own clients, end as Failed; clients take a random break after each, twice
// as long with each further one up to half a millisecond. Passive requests that a crash leaves
// unconfirmed have counted as done before and are told apart as Lost. A spec can begin with one machine
// down, and so holds one of several that are.
//
// AddTransaction puts a transaction of the user's into the mix, Trace shows single ones with their
// phases and verbs. A system that has failed can still be looked at.
//
// Run is one batch run: a warm-up and a measured interval, automatic where the spec leaves them open, then a drain and
// the checks. A Result carries the resolved spec, the numbers, the checks and a digest over everything virtual: same
// spec, same code, same digest.
//
// Caveats, by how likely they bite:
//
//   - A System belongs to one goroutine at a time. Run several systems for parallelism.
//   - Throughput, latency and shares of a Result cover the measured interval only (since Mark, or
//     after the automatic warm-up of Run); checks and digest cover the whole life of the system.
//   - Automatic intervals grow until the throughput is steady, but not for ever: a Result that is not
//     says so and why.
//   - With open arrivals latency counts the wait for a free coroutine, and phases do not.
package engine
