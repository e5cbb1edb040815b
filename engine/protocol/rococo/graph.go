package rococo

import (
	"cmp"
	"fmt"
	"slices"

	"drtmx/engine/r2"
)

// txnID names a transaction. Their order is total, and says which transaction of a cycle runs first: it means nothing else.
type txnID uint64

// edge says that a transaction comes after another one, because their pieces meet on a server.
type edge struct {
	before    txnID
	server    int16 // where they meet: it knows the one before
	immediate bool  // that one's piece has run already, so nothing can reverse the order
}

// compare is the order in which messages have edges.
func (e edge) compare(b edge) int {
	if c := cmp.Or(cmp.Compare(e.before, b.before), cmp.Compare(e.server, b.server)); c != 0 || e.immediate == b.immediate {
		return c
	}
	if e.immediate {
		return -1
	}
	return 1
}

// behind are those of an ordered list that come behind one.
func behind(list []edge, last edge) []edge {
	i := slices.IndexFunc(list, func(e edge) bool { return e.compare(last) > 0 })
	if i < 0 {
		return nil
	}
	return list[i:]
}

// distinct orders edges, and leaves out those that are there twice; one that is immediate stays so.
func distinct(list []edge) []edge {
	slices.SortFunc(list, edge.compare)
	return slices.CompactFunc(list, func(a, b edge) bool { return a.before == b.before && a.server == b.server })
}

// status is what a server knows of a transaction.
type status uint8

const (
	heard      status = iota // others come after it; nothing else is known here
	started                  // it has pieces here, and may get more
	committing               // all of its edges are known: it gets no more
	executing                // its pieces run
	executed                 // its pieces here have run, and those of all before it
)

// node is a transaction in the graph of a server.
type node struct {
	id     txnID
	status status
	asked  bool  // some other server was asked for its edges
	server int16 // that knows it, where this one has only heard of it
	edges  []edge

	// Its commit timestamp, where records have versions: what its coordinator has found, and what comes of that in the graph. It
	// is known, and the same on all servers, once it has been executed somewhere.
	least, stamp uint64
	floor, top   uint64 // of its component: larger than the stamps of all that comes before, and its largest
	stamped      bool

	pieces  []piece  // on this server, in the order in which they started
	mem     []byte   // their inputs and outputs
	effects effects  // of them
	waiters []*r2.Co // until its status changes

	// Of the last plan that it was in.
	round      uint32
	index, low int32
	component  int32
	onStackAt  int // on the stack
	stacked    bool
}

// graph is what a server knows of transactions, those that ended lately included: others may still ask for them.
type graph struct {
	nodes  map[txnID]*node // lookups only
	old    []txnID         // that have been executed, the oldest at first
	oldest int             // in old, as a ring
	free   []*node
	plan   plan
}

// keptNodes is how many executed transactions a server remembers. One that others still depend on must be among them, see
// graph.find: those that run at the same time are a hundred times fewer.
const keptNodes = 1 << 15

func newGraph(kept int) *graph {
	return &graph{nodes: map[txnID]*node{}, old: make([]txnID, 0, kept)}
}

// node is a transaction, which may be new here.
func (g *graph) node(id txnID, server int16) *node {
	n := g.nodes[id]
	if n == nil {
		n = new(node)
		if last := len(g.free) - 1; last >= 0 {
			n, g.free = g.free[last], g.free[:last]
		}
		n.id, n.server = id, server
		g.nodes[id] = n
	}
	return n
}

// stampAll gives the transactions of a plan their timestamps, component by component: all of a cycle have larger ones than
// all that comes before any of them, with their own cycles, and than those that run before them in the cycle. Two may meet on a record
// and have no edge, for one in between, which its cycle moves elsewhere, has two.
func (g *graph) stampAll(order []*node) {
	for len(order) > 0 {
		n, floor := 0, uint64(0)
		for ; n < len(order) && order[n].component == order[0].component; n++ {
			floor = max(floor, order[n].floor)
			for _, e := range order[n].edges {
				if b := g.nodes[e.before]; b.round != g.plan.round || b.component != order[0].component {
					floor = max(floor, b.top+1)
				}
			}
		}
		last := uint64(0)
		for _, m := range order[:n] {
			if !m.stamped {
				m.stamp, m.floor, m.stamped = max(m.least, floor, last+1), floor, true
			}
			last = m.stamp
		}
		for _, m := range order[:n] {
			m.top = last
		}
		order = order[n:]
	}
}

