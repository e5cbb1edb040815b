// Package record has what the figures came to at quick scale when they were computed for the repository, so that a gallery is
// full at first sight. `make gallery` computes them and writes quick/ID.json.gz, a file for each figure.
//
// A file has three JSON documents behind each other: a head (when, by which code, of which specs, and digests of the other two), the
// figure as `drtmx figure ID --json` has it, and its runs with what a page tells of them: spec, throughput, limit, checks and
// digest. Everything else of a run is left out, so these results are no points of the run store.
//
// A record is of the code that made it. Made.Differs says that this program has other code for the figure, or would take other
// runs; what is shown then is what that code came to. The files are a part of the binary: what was just written is shown after the
// next build.
package record
