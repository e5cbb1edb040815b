package twopl

import (
	"fmt"

	"drtmx/engine/coordinator"
	"drtmx/engine/fabric/host"
	"drtmx/engine/r2"
)

// What is locked in place of a record that is missing is its gap, see coordinator.Gaps. The word is locked after the lookup, so the
// record is looked up once more under the lock.

// openTables makes the locks of the servers.
func (p *protocol) openTables() error {
	p.gaps = coordinator.NewGaps(p.Cl)
	for m := range p.DB.Servers() {
		if err := p.gaps.Open(m, "twopl.gaps", false); err != nil {
			return err
		}
		private, err := p.Cl.Mem(m).Alloc(host.Alloc{Name: "twopl.locks", Bytes: lineBytes * privateLines})
		if err != nil {
			return fmt.Errorf("lock table of machine %d: %w", m, err)
		}
		t := &table{p: p, machine: m, private: private, locks: map[r2.Addr]*lock{}, parties: map[uint64]*party{}}
		for range p.Cl.Threads(m) {
			t.clerks = append(t.clerks, &clerk{t: t})
		}
		p.tables = append(p.tables, t)
	}
	return nil
}

// lockOf is the word that locks a gap.
func (t *table) lockOf(gap r2.Loc) r2.Addr { return t.p.gaps.Of(gap).Addr }

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
	p.MV.Audit(bad)
	for m, t := range p.tables {
		p.gaps.Audit(m, holders, bad)
		if n := len(t.locks); n > 0 {
			bad(fmt.Sprintf("%d locks of machine %d are still held or waited for", n, m))
		}
		if n := len(t.parties); n > 0 {
			bad(fmt.Sprintf("machine %d still remembers %d attempts", m, n))
		}
	}
}
