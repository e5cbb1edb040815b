// Package figures draws the thesis's figures and tables from runs of the
// simulator. There is one Go file per figure: its axes, its series, the runs
// behind them, and the thesis's sentences about it as claims that are measured.
//
// In a notebook:
//
//	figures.Get("2-4a").Show()
//	figures.Get("2-4a").With(cluster.Knobs{"emulated_nodes": 80}).Show()
//
// Notebook, page and command share the registry: importing the package hands it
// to package cluster.
//
// A figure has two scales. Quick keeps machines, threads, payloads and mixes and
// takes seconds; paper takes what the thesis took. Every quick figure computes
// one of its points at paper scale too, and the difference is in the result
// (paper_gap).
//
// Caveats, in the order in which they bite. The thesis's plots are not
// available, only their captions and prose: ranges of axes are ours. A claim is
// measured, never enforced: where the simulator contradicts it, the figure says
// so and what limited the runs. A claim about a number holds within 15 %, the
// tolerance of the calibration. With changes of knobs (With) the figure is
// another experiment and its claims are left undecided. Runs are kept in the
// run store, so a figure that was computed before comes at once and its runs
// carry the wall times of then.
package figures
