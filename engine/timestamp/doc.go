// Package timestamp is what schemes of timestamps are to the rest of the system: a Stamp for what a transaction
// writes, a Point for what a snapshot reads, and Options, which are all that is configured of them. The schemes are in dst, its rivals in dst/oracle.
//
// # The scheme and its hosts
//
// A concurrency control, the host, keeps read-write transactions apart as it does without versions.
// It asks a Scheme for the stamp of each transaction's versions. A read-only transaction reads
// at a point: the latest versions whose stamps are visible there. It locks nothing, validates
// nothing and never aborts. What a host does at the record is in engine/versions, and no scheme knows it; what a
// scheme does is behind the interface Scheme, and no host knows it. Traits are all that one may ask of the other.
//
// # Kinds
//
// A Kind is a scheme in the list of parts: its name, knobs, rules, claim, and how it is opened. No other room lists its knobs. It says itself
// which of them decide what a stamp means (Restamps): after a change of one all versions get new stamps, at rest. Others are live at once.
// The list is handed to a database as stores are, and a scheme is opened when it first comes into force.
//
// # Options
//
// One struct has what the knobs say, and it goes from the specification through the host's configuration to the store of versions, which hands it
// to the scheme. Options.Values are there for the scheme's own knobs alone.
//
// # Units
//
// The physical part of a hybrid stamp counts nanoseconds, 48 bits of them: 78 hours of virtual time. A deployment
// would take 64 ns. Microseconds would make a quantum of a microsecond a part of every bound on staleness.
//
// # Left out
//
// Recovery of stamps, and schemes whose stamps are longer than 8 bytes: a vector is in points, and a stamp names one slot of it.
package timestamp
