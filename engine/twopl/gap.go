package twopl

import (
	"fmt"

	"drtmx/engine/fabric/host"
	"drtmx/engine/r2"
	"drtmx/engine/wire"
)

// A record that is missing has no row to lock. What is locked in its place is its gap: the bucket chain where it would
// be. A transaction that has found nothing shares that lock, one that inserts has it alone, until its end. So nothing
// that was found missing comes into being meanwhile. Deletes need no lock but that of the record: the missing stay
// missing.
//
// The locks of gaps are words in registered memory of each server, as those of rows: a gap has the one that its address
// hashes to. Gaps that share one exclude each other though they need not. The word is locked after the lookup, so the
// record is looked up once more under the lock.

// gapWords is how many of these words a server has: far more than are locked at a time.
const gapWords = 1 << 14

// openTables makes the locks of the servers.
func (p *protocol) openTables() error {
	for m := range p.db.Servers() {
		mem := p.cl.Mem(m)
		gaps, err := mem.Alloc(host.Alloc{Name: "twopl.gaps", Bytes: 8 * gapWords, Tracked: true})
		if err != nil {
			return fmt.Errorf("locks of gaps of machine %d: %w", m, err)
		}
		private, err := mem.Alloc(host.Alloc{Name: "twopl.locks", Bytes: lineBytes * privateLines})
		if err != nil {
			return fmt.Errorf("lock table of machine %d: %w", m, err)
		}
		t := &table{p: p, machine: m, gaps: gaps, private: private, locks: map[r2.Addr]*lock{}, parties: map[uint64]*party{}}
		for range p.cl.Threads(m) {
			t.clerks = append(t.clerks, &clerk{t: t})
		}
		p.tables = append(p.tables, t)
	}
	return nil
}

// lockOf is the word that locks a gap.
func (t *table) lockOf(gap r2.Loc) r2.Addr {
	return t.gaps + r2.Addr(uint64(gap.Addr)*0x9e3779b97f4a7c15>>32%gapWords*8)
}

// holdsGap says that a party has the lock of a gap.
func (t *table) holdsGap(c *r2.Co, p *party, gap r2.Loc, want mode) bool {
	at := t.lockOf(gap)
	t.touch(c, uint64(at))
	l := t.locks[at]
	return l != nil && l.holds(p) && l.mode >= want
}

// insertGap locks the gap of a record that is inserted.
func (t *table) insertGap(c *r2.Co, r *request, gap r2.Loc) verdict {
	return t.askGap(c, r, t.lockOf(gap), exclusive)
}

// Audit looks at what is locked at rest: gaps, and whatever else the tables of locks have.
func (p *protocol) Audit(bad func(text string)) {
	if p.mv != nil {
		p.mv.Audit(bad)
	}
	for m, t := range p.tables {
		for n := range gapWords {
			at := t.gaps + r2.Addr(8*n)
			if mem := p.cl.Mem(m); mem.Materialized(at) {
				if who := holders(wire.Get64(mem.Bytes(at, 8))); who != "" {
					bad(fmt.Sprintf("gap %d of machine %d is still locked by %s", n, m, who))
				}
			}
		}
		if n := len(t.locks); n > 0 {
			bad(fmt.Sprintf("%d locks of machine %d are still held or waited for", n, m))
		}
		if n := len(t.parties); n > 0 {
			bad(fmt.Sprintf("machine %d still remembers %d attempts", m, n))
		}
	}
}
