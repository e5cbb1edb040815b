// Package card writes the card of a knob change: the means of the windows before and after it, without the transient, their
// differences with 95 % intervals, and what they say in one sentence (Card.Sentence). A system and its ghost, and two pinned
// states, are compared the same way.
//
// A card is judged at each doubling of its windows, and the intervals of all looks are right together in 95 % (metrics.ContrastOf):
// so a verdict that has come stays. Windows that depend on each other and a drift make an interval wider; where too few say nothing,
// the card says how many would (Card.Needs).
//
// Caveats: a card that is not final changes with more windows; percentiles need eight stretches of windows with enough requests;
// intervals are for one comparison, and of twenty equal ones about one is off.
package card
