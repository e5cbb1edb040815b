package occ

import (
	"drtmx/engine/r2"
	"drtmx/engine/timestamp"
)

// heldUp are cycles between two steps that are in the wrong order, as an interrupt takes. Without them the second follows so
// closely that the fault hardly ever shows.
const heldUp = 2000

// versionedFaults change the rules of records with versions, by variant.
var versionedFaults = [numVariants]func(r *rules){
	UnlockBeforeWriteBack: func(r *rules) {
		r.put = func(p *protocol, c *r2.Co, word uint64, x *installed) {
			p.mv.Unlock(c, x.row, word)
			c.Compute(heldUp)
			p.mv.Install(c, x.table, x.key, x.row, x.to)
		}
	},
	TupleOfRead: func(r *rules) {
		r.over = func(s *session, a *access, _, _ uint64) {
			s.p.mv.Scheme().Over(&s.x, timestamp.Stamp(a.tuple), timestamp.Stamp(a.version))
		}
	},
	LookBeforeLock: func(r *rules) {
		r.under = func(p *protocol, c *r2.Co, row r2.Addr, seq, word uint64) (tuple, version uint64, won bool) {
			tuple, version = p.mv.Under(c, row)
			c.Compute(heldUp)
			_, _, won = lockThenLook(p, c, row, seq, word)
			return tuple, version, won
		}
	},
	CheckBeforeRaise: func(r *rules) {
		r.verify = func(p *protocol, c *r2.Co, from r2.Peer, ts uint64, items []byte) bool {
			ok := p.checkAll(c, from, items)
			c.Compute(heldUp)
			p.raiseAll(c, ts, items)
			return ok
		}
	},
}
