// Package explore runs a tiny system of the real code through many orders of its messages, and asks the checks of the
// system about each: small-scope exploration. It needs no random load. A counterexample is a spec, which `drtmx run`, a
// notebook and the page open like any other.
//
// # Orders
//
// The simulator is deterministic, so a run is a function of its spec. The knob explore.delays holds single messages back, by
// so many units each; engine/fabric numbers messages in the order in which they leave, and beside them what wakes a thread
// in the background: so the trainers of a learned store begin early and late. Run tries every list of delays up to a
// bound on their number: first none, then every message by one unit, by two, ..., then every pair, and so on. This is
// delay-bounded scheduling [Emmi, Qadeer, Rakamaric: Delay-bounded scheduling, POPL 2011] with messages for tasks. A unit is
// longer than a phase, so that what a delayed message does falls between other steps of the others. Most faults of
// protocols need one or two delays.
//
// # What is guaranteed
//
// With Options.All set, every list was run that has at most Bound delays of 1 to Steps units. Without, a list is extended by
// further delays only if its run had an order of accesses (exploration.Exploration.Order) that no run before had: of the lists
// with one order, the first stands for all. Two runs of one order have one history, and the same transactions ended before
// the same ones began. They differ in times, so that a further delay behind the one may give an order that the same delay
// behind the other does not: that is what pruning may lose. Every run that is made is judged, pruned or not. Either way
// nothing is said of orders that take more delays, or delays of other lengths, than were tried.
//
// One order means one history where each thread has one coroutine, for verbs are told apart by thread. What code keeps
// outside of simulated memory is not part of an order: of xstore that is the queue of training tasks, which follows from the
// order of regions on the server, and the caches of clients, which follow from what their one thread has read.
//
// # The oracle
//
// A run is judged by its own checks: history, of which only counts what breaks the claim, replicas, locks that are left, the workload's invariants, such as answers of a
// store that fit together. A system that fails, or does not come to rest within drain_ns, is a counterexample too. So any
// workload can be explored that is small enough; workload script runs transactions that are written down, and kvscript
// requests to an ordered store.
//
// # What is left out
//
// Delays of a core, and of what it does without a message or a wake-up, such as a trainer between two leaves: messages of
// others are delayed around it. Likewise, where a client's own machine holds the record, other clients'
// messages are delayed around it, not it. Losses and crashes. Budgets in wall time are the caller's: a context that ends
// leaves a cursor.
package explore
