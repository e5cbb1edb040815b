package mvcc

import (
	"drtmx/engine/r2"
	"drtmx/engine/store"
)

// rules are what the store does at the places where faults can be planted. See Variant.
type rules struct {
	// overwrite moves the tuple timestamp of a row to that of its new version.
	overwrite func(s *Store, c *r2.Co, at r2.Addr, ts uint64)
	// raiseReads says that validation raises what was only read.
	raiseReads bool
	// waits says whether a snapshot waits for the holder of a lock, by what the tuple timestamp was before its claim.
	waits func(tuple uint64, p []uint64) bool
	// order claims a row and looks at its lock.
	order func(s *Store, c *r2.Co, m *machine, at store.Location, p []uint64, w *waiter) bool
	// ahead is by how much the watermark is beyond what is needed.
	ahead uint64
	// overwritten follows on a push.
	overwritten func(s *Store, c *r2.Co, h *heap, slot uint32)
	// buried keeps the timestamp of a tombstone that is collected.
	buried func(s *Store, c *r2.Co, x *tomb)
}

// sound are the rules of §5.3.2.
func sound() rules {
	return rules{
		overwrite:   func(_ *Store, c *r2.Co, at r2.Addr, ts uint64) { raise(c, at, ts) },
		raiseReads:  true,
		waits:       func(uint64, []uint64) bool { return true },
		order:       (*Store).claimThenLook,
		overwritten: func(*Store, *r2.Co, *heap, uint32) {},
		buried: func(s *Store, c *r2.Co, x *tomb) {
			s.ClaimGap(c, x.table, x.key, c.Load64(x.row+tupleAt))
		},
	}
}
