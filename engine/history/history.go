package history

import (
	"encoding/binary"
	"strconv"
)

// Key names a record in the whole cluster: the table in the top byte, the key
// within the table below it.
type Key uint64

// MakeKey joins a table and a key; bits of key above the 56th are lost.
func MakeKey(table uint8, key uint64) Key { return Key(uint64(table)<<56 | key&(1<<56-1)) }

// Table is the record's table.
func (k Key) Table() uint8 { return uint8(k >> 56) }

// Row is the record's key within its table.
func (k Key) Row() uint64 { return uint64(k) & (1<<56 - 1) }

func (k Key) String() string {
	return strconv.Itoa(int(k.Table())) + "/" + strconv.FormatUint(k.Row(), 10)
}

// Status is how a transaction attempt ended.
type Status uint8

const (
	Committed  Status = iota
	Aborted           // by the protocol; it is tried again
	RolledBack        // by the transaction's own code
)

// Read is a version that a transaction saw. Version 0 says that the record did
// not exist.
type Read struct {
	Key     Key
	Version uint64
}

// Write is a version that a transaction installed over another. New is larger
// than Old; Old is 0 for an insert.
type Write struct {
	Key Key
	Old uint64 // the version it locked and overwrote
	New uint64
}

// Sum is a short name for a value, never 0. Values of different names differ, and those of
// one name are the same but for chance.
func Sum(value []byte) uint64 {
	const prime = 0x9e3779b97f4a7c15
	h := uint64(len(value)+1) * prime
	for ; len(value) >= 8; value = value[8:] {
		h = (h ^ binary.LittleEndian.Uint64(value)) * prime
		h ^= h >> 32
	}
	for _, b := range value {
		h = (h ^ uint64(b)) * prime
		h ^= h >> 32
	}
	return max(h, 1)
}

// Level is what a transaction is promised about real time.
type Level uint8

const (
	LevelStrict   Level = iota // it reads what is there: after all that ended before it began
	LevelSnapshot              // it reads a snapshot, which may be older than its begin
	LevelFresh                 // it reads a snapshot that has all that ended before it began
)

// Txn is one attempt of a transaction.
type Txn struct {
	ID      uint64 // unique; what texts call it
	Type    uint8  // for texts, see Options.TypeName
	Session uint32 // the coroutine, numbered from 0 without large gaps; its attempts follow one another
	Begin   int64  // ps, of this attempt, not of the first one
	End     int64  // ps, the commit decision
	Status  Status
	Level   Level // of a snapshot, which writes nothing
	// Stamp is that of what it wrote where snapshots are read, for Needed; 0: every snapshot has it.
	Stamp uint64
	Reads []Read
	// Writes of an attempt that did not commit are those whose bytes it put into
	// a record all the same. A correct protocol has none.
	Writes []Write
	// Sums of the values, see Sum, in the order of Reads and of Writes: of none, or of
	// all. 0 is that of a value that was not looked at.
	ReadSums, WriteSums []uint64
}

// Mode says how much of the history is checked.
type Mode string

const (
	Full    Mode = "full"    // every access
	Sampled Mode = "sampled" // every access to one key in Options.SampleEvery
	Off     Mode = "off"     // only what Note and Invariant report
)

// Claim is the isolation level a protocol promises.
type Claim string

const (
	StrictSerializable Claim = "strict-serializable"
	Serializable       Claim = "serializable"
	SnapshotIsolation  Claim = "snapshot-isolation"
	ReadCommitted      Claim = "read-committed"
	ReadUncommitted    Claim = "read-uncommitted"
)

// The kinds of anomaly, the weakest isolation level that forbids them beside
// each. Kinds that oracles invent for Note break every claim.
const (
	DuplicateVersion = "duplicate-version" // any: two installs of one version, or one that did not advance it
	UnknownVersion   = "unknown-version"   // any: a version that was never installed
	VersionLost      = "version-lost"      // any: a snapshot has an older version than any snapshot may need
	DirtyWrite       = "dirty-write"       // any: overwrote a version that was never committed
	WrongValue       = "wrong-value"       // any: a version with another value than its writer gave it, or another reader saw
	G0               = "G0"                // read uncommitted: cycle of overwrites
	G1a              = "G1a"               // read committed: read of an aborted version
	G1b              = "G1b"               // read committed: read of an intermediate version
	G1c              = "G1c"               // read committed: cycle of overwrites and reads
	GSingle          = "G-single"          // snapshot isolation: cycle with one anti-dependency
	LostUpdate       = "lost-update"       // snapshot isolation: two transactions overwrote one version
	G2               = "G2"                // serialisable: cycle with several anti-dependencies
	RealTime         = "real-time"         // strictly serialisable: an order that time had already decided; of a snapshot that may be old: none
)

// Edge is why a transaction must come before the next one of a cycle.
type Edge string

const (
	WW Edge = "ww" // the next one overwrote its version
	WR Edge = "wr" // the next one read its version
	RW Edge = "rw" // the next one overwrote what it had read
	RT Edge = "rt" // it ended before the next one began
)

// Step is one transaction of a cycle and the edge to the one after it; the last
// step's edge leads back to the first. Key and Version are those of the edge:
// the version written (ww, wr) or read (rw).
type Step struct {
	Txn     uint64 `json:"txn"`
	Edge    Edge   `json:"edge,omitempty"`
	Key     Key    `json:"-"`                // as a number it does not survive a JavaScript reader
	Record  string `json:"record,omitempty"` // the key by name
	Version uint64 `json:"version,omitempty"`
}

// level orders the claims, the weakest first; "" is the strongest.
func (c Claim) level() int {
	switch c {
	case ReadUncommitted:
		return 0
	case ReadCommitted:
		return 1
	case SnapshotIsolation:
		return 2
	case Serializable:
		return 3
	}
	return 4
}

// orders says that transactions which keep the claim have a serial order.
func (c Claim) orders() bool { return c.level() >= Serializable.level() }

// Weaker is the weaker one of two claims.
func Weaker(a, b Claim) Claim {
	if b.level() < a.level() {
		return b
	}
	return a
}

// breaks says whether an anomaly of this kind contradicts the claim.
func (c Claim) breaks(kind string) bool {
	needs := 0
	switch kind {
	case G1a, G1b, G1c:
		needs = 1
	case GSingle, LostUpdate:
		needs = 2
	case G2:
		needs = 3
	case RealTime:
		needs = 4
	}
	return c.level() >= needs
}

// Anomaly is something that must not happen, with its evidence.
type Anomaly struct {
	Kind   string `json:"kind"`
	Text   string `json:"text"`
	Cycle  []Step `json:"cycle,omitempty"`
	Breaks bool   `json:"breaks_claim"` // set by the recorder from its claim
}
