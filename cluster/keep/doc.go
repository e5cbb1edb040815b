// Package keep puts results into the run store and finds them again: runs, sweeps, figures and sessions as rows with a
// note, single points as a cache of what was computed. Package runs has the file; it knows no results.
//
// A row holds its results by reference if they are points of the cache. They may leave it; the row then says how many
// are missing. What is computed again by the same code takes the place of its row.
package keep
