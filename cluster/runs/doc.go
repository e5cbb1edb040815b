// Package runs keeps the results of runs on disk, so that a sweep or a figure
// that is asked for twice is computed once and one that was interrupted goes on
// where it stopped.
//
// A run is a value: its resolved spec, seed and profile version together with
// the version of the code decide every byte of its result. The key of an entry
// is therefore a hash of exactly these, and an entry is never updated: it is
// there, or it is not. Several processes may use one folder at the same time.
//
// Caveats, in the order in which they bite. Wall times inside a stored result
// are those of the run that was stored. What is on disk may be damaged by a
// crash or another program: an entry whose checksum does not fit is ignored and
// removed. The folder is bounded in bytes; the entries not used for longest go
// first.
package runs
