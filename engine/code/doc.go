// Package code says which version of the code a run executes, so that a change of one part makes no result of another stale.
//
// A run can execute the base and the parts that its spec chooses. The base is what package engine imports, directly or not,
// without the arrows of the list of parts (engine/experiment/parts.go). A part is a protocol, a store, a workload or a scheme of
// timestamps, with all that its package imports. The hardware profile counts where it is the one of the spec, and so do the
// versions of the modules that the engine imports. The release of Go and the platform do not count: no result depends on them,
// which the golden digests hold on two architectures.
//
// Everything is read from the source that is part of the binary (drtmx.Source). Command, kernel, workers and tests therefore
// agree, whatever built them.
//
// # Changes that change nothing
//
// A change of the base makes every result stale, also where it only renames. proven.json mends that: it says since which base
// all golden behaviour digests are equal, and results of all bases in between stay valid. `make proven` runs the golden systems
// and writes it. A base that it does not name counts as new.
//
// # Caveats
//
// A part that is plugged in from outside of this module has no source here. Its version is that of the whole program file, so each
// build of it computes anew. One that is written in a cell of a notebook has none at all (Known), and its results are never taken from a store.
package code
