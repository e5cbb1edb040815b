// Package dst is DST, the decentralised scalable timestamps of thesis chapter 5, and what every
// scheme of timestamps has to say to the rest of the system: a Stamp for what a transaction writes, a
// Point for what a snapshot reads.
//
// # The scheme and its hosts
//
// A concurrency control, the host, keeps read-write transactions apart as it does without versions.
// It asks a Scheme for the stamp of each transaction's versions. A read-only transaction reads
// at a point: the latest versions whose stamps are visible there. It locks nothing, validates
// nothing and never aborts. What a host does at the record is in engine/mvcc, and no scheme knows it; what a
// scheme does is behind the interface Scheme, and no host knows it. Traits are all that one may ask of the other.
//
// # DST
//
// There is no server that gives stamps out. A transaction's stamp is larger than those of all versions that
// it read, and of all versions and snapshots that its writes come after: the tuple timestamps of its write set,
// which snapshots and readers have raised. Clocks do not decide about correctness: they only keep snapshots fresh. A
// clock that steps back, or is far off, costs staleness.
//
// # Units
//
// The physical part of a hybrid stamp counts nanoseconds, 48 bits of them: 78 hours of virtual time. A deployment
// would take 64 ns. Microseconds would make a quantum of a microsecond a part of every bound on staleness.
//
// # Left out
//
// Recovery: read timestamps of tuples are not replicated (§5.2.5). The set of machines is fixed.
package dst
