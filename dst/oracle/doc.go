// Package oracle has the schemes of timestamps that need a machine of their own, the timestamp oracle: GTS, a single counter, and VTS, a
// vector of counters (thesis §5.1.2, Figures 5-2 and 5-4). DST is compared with them.
//
// # What is modelled
//
// The oracle is a machine of the cluster that holds no records. All its threads serve; a client's thread asks the oracle's thread of
// its own number. Its state is in its memory, where the threads meet: GlobalTS is a word that they fetch and add, so that its line
// goes from core to core; StableGTS follows a ring of bits, one for each number that is installed. Of VTS, every thread keeps a
// list of what it was told. STABILIZE() is a coroutine of thread 0 in both. Nothing has a rate or a capacity of its own: how
// much the oracle serves comes out of messages, handlers, lines and that one coroutine.
//
//	                    GTS                                   VTS
//	draw a stamp        gts.take, a round trip under locks    the worker's counter, no message
//	install             gts.install, a round trip             vts.install with all dependencies, a round trip
//	begin a snapshot    gts.point, 16 bytes                   vts.point, 8 bytes a slot
//	a failed attempt    installs its number                   installs its number
//
// A number of GTS is drawn between lock and validation (timestamp.Traits.Early). So of two transactions of which one overwrites what the
// other has read, the reader has the smaller number, and the order of numbers is one in which all can be put.
//
// VTS draws behind validation, when nothing but the log can fail. A transaction is stable when all of its slot's numbers below are
// and so is all that it depends on: the versions that it has read and overwritten. A version that another transaction puts over what it has
// read is not among these, so a snapshot may have that one without this transaction. VTS therefore claims snapshot isolation. See ts.readers.
//
// A version is installed before the oracle hears of its number (timestamp.Traits.Acked), and so a snapshot never waits.
//
// # Switches
//
//   - ts.batching: see batcher. It is the coroutines that make it worth something.
//   - ts.compression: one slot for each machine. A slot's numbers are published in their order, so that one which many
//     workers share stands still at the oldest commit that is not installed.
//   - ts.fetch_thread: see fetcher.
//   - ts.stable off: no STABILIZE(). A snapshot of GTS reads at GlobalTS, and waits for the holders of write locks, whose number may
//     be below. Of VTS a worker publishes its slot itself, once all numbers below are installed; to keep the vector consistent, an attempt
//     aborts whose dependencies are not in the vector yet, after it has asked for it once.
//   - ts.readers: a transaction also depends on those that have read what it overwrites. Records remember them (engine/versions,
//     readers.go), and they come with the acknowledgement of the versions, so that a writer sends no more messages, and longer ones.
//     The number is drawn before validation, as readers enter with it: an attempt that fails there has to install it. A transaction that
//     has written nothing has a number too, for it comes before every transaction that overwrites what it has read. Then the vector is closed
//     under all that has to come before, and with serialisable hosts VTS claims that snapshots are serialisable. Not that
//     a range has no new records: ranges have no readers, under no scheme.
//
// ts.compression, ts.stable and ts.readers decide what a number means, so a change of one gives all versions new stamps, at rest. The
// others change while transactions run (Tune).
//
// # Bounds
//
// A ring or list that is full takes no more: the client comes again 2 us later. A queue of VTS behind a number that never comes fails
// the run at 65,536 commits. A snapshot that waits for its session's writes asks again every 2 us; Stuck says for what the
// stable timestamp waits.
//
// # Left out
//
// Failures of the oracle, and of a machine between drawing a number and installing it: the stable timestamp stands still then, and
// the run with it. A request's dependencies are put together for free. Entries of VTS's lists come to the core of STABILIZE() as
// accesses to its own cache: only the tails of the lists move lines.
package oracle
