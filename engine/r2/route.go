package r2

import (
	"fmt"

	"drtmx/engine/r2/config"
	"drtmx/engine/r2/sendq"
)

// Route is one of a thread's queue pairs to a machine. What goes by the same route is executed in the
// order of its posts; between two routes there is no order. Persistence depends on it: a READ flushes
// the WRITEs before it on its own queue pair only (thesis §2.3.2.2).
type Route struct {
	q       *queuePair // nil: the NICs have no RDMA
	machine int
}

// Route chooses a queue pair towards an address, in turn if there are several. home says that it
// has to end at the RNIC of the address's own socket, so that no access crosses sockets (H1).
func (c *Co) Route(at Loc, home bool) Route {
	c.alone("Route")
	hw := c.w.cl.fab.Machine(at.Machine)
	home = home && hw.Mem.Home(at.Addr) < len(hw.NICs)
	return Route{c.w.to(at, home), at.Machine}
}

// ListVia starts a chain that goes by a route of this thread.
func (g *Group) ListVia(r Route) *List {
	c := g.co
	l := &c.w.mc.list
	switch {
	case l.chain.Len != 0:
		panic("r2: a list is open; post it first")
	case r.q != nil && c.w.pairs.All().Number(r.q.ID) != r.q:
		panic(fmt.Sprintf("r2: route by queue pair %d of another cluster", r.q.ID))
	}
	l.co, l.g, l.q, l.to = c, g, r.q, r.machine
	return l
}

// Mode says what applies to the posts that follow.
func (c *Co) Mode() Mode { return c.mode }

// Using changes the mode without beginning a phase, and returns what it was: for libraries below a
// transaction that need a certain one for some posts.
func (c *Co) Using(m Mode) (before Mode) {
	before, c.mode = c.mode, m
	return before
}

// DefaultMaxWrite is MaxWrite of clusters whose messages have the default length.
const DefaultMaxWrite = config.MaxMessage

// MaxWrite is the payload of the largest WRITE: it is sent from a buffer of this size.
func (cl *Cluster) MaxWrite() int { return cl.cfg.MaxMessage }

// MaxList is how many requests a List takes.
const MaxList = sendq.ListMax
