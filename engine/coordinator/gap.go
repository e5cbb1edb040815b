package coordinator

import (
	"fmt"

	"drtmx/engine/fabric/host"
	"drtmx/engine/r2"
	"drtmx/engine/wire"
)

// A record that is missing has no row to lock. What protocols that lock as they go lock in its place is its gap: the bucket chain where it
// would be. A transaction that has found nothing shares that lock, one that inserts has it alone, until the end of the transaction. So
// nothing that was found missing comes into being meanwhile. Deletes need no lock but that of the record: the missing stay missing.
//
// The locks of gaps are words in registered memory of each server, as those of rows: a gap has the one that its address hashes to. Gaps
// that share one exclude each other though they need not.

// gapWords is how many of these words a server has: far more than are locked at a time.
const gapWords = 1 << 14

// Gaps are the words that lock gaps, by server.
type Gaps struct {
	cl    *r2.Cluster
	words []r2.Loc
}

// NewGaps are those of no server yet.
func NewGaps(cl *r2.Cluster) *Gaps { return &Gaps{cl: cl} }

// OpenGaps allocates them under a name. Where CPUs alone change them they need no registration.
func OpenGaps(p *Protocol, name string, verbs bool) (*Gaps, error) {
	g := NewGaps(p.Cl)
	for m := range p.DB.Servers() {
		if err := g.Open(m, name, verbs); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// Open allocates those of the next server.
func (g *Gaps) Open(m int, name string, verbs bool) error {
	mem := g.cl.Mem(m)
	a, err := mem.Alloc(host.Alloc{Name: name, Bytes: 8 * gapWords, Tracked: true})
	if err != nil {
		return fmt.Errorf("locks of gaps of machine %d: %w", m, err)
	}
	at := r2.Loc{Machine: m, Addr: a}
	if verbs {
		mr := mem.Register(a, 8*gapWords, host.RemoteRead|host.RemoteWrite|host.RemoteAtomic)
		at.RKey, at.Addr = mr.RKey, mr.Addr
	}
	g.words = append(g.words, at)
	return nil
}

// Of is the word that locks a gap.
func (g *Gaps) Of(gap r2.Loc) r2.Loc {
	at := g.words[gap.Machine]
	at.Addr += r2.Addr(uint64(gap.Addr) * 0x9e3779b97f4a7c15 >> 32 % gapWords * 8)
	return at
}

// Is says that an address of a machine is one of the words.
func (g *Gaps) Is(m int, at r2.Addr) bool {
	first := g.words[m].Addr
	return at >= first && at < first+8*gapWords
}

// Audit looks at them at rest. holders says who holds a word, "" if it is free.
func (g *Gaps) Audit(m int, holders func(word uint64) string, bad func(text string)) {
	mem := g.cl.Mem(m)
	for n := range gapWords {
		at := g.words[m].Addr + r2.Addr(8*n)
		if mem.Materialized(at) {
			if who := holders(wire.Get64(mem.Bytes(at, 8))); who != "" {
				bad(fmt.Sprintf("gap %d of machine %d is still locked by %s", n, m, who))
			}
		}
	}
}
