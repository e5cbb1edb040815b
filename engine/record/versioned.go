package record

import "encoding/binary"

// Versioned is the header of rows whose records have versions (thesis §5.3.2):
//
//	offset  0   lock     u64
//	offset  8   tuple    u64   read timestamp of the record: no later writer may have a smaller stamp
//	offset 16   chain    u64   where the previous version is
//	offset 24   version  u64   stamp of the present version
//	offset 32   seq      u64
//	offset 40   value
//
// What the primary has for itself comes first, so that backups hold the rest in one piece; sequence and value are
// beside each other, for a write-back of both. Rows are 16-byte aligned: lock and tuple are in one line, which no READ tears.
//
// A deleted record leaves a tombstone, whose version has a stamp as others have, until no snapshot can ask for what was there
// before it. Sequences of live records have a counter of 2, 6, 10, ..., those of tombstones 4, 8, ...
var Versioned = Header{
	Bytes: VersionedBytes, Stamp: VersionedSeqOffset, Initial: InitialSeq, Own: VersionOffset, Step: 4,
	Tuple: TupleOffset, Chain: ChainOffset, Version: VersionOffset,
}

// Where its words are, as numbers that a compiler knows.
const (
	TupleOffset        = 8
	ChainOffset        = 16
	VersionOffset      = 24
	VersionedSeqOffset = 32
	VersionedBytes     = 40
)

// Tomb reports whether the row of a versioned table holds a tombstone.
func Tomb(seq uint64) bool { return seq&2 == 0 && seq&counterMask > 1 }

// Entomb is the sequence of the tombstone that follows on a record, or on a tombstone, with sequence seq.
func Entomb(seq uint64) uint64 { return seq&^3 + 4 }

// NextVersion is the sequence of the live version that follows on a record or on a tombstone of a versioned table.
func NextVersion(seq uint64) uint64 {
	if Tomb(seq) {
		return seq&^3 + 2
	}
	return seq&^3 + 6
}

// TupleOf is the read timestamp of a row, ChainOf where its previous version is, VersionOf the stamp of the present one.
func (h Header) TupleOf(row []byte) uint64   { return binary.LittleEndian.Uint64(row[h.Tuple:]) }
func (h Header) VersionOf(row []byte) uint64 { return binary.LittleEndian.Uint64(row[h.Version:]) }

// Tomb reports whether a row with this stamp holds a tombstone, which only versioned tables have.
func (h Header) Tomb(stamp uint64) bool { return h.HasVersions() && Tomb(stamp) }

// HasVersions says that there are such words.
func (h Header) HasVersions() bool { return h.Version > 0 }
