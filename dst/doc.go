// Package dst is DST, the decentralised scalable timestamps of thesis chapter 5. TrueTime stands beside it, as the example
// of how a scheme is written: one file.
//
// # What is modelled
//
// There is no server that gives stamps out. A transaction's stamp is larger than those of all versions that
// it read, and of all versions and snapshots that its writes come after: the tuple timestamps of its write set,
// which snapshots and readers have raised. Clocks do not decide about correctness: they only keep snapshots fresh. A
// clock that steps back, or is far off, costs staleness. hybrid.go is Figure 5-7, local.go its LocalTS. What a host does at the record
// is in engine/versions.
//
// form.go has two forms of DST that the thesis prints and that are not sound, for the checkers to find. They are traits, which the store of
// versions follows; it knows no scheme by name.
//
// # Left out
//
// Recovery: read timestamps of tuples are not replicated (§5.2.5). The set of machines is fixed.
package dst
