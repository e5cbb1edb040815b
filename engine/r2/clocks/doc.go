// Package clocks gives every machine a clock of its own, as synchronisation over a network leaves it:
// close to the others and never equal. Timestamps of thesis §5.2 are drawn from these clocks; no
// protocol reads the simulator's time.
//
// The clock of machine m shows, at virtual time t in step n = t / Step,
//
//	t + Base + e(m, n) + r(m, n) * (t - n*Step)
//
// where e is how far the last synchronisation missed and r the rate at which the oscillator runs off
// until the next. Both are uniform and drawn by hashing (seed, m, n), so that a clock is a function of
// machine, time and seed: reading it draws no random number and changes nothing, and may happen in any
// order. e and r are drawn such that a clock is within half of Options.DriftNS of Base + t always: then
// any two differ by DriftNS at most, which is the bound epsilon of §5.2.
//
// At the beginning of a step a clock can go back. That is not smoothed over (§5.2 asks protocols to
// bear it): a clock is a hint, and code that needs more keeps the largest value that was seen.
//
// # Numbers
//
// The rate of 78 ppm is the median that Mills found among hosts of the Internet (Computer Network Time
// Synchronization). A synchronisation every millisecond is assumed: PTP exchanges 1 to 128 times a second
// by default, but between two exchanges steers the oscillator, so that its error does not grow for that
// long. Reading takes 25 ns of the core, assumed for clock_gettime by way of the vDSO: a read of the time
// stamp counter with its fence, and a multiplication.
//
// # Simplifications
//
//   - All machines are synchronised at the same instants. Their errors are independent.
//   - Errors are uniform and independent from step to step; a real clock's wander slowly.
//   - All threads of a machine read one clock: the time stamp counters of its sockets agree.
//   - Synchronisation sends no messages and takes no time of a core.
package clocks
