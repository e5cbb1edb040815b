// Package calibration holds the simulator to published numbers of the
// primitives: `drtmx verify`, and `drtmx fit`, which adjusts the fitted parameters.
//
// Package published has the numbers with their use (rows.csv). The fitted parameters of the hardware
// profiles may be fitted to fit rows and to nothing else; constant rows are
// configured; check rows are compared and never fitted; order rows must hold.
// A row is measured by runs of its own, by a claim of a figure, or by an experiment
// on the hardware model, which is of the row's profile; constants that the model
// was given are read from there. Rows that nothing measures are listed with what
// they wait for, and rows that cannot all be true with the reason.
//
// fits has, for each profile, what its fitted numbers leave of the rows, and how well
// rows tell these numbers (`drtmx fit --identify`): by what they move when a number is a
// fifth smaller or larger, without the pull of a fit towards the values it began with. The
// table kept is of the rows that take seconds; the CPU numbers of VAL, which they tell only
// by their sum, are told by f2-5-co-two and f2-4a-read-small too, and bounded by R74V.
//
// passed.txt are the rows that passed when they were recorded last
// (`drtmx verify --record`). One of them that is off now is an error; another row
// that is off is a residual to be explained.
//
// Caveats. A row passes within 15 %, of a range inside it. Figures are computed at
// quick scale.
package calibration
