package oracle

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"drtmx/engine/fabric/host"
	"drtmx/engine/r2"
)

const lineBytes = 64

// global is the oracle of Figure 5-2: GlobalTS, StableGTS and between them a queue of the numbers that are installed, a bit for
// each. All of it is in the machine's memory, where the handlers of all its threads share it.
type global struct {
	cl       *r2.Cluster
	machine  int
	globalTS r2.Addr
	stableTS r2.Addr
	ring     r2.Addr // bit n modulo ringBits: number n is installed and not stable yet
	keeper   keeper

	// What the simulator knows beside the machine's memory.
	stable uint64
	takers []uint16 // machine that took a number, modulo ringBits
	queued uint64   // numbers that are installed and not stable
	counts counts
}

// ringBits bounds the numbers that are installed above the first that is not: a second of them at a million in a second.
const ringBits = 1 << 20

func newGlobal(cl *r2.Cluster, machine int) (*global, error) {
	base, err := cl.Mem(machine).Alloc(host.Alloc{Name: "oracle.gts", Bytes: 2*lineBytes + ringBits/8})
	if err != nil {
		return nil, err
	}
	g := &global{cl: cl, machine: machine, globalTS: base, stableTS: base + lineBytes, ring: base + 2*lineBytes, takers: make([]uint16, ringBits)}
	return g, g.keeper.open(cl, machine, "oracle.gts", g.stabilize)
}

// draw gives n numbers out and returns the first.
func (g *global) draw(c *r2.Co, from, n int) (first uint64) {
	first = c.LocalFAA(g.globalTS, uint64(n)) + 1
	for i := range uint64(n) {
		g.takers[(first+i)%ringBits] = uint16(from)
	}
	g.counts.takes += uint64(n)
	return first
}

// word is the word of the ring with a number's bit.
func (g *global) word(number uint64) r2.Addr { return g.ring + r2.Addr(number%ringBits/64*8) }

// install is INSTALL(gts): the transaction has its versions in place. False: the queue is full.
func (g *global) install(c *r2.Co, number uint64) bool {
	if number >= (g.stable+1)&^63+ringBits { // its word is still in use
		return false
	}
	c.LocalFAA(g.word(number), 1<<(number%64))
	g.counts.installs++
	g.queued++
	g.keeper.call(c)
	return true
}

// stabilize is STABILIZE(): StableGTS follows the installed numbers up to the first that is missing. It reports whether
// it has found one.
func (g *global) stabilize(c *r2.Co) bool {
	next := g.stable + 1
	at := g.word(next)
	run := uint64(bits.TrailingZeros64(^(c.Load64(at) >> (next % 64))))
	if run = min(run, 64-next%64); run == 0 {
		return false
	}
	if (next+run)%64 == 0 { // it is all stable: no transaction has a number of it
		c.Store64(at, 0)
	}
	g.stable += run
	g.queued -= run
	c.LocalFAA(g.stableTS, run)
	return true
}

// point has the stable timestamp, and the number that was given out last.
func (g *global) point(c *r2.Co) (stable, newest uint64) {
	g.counts.points++
	stable = c.Load64(g.stableTS)
	return stable, c.Load64(g.globalTS)
}

// newest is the number that was given out last.
func (g *global) newest() uint64 {
	return binary.LittleEndian.Uint64(g.cl.Mem(g.machine).Bytes(g.globalTS, 8))
}

// stabiliseAll makes all numbers that were given out stable, at rest.
func (g *global) stabiliseAll() {
	newest := g.newest()
	if newest == g.stable {
		return
	}
	mem := g.cl.Mem(g.machine)
	clear(mem.Bytes(g.word(g.stable+1), 8)) // those that were stable in it
	binary.LittleEndian.PutUint64(mem.Bytes(g.stableTS, 8), newest)
	g.stable, g.queued = newest, 0
}

// stuck says what StableGTS waits for, "" where it waits for nothing.
func (g *global) stuck() string {
	newest := g.newest()
	if g.stable == newest {
		return ""
	}
	return fmt.Sprintf("StableGTS stands still at %d: number %d of machine %d is not installed, of %d that were given out", g.stable, g.stable+1, g.takers[(g.stable+1)%ringBits], newest)
}
