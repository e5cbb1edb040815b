package audit

import (
	"fmt"

	"drtmx/engine/history"
	"drtmx/engine/timestamp"
)

// Guarantees is what the snapshots of a client must contain, unless they are of the kind that may be stale: what it has written, and
// what it has seen before.
type Guarantees struct {
	written [OwnWrites]OwnWrite // the last ones
	writes  uint64
	point   []uint64 // at which a snapshot has read, by word the largest
}

// OwnWrite is a version that the client has written.
type OwnWrite struct {
	Key     history.Key
	Version uint64
}

// OwnWrites is how many of its own versions a client is held to.
const OwnWrites = 64

// Forget is what another scheme of timestamps does to it: its points mean nothing to that.
func (g *Guarantees) Forget() { g.writes, g.point = 0, g.point[:0] }

// Wrote notes what an attempt that commits has written.
func (g *Guarantees) Wrote(x OwnWrite) {
	g.written[g.writes%OwnWrites] = x
	g.writes++
}

// Written are the last versions that the client has written.
func (g *Guarantees) Written() []OwnWrite { return g.written[:min(g.writes, OwnWrites)] }

// ReadsAt says that a snapshot of a coroutine reads at a point, whose words are those of a timestamp.Point. What it returns, if not
// empty, is the guarantee that this breaks.
func (g *Guarantees) ReadsAt(coroutine uint32, fresh timestamp.Freshness, point []uint64) (breach string) {
	if fresh == timestamp.Stale {
		return ""
	}
	for len(g.point) < len(point) {
		g.point = append(g.point, 0)
	}
	for i, w := range point {
		if w < g.point[i] {
			return fmt.Sprintf("a snapshot of coroutine %d reads at %d, one before it read at %d", coroutine, w, g.point[i])
		}
	}
	copy(g.point, point)
	return ""
}
