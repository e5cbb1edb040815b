package versions

import (
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
)

// auditVersion is the version, for the history, of what a snapshot has read of a record. Values and stamps are in messages, and it is
// in none: a server's answer has it as a note. Nothing of it takes time.
func auditVersion(c *r2.Co, t *txn.Table, key uint64, at store.Ref, v found) uint64 {
	switch {
	case v.missing:
		return t.Audit.AbsentAtGap(c.Machine(), key, v.gap)
	case v.seq == 0:
		return t.Audit.AbsentBefore(c.Machine(), key, at)
	}
	return t.Audit.Version(c.Machine(), key, at, v.seq)
}
