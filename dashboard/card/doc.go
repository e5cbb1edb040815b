// Package card writes the card of a knob change: the means of the windows before and after it, without the transient, their
// differences with 95 % intervals, and what they say in one sentence (Card.Sentence). A system and its ghost, and two pinned
// states, are compared the same way.
//
// Caveats: a card that is not final changes with more windows; percentiles need enough requests in each window; where the throughput
// still drifts, or windows depend on each other for long, no row has a verdict.
package card
