// Package measure counts what a system does: requests and attempts as they end, in the open window and in the measured
// interval, and what the hardware did between two moments.
//
// A Meter takes in every request once. A Cut is everything cumulative at one moment; a window or a result is the
// difference of two. The Ring keeps the last windows in little memory. Spans keep the measured interval in equal parts,
// from which intervals of confidence come.
//
// Nothing here has an effect on a run: what is measured does not depend on its readers.
package measure