// alloc is memory for a piece, zeros at first.
func (n *node) alloc(bytes int) []byte {
	from := len(n.mem)
	n.mem = append(n.mem, make([]byte, bytes)...) // what was taken before stays where it is
	return n.mem[from:len(n.mem):len(n.mem)]
}

// comesAfter takes in edges of a transaction that is to commit, complete the last ones.
func (n *node) comesAfter(edges []edge) {
	if n.status < committing {
		n.edges = append(n.edges, edges...)
	}
}

func (n *node) complete(edges []edge) {
	n.comesAfter(edges)
	n.status = max(n.status, committing)
}

// retire remembers an executed transaction for servers that ask, and forgets the oldest one. Of its edges only those within its
// component are kept: whatever else comes before it has no cycle with the transaction asked for, and is committing at least.
func (g *graph) retire(n *node) {
	n.status = executed
	n.edges = slices.DeleteFunc(n.edges, func(e edge) bool {
		b := g.nodes[e.before]
		return b == nil || b.round != n.round || b.component != n.component
	})
	if len(g.old) < cap(g.old) {
		g.old = append(g.old, n.id)
		return
	}
	gone := g.nodes[g.old[g.oldest]]
	delete(g.nodes, gone.id)
	*gone = node{edges: gone.edges[:0], pieces: gone.pieces[:0], mem: gone.mem[:0], effects: gone.effects[:0], waiters: gone.waiters[:0], round: gone.round}
	g.free = append(g.free, gone)
	g.old[g.oldest] = n.id
	g.oldest = (g.oldest + 1) % len(g.old)
}

// plan is the search for what has to run before a transaction, and for cycles: Tarjan's algorithm along the edges, so that
// the components come out in the order in which they run.
type plan struct {
	round    uint32
	next     int32
	found    int32 // components
	stack    []*node
	order    []*node
	blocking *node
	visited  int
}

// order lists what has to run for a transaction to have run, itself last or in its component: in the order of the
// dependencies, and those of a cycle in the order of their numbers, but for what immediate pieces have settled. If it is not
// known yet, blocking is a transaction that has to be waited for, or asked for, first.
func (g *graph) order(of *node) (list []*node, blocking *node, err error) {
	p := &g.plan
	p.round++
	p.next, p.found, p.stack, p.order, p.blocking, p.visited = 0, 0, p.stack[:0], p.order[:0], nil, 0
	if err := g.visit(of); err != nil || p.blocking != nil {
		return nil, p.blocking, err
	}
	return p.order, nil, nil
}

// visit goes to all that a transaction comes after, and takes the components off the stack that are whole.
func (g *graph) visit(n *node) error {
	p := &g.plan
	p.visited++
	if n.status != committing {
		p.blocking = n
		return nil
	}
	n.round, n.index, n.low, n.onStackAt, n.stacked = p.round, p.next, p.next, len(p.stack), true
	p.next++
	p.stack = append(p.stack, n)
	for _, e := range n.edges {
		b := g.node(e.before, e.server)
		switch {
		case b.status == executed:
		case b.round != p.round:
			if err := g.visit(b); err != nil || p.blocking != nil {
				return err
			}
			n.low = min(n.low, b.low)
		case b.stacked:
			n.low = min(n.low, b.index)
		}
	}
	if n.low != n.index {
		return nil
	}
	members := p.stack[n.onStackAt:]
	p.stack = p.stack[:n.onStackAt]
	for _, m := range members {
		m.stacked, m.component = false, p.found
	}
	p.found++
	return g.run(members)
}

// run appends a component to the order.
func (g *graph) run(members []*node) error {
	p := &g.plan
	slices.SortFunc(members, func(a, b *node) int { return cmp.Compare(a.id, b.id) })
	for left := len(members); left > 0; left-- {
		i := slices.IndexFunc(members[:left], func(n *node) bool { return !g.held(n) })
		if i < 0 {
			return fmt.Errorf("immediate pieces of transactions %d and %d others form a cycle: one of their workloads' transactions has several of them", members[0].id, left-1)
		}
		n := members[i]
		n.component = -1 - n.component // it is in the order
		p.order = append(p.order, n)
		copy(members[i:], members[i+1:left])
	}
	for _, n := range p.order[len(p.order)-len(members):] {
		n.component = -1 - n.component
	}
	return nil
}

// held says that an immediate piece of another one in the component ran before one of this transaction, which is not in the
// order yet.
func (g *graph) held(n *node) bool {
	return slices.ContainsFunc(n.edges, func(e edge) bool {
		if !e.immediate {
			return false
		}
		b := g.nodes[e.before]
		return b != n && b.status == committing && b.round == n.round && b.component == n.component
	})
}
