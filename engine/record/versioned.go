package record

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
var Versioned = MustLayout(Options{Step: 4, Align: 16},
	Word{Name: "lock", Role: RoleLock}, Word{Name: "tuple", Role: RoleOwn | RoleRead}, Word{Name: "chain", Role: RoleOwn},
	Word{Name: "version", Role: RoleVersion}, Word{Name: "seq", Role: RoleStamp, Initial: InitialSeq})

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

// Tomb reports whether a row with this stamp holds a tombstone, which only versioned tables have.
func (l *Layout) Tomb(stamp uint64) bool { return l.HasVersions() && Tomb(stamp) }

// HasVersions says that there are such words.
func (l *Layout) HasVersions() bool { return l.Version > 0 }
