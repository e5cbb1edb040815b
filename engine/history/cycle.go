package history

import (
	"slices"
	"strings"
)

// cycleBudget bounds the edges looked at to find a short cycle in one component.
// A component of a thoroughly broken run has thousands of transactions; when the
// budget is used up the best cycle so far is reported, and one with a single
// anti-dependency may have been overlooked for one with several.
const cycleBudget = 1 << 20

// component is a strongly connected part of the dependency graph, renumbered.
type component struct {
	edges  [][]link // out of each transaction; from and to are renumbered
	budget int
	from   []link // of the search: how each one was reached
	seen   []int32
	round  int32
}

// explainCycle reports the weakest anomaly among the cycles of a component.
func (r *Recorder) explainCycle(members []int32) {
	w := &r.now
	told := false
	for _, t := range members {
		told = told || w.txns[t].reported&toldCycle != 0
		w.txns[t].reported |= toldCycle
	}
	if told {
		return
	}
	if !r.wanted() {
		r.count++
		return
	}
	cycle, claim := r.weakest(members)
	steps, texts := r.describe(cycle)
	text := strings.Join(texts, "; ")
	if len(cycle) == 2 {
		text += ": each would have to come before the other"
	} else {
		text += ": each would have to come before itself"
	}
	r.note(Anomaly{Kind: kindOf(cycle), Text: text, Cycle: steps}, claim)
}

// weakest is the cycle of a component that tells most, and the claim that it is held against: that of
// read-write transactions where it runs through no snapshot.
func (r *Recorder) weakest(members []int32) (cycle []link, claim Claim) {
	cycle = r.weakestOf(members)
	writers := func(l link) bool { return r.now.txns[l.from].level == LevelStrict }
	switch {
	case !slices.ContainsFunc(cycle, func(l link) bool { return !writers(l) }):
		return cycle, r.opt.Writers
	case r.opt.Claim.breaks(kindOf(cycle)):
		return cycle, r.opt.Claim
	}
	var strict []int32
	for _, t := range members {
		if r.now.txns[t].level == LevelStrict {
			strict = append(strict, t)
		}
	}
	if among := r.weakestOf(strict); among != nil {
		return among, r.opt.Writers
	}
	return cycle, r.opt.Claim
}

// weakestOf is a cycle through some of these transactions, nil if there is none.
func (r *Recorder) weakestOf(members []int32) []link {
	cycle := r.component(members).weakest()
	for i := range cycle {
		cycle[i].from, cycle[i].to = members[cycle[i].from], members[cycle[i].to]
	}
	return cycle
}

func (r *Recorder) component(members []int32) *component {
	w := &r.now
	local := make(map[int32]int32, len(members))
	for i, t := range members {
		local[t] = int32(i)
	}
	c := &component{
		edges: make([][]link, len(members)),
		from:  make([]link, len(members)), seen: make([]int32, len(members)),
	}
	for i, t := range members {
		for _, l := range w.links(t, nil) {
			if to, ok := local[l.to]; ok {
				l.from, l.to = int32(i), to
				c.edges[i] = append(c.edges[i], l)
			}
		}
	}
	return c
}

// kindOf names a cycle by its anti-dependencies.
func kindOf(cycle []link) string {
	rw, wr := 0, 0
	for _, l := range cycle {
		switch l.edge {
		case RW:
			rw++
		case WR:
			wr++
		}
	}
	switch {
	case rw > 1:
		return G2
	case rw == 1:
		return GSingle
	case wr > 0:
		return G1c
	}
	return G0
}

// weakest is a shortest cycle of the kind that the weakest isolation level forbids.
func (c *component) weakest() []link {
	if cycle := c.shortest(func(e Edge) bool { return e == WW }); cycle != nil {
		return cycle
	}
	known := func(e Edge) bool { return e != RW }
	if cycle := c.shortest(known); cycle != nil {
		return cycle
	}
	if cycle := c.single(known); cycle != nil {
		return cycle
	}
	return c.shortest(func(Edge) bool { return true })
}

// single is a shortest cycle with one anti-dependency.
func (c *component) single(known func(Edge) bool) (best []link) {
	c.budget = cycleBudget
	for _, out := range c.edges {
		for _, l := range out {
			if l.edge != RW {
				continue
			}
			if path := c.path(l.to, l.from, known, len(best)-1); path != nil {
				best = append([]link{l}, path...)
			}
			if len(best) == 2 {
				return best
			}
		}
	}
	return best
}

// shortest is a shortest cycle over the edges that are allowed, nil if there is
// none, which is found out first, in linear time.
func (c *component) shortest(allowed func(Edge) bool) []link {
	c.budget = cycleBudget
	best := c.any(allowed)
	if len(best) <= 2 {
		return best
	}
	for s := range c.edges {
		for _, l := range c.edges[s] {
			if !allowed(l.edge) {
				continue
			}
			if path := c.path(l.to, int32(s), allowed, len(best)-1); path != nil {
				best = append([]link{l}, path...)
			}
			if len(best) == 2 {
				return best
			}
		}
	}
	return best
}

// path is a shortest path from s to t of fewer than limit edges (any number if
// limit is negative), nil if there is none or the budget is used up.
func (c *component) path(s, t int32, allowed func(Edge) bool, limit int) []link {
	c.round++
	c.seen[s] = c.round
	queue := []int32{s}
	for depth := 1; len(queue) > 0 && (limit < 0 || depth < limit); depth++ {
		var next []int32
		for _, u := range queue {
			for _, l := range c.edges[u] {
				if c.budget--; c.budget < 0 {
					return nil
				}
				if !allowed(l.edge) || c.seen[l.to] == c.round {
					continue
				}
				c.seen[l.to] = c.round
				c.from[l.to] = l
				if l.to == t {
					return c.unwind(s, t)
				}
				next = append(next, l.to)
			}
		}
		queue = next
	}
	return nil
}

func (c *component) unwind(s, t int32) []link {
	n := 0
	for u := t; u != s; u = c.from[u].from {
		n++
	}
	path := make([]link, n)
	for u := t; u != s; u = c.from[u].from {
		n--
		path[n] = c.from[u]
	}
	return path
}

// any is some cycle over the allowed edges: the first that a depth-first search
// closes.
func (c *component) any(allowed func(Edge) bool) []link {
	const (
		onPath = 1
		done   = 2
	)
	type visit struct{ txn, edge int32 }
	state := make([]uint8, len(c.edges))
	for root := range c.edges {
		if state[root] != 0 {
			continue
		}
		path := []visit{{txn: int32(root)}}
		state[root] = onPath
		for len(path) > 0 {
			p := &path[len(path)-1]
			if int(p.edge) == len(c.edges[p.txn]) {
				state[p.txn] = done
				path = path[:len(path)-1]
				continue
			}
			l := c.edges[p.txn][p.edge]
			p.edge++
			if !allowed(l.edge) || state[l.to] == done {
				continue
			}
			if state[l.to] == onPath {
				var cycle []link
				for i := len(path) - 1; ; i-- {
					cycle = append([]link{c.edges[path[i].txn][path[i].edge-1]}, cycle...)
					if path[i].txn == l.to {
						return cycle
					}
				}
			}
			state[l.to] = onPath
			path = append(path, visit{txn: l.to})
		}
	}
	return nil
}
