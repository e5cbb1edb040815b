package rococo

import (
	"cmp"
	"fmt"
	"slices"
)

// Stuck says for what snapshots wait, and then for which transactions the servers' coroutines wait, for the watchdog that finds that nothing ends.
// At most a few sentences.
func (p *protocol) Stuck(few int) []string {
	out := p.MV.Stuck(few)
	for _, s := range p.servers {
		out = append(out, s.stuck()...)
	}
	return out[:min(len(out), few)]
}

// stuck has a sentence for each transaction that coroutines of a server wait for, those that most wait for first.
func (s *server) stuck() (out []string) {
	var list []*node
	for _, n := range s.graph.nodes { // order-free: sorted below
		if len(n.waiters) > 0 {
			list = append(list, n)
		}
	}
	slices.SortFunc(list, func(a, b *node) int {
		return cmp.Or(cmp.Compare(len(b.waiters), len(a.waiters)), cmp.Compare(a.id, b.id))
	})
	for _, n := range list {
		out = append(out, fmt.Sprintf("%d coroutines of machine %d wait for transaction %#x, which %s", len(n.waiters), s.machine, n.id, s.graph.state(n)))
	}
	return out
}

// state says how far a transaction is, and which of those before it are not executed.
func (g *graph) state(n *node) string {
	switch n.status {
	case heard:
		return fmt.Sprintf("only machine %d knows", n.server)
	case started:
		return fmt.Sprintf("has started %d pieces there and is not to commit yet", len(n.pieces))
	case executing:
		return "runs"
	case executed:
		return "is executed, and none of them was woken"
	}
	var before []string
	for _, e := range n.edges {
		if b := g.nodes[e.before]; b != nil && b.status != executed {
			before = append(before, fmt.Sprintf("%#x", e.before))
		}
	}
	if before == nil {
		return "is to commit, and all before it are executed"
	}
	return fmt.Sprintf("is to commit and comes after %d that are not executed, %s first", len(before), before[0])
}
