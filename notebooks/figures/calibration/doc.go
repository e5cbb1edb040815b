// Package calibration holds the simulator to published numbers of the
// primitives: `drtmx verify`.
//
// rows.csv has them with their use. The fitted parameters of the hardware
// profiles may be fitted to fit rows and to nothing else; constant rows are
// configured; check rows are compared and never fitted; order rows must hold.
// A row is measured by a run of its own, by a claim of a figure, or by asking
// the hardware model directly; rows of hardware that is not modelled yet are
// counted and left out.
//
// Caveats. A row passes within 15 %. Only some rows are required, those that the
// simulator was given (constants), the orderings, and the peaks and the latency
// that everything above rests on; another fit row that is off is a residual to
// be explained, not a failure.
package calibration
