// Package figures draws the thesis's figures and tables from runs of the
// simulator. The packages chapter2 to chapter5 define them: axes, series, the runs
// behind them, and the thesis's sentences as claims that are measured. Package figure has what a figure is, page what a page
// tells beside its picture; here they are put together and found by their ids.
//
// In a notebook:
//
//	figures.Get("2-4a").Show()
//	figures.Get("2-4a").With(cluster.Knobs{"emulated_nodes": 80}).Show()
//
// Notebook, page and command share the registry: importing the package hands it
// to package cluster.
//
// A figure has two scales. Quick keeps machines, payloads and mixes and takes
// seconds, in chapter 4 up to two minutes, for a run that is not steady is measured
// again, twice and four times as long; paper takes what the thesis took. At
// quick scale threads stay too, but on TPC-C/no, where a quick machine is one of its two
// sockets, with its RNIC and its twelve threads: throughputs of the cluster are
// half, what a thread has of cores and RNIC is the same (figure 4-7 keeps both).
// Every quick figure computes one of its points at paper scale too, and
// the difference is in the result (paper_gap). Those of chapter 5 have none, for a run at paper scale takes minutes: their
// quick clusters have fewer machines and threads, as their notes say (chapter5/clusters.go). Figures over time, and those of what has grown for half a minute,
// have keys and time smaller by one factor at either scale, which their note tells, and no such point.
//
// Figures of throughput against latency have what was measured along both axes
// and a point for each number of coroutines per thread; in claims about them
// ratios are at equal load. On TPC-C/no they are drawn twice, with the correct
// protocol and with aborts ignored; chapter4/curves.go says why and which of them a
// claim is about.
//
// Figures about models alone (3-12, 3-13a and b, 3-14a and b, 3-22a, Table 3-2) are computed from the code that servers and
// clients run, without a run: their JSON has "computed" in place of runs. They have no knobs.
//
// What a claim comes to beside a number of the thesis about whole systems is a prediction: Predicting and PredictionsOf are all of
// them, and so is `drtmx predict`, which prints what package prediction has recorded. The figure predictions-N draws those of a chapter.
//
// Caveats, in the order in which they bite. The thesis's plots are not
// available, only their captions and prose: ranges of axes are ours. A claim is
// measured, never enforced: where the simulator contradicts it, the figure says
// so and what limited the runs. A claim about a number holds within 15 %, the
// tolerance of the calibration; one that A is above B holds where the intervals
// say so, and is undecided where they overlap, as quick ones on TPC-C/no often
// do. The numbers of chapters 3 to 5 (prediction/chapter*.csv) were read after their systems were built:
// they are compared, nothing is fitted to them, and what was predicted before
// stands beside them.
// With changes of knobs (With) the figure is another experiment and its claims
// are left undecided. Runs are kept in the run store, so a figure that was
// computed before comes at once and its runs carry the wall times of then.
package figures
