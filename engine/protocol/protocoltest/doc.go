// Package protocoltest is the suite that holds every concurrency control to what it says of itself. A test calls Conform with the protocol's
// line of the list of parts, and need not know anything else of it:
//
//	func TestConforms(t *testing.T) { protocoltest.Conform(t, mine.Kind) }
//
// The protocols of drtmx are held so by the test of this package, which goes through the list; one that is plugged in calls Conform itself.
// What to vary follows from the registry: the protocol's own knobs, those that protocols share and that it has a use for, and those of
// the timestamps that it hosts. What it cannot run is what it does not say in Has, and what its rules refuse. A failure prints a spec that `drtmx run` opens.
//
//   - runs: every two values of knobs, workloads, deployments and profiles meet in some run, under contention, with torn reads and
//     one datagram in a hundred lost. Its checks must pass: the history is what the protocol claims, the workload's invariants hold, and at
//     rest no lock is held, no log entry is open, and replicas are equal.
//   - live: knobs change at random while the system runs, with the drain barriers that the protocol asks for.
//   - drawn: so do systems of which all is drawn at random, in make soak as many as DRTMX_SOAK says, or for so long.
//   - twice: a run that is cut into pieces and looked at has the digests of one at a stretch.
//   - alike: without contention every choice of knobs leaves the same history.
//   - explored: small scripts run through many orders of their messages, and nothing is found.
//   - alone: one client does to records what it would do to a map, and what it cannot do is refused with the reason.
//
// Make test draws a sample. In make soak there are all combinations of primitives, more seeds, and all variants of every script.
//
// # What is left out
//
// Crashes, before there is recovery. What a transaction costs, and what only one protocol does, as the order of a lock's queue: tests of the
// protocol's own package. Planted bugs that show that the suite finds what it looks for: engine/planted/testdata/conform.txt.
//
// Only tests import it.
package protocoltest
