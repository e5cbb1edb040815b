package versions

import (
	"drtmx/engine/record"
	"drtmx/engine/timestamp"
)

// What the store takes of the host. Measured as the resident set of `drtmx run` on amd64.
const (
	guardBytes   = 1 << 19 // of a server's gaps
	versionBytes = 226     // an old version, with what measures staleness and collects it, but not its value
	endBytes     = 8       // the stamp at the end of a row with old versions in it
)

// Written says how the records of a system are overwritten.
type Written struct {
	Servers   int
	Rows      int64   // of all tables, backups not counted
	Old       int64   // bytes of one old version of each of them
	PerSecond float64 // overwritten records
	Seconds   float64 // of virtual time
}

// Footprint is how many bytes rows have more for their versions, backups not counted, and what is kept beside them. A heap uses the
// places first that were freed last, so of its room only as much is touched as there are versions at a time: those that were overwritten
// since the oldest snapshot that may run.
func Footprint(o *timestamp.Options, w Written) (rows, kept int64) {
	seconds := float64(o.StalenessNS+2*(o.DriftNS+o.GCNS)) / 1e9
	versions := int64(w.PerSecond * min(seconds, w.Seconds))
	rows = w.Rows * int64(record.Versioned.Bytes-record.LockSeq.Bytes)
	if n := int64(o.Inline); n > 0 {
		rows += n*w.Old + w.Rows*endBytes
	}
	return rows, int64(w.Servers)*guardBytes + versions*(versionBytes+w.Old/w.Rows)
}
