// Package runs is the run store: one SQLite file that keeps the results of runs.
//
// It has two kinds of rows. A point is the result of a run under its key, taken in place of running again: the cache of
// sweeps and figures. A kept run is what a user wants to find again: a run, sweep, figure or session with its spec, seed,
// code, digest, numbers, time and note; it names the points that it is made of.
//
// A run is a value: its resolved spec, seed and profile version together with the version of the code decide every byte
// of its result. The key of a point is a hash of exactly these, so a point is never updated: it is there, or it is not.
//
// Several processes may use one file at once. On a local disk it has a write-ahead log. On a network file system, where
// processes of several machines cannot share the memory that such a log needs, it has a rollback journal; where locks
// of files do not work at all, the store is refused.
//
// Caveats, in the order in which they bite. Wall times inside a stored result are those of the run that was stored.
// Points are bounded in bytes; those not used for longest go first. What Keep keeps stays until it is removed, results
// of single runs and sessions with it; the points of a kept sweep or figure are the cache's, and may go. A point survives
// the end of the process in every way, but the latest ones may be lost with the power; what Keep acknowledged is not. A
// damaged point is as one that is not there.
package runs
