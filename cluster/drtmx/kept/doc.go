// Package kept is the command drtmx runs: it lists, shows, compares, queries, exports and removes the runs that are kept in the run
// store.
package kept
