// Package result has what a run has come to, as values: a Result, its windows, and how two of them are compared.
//
// The types are their own JSON (see the contract of `drtmx run --json`); the code that measures fills them in. The package
// computes what follows from their numbers alone: the verdict on what limits a system, intervals by the path of a
// number, texts for a terminal, and comparisons. CodeVersion identifies the code that a result came from.
//
// A percentile without enough samples is 0 in Go and absent in JSON. WallMS is the only number that depends on the
// machine; digests leave it out.
package result
