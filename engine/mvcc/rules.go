package mvcc

import (
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
)

// rules are what the store does at the places where faults can be planted. See Variant.
type rules struct {
	// overwrite moves the tuple timestamp of a row to that of its new version.
	overwrite func(s *Store, c *r2.Co, at r2.Addr, ts uint64)
	// raiseReads says that validation raises what was only read.
	raiseReads bool
	// waits says whether a snapshot waits for the holder of a lock, by what the tuple timestamp was before its claim, and by the row as
	// it was behind that, nil where the host waits itself.
	waits func(tuple uint64, row []byte, p []uint64) bool
	// order claims a row and looks at its lock.
	order func(s *Store, c *r2.Co, m *machine, at store.Location, p []uint64, w *waiter) bool
	// ahead is by how much the watermark is beyond what is needed.
	ahead uint64
	// overwritten follows on a push.
	overwritten func(s *Store, c *r2.Co, h *heap, slot uint32)
	// claimed, free and whole say that a READ of a row may do for DEP_READ: of its tuple timestamp, of its lock, and of its bytes.
	claimed func(s *Store, tuple uint64, p []uint64) bool
	free    func(s *Store, lock uint64) bool
	whole   func(row, again []byte, tail record.Tail) bool
	// buried keeps the timestamp of a tombstone that is collected.
	buried func(s *Store, c *r2.Co, x *tomb)
}

// sound are the rules of §5.3.2.
func sound() rules {
	return rules{
		overwrite:   func(_ *Store, c *r2.Co, at r2.Addr, ts uint64) { raise(c, at, ts) },
		raiseReads:  true,
		waits:       mayMiss,
		order:       (*Store).claimThenLook,
		overwritten: func(*Store, *r2.Co, *heap, uint32) {},
		claimed:     (*Store).alreadyClaimed,
		free:        (*Store).nobodyHolds,
		whole:       inOnePiece,
		buried: func(s *Store, c *r2.Co, x *tomb) {
			if s.traits.Readers {
				s.moveReaders(c, x)
				return
			}
			s.ClaimGap(c, x.table, x.key, c.Load64(x.row+tupleAt))
		},
	}
}

// mayMiss says that the holder of a row's lock may install what a snapshot has to see. If the snapshot does not see the present
// version, it sees nothing later: a stamp is larger than that of the version that it overwrites (§5.5.4: a snapshot of the
// past is not blocked, for the record "has been updated with larger commit timestamps"). The tuple timestamp says less, since
// snapshots raise it. A row that holds no record has no such version.
func mayMiss(_ uint64, row []byte, p []uint64) bool {
	return row == nil || !record.Live(record.Versioned.StampOf(row)) || visible(record.Versioned.VersionOf(row), p)
}
