// Package timestamp is what schemes of timestamps are to the rest of the system: a Stamp for what a transaction
// writes, a Point for what a snapshot reads, and the knobs that all schemes share. The schemes are in dst, its rivals in dst/oracle.
//
// # The scheme and its hosts
//
// A concurrency control, the host, keeps read-write transactions apart as it does without versions.
// It asks a Scheme for the stamp of each transaction's versions. A read-only transaction reads
// at a point: the latest versions whose stamps are visible there. It locks nothing, validates
// nothing and never aborts. What a host does at the record is in engine/mvcc, and no scheme knows it; what a
// scheme does is behind the interface Scheme, and no host knows it. Traits are all that one may ask of the other.
//
// # Units
//
// The physical part of a hybrid stamp counts nanoseconds, 48 bits of them: 78 hours of virtual time. A deployment
// would take 64 ns. Microseconds would make a quantum of a microsecond a part of every bound on staleness.
package timestamp
