package rococo

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawn is a random graph of transactions: for each, those that it comes after.
type drawn struct {
	edges [][]edge
}

// draw makes one. Immediate edges lead back in an order of their own, so that they have no cycle.
func draw(t *rapid.T) drawn {
	n := rapid.IntRange(1, 12).Draw(t, "transactions")
	settled := rapid.Permutation(numbers(n)).Draw(t, "settled")
	d := drawn{edges: make([][]edge, n)}
	for range rapid.IntRange(0, 3*n).Draw(t, "edges") {
		from, to := rapid.IntRange(0, n-1).Draw(t, "before"), rapid.IntRange(0, n-1).Draw(t, "after")
		if from == to {
			continue
		}
		immediate := rapid.IntRange(0, 3).Draw(t, "immediate") == 0 && settled[from] < settled[to]
		d.edges[to] = append(d.edges[to], edge{before: txnID(from), immediate: immediate})
	}
	return d
}

func numbers(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// reach says for each pair whether the first comes before the second, by any way.
func (d drawn) reach() [][]bool {
	n := len(d.edges)
	r := make([][]bool, n)
	for i := range r {
		r[i] = make([]bool, n)
		r[i][i] = true
	}
	for to, list := range d.edges {
		for _, e := range list {
			r[e.before][to] = true
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				r[i][j] = r[i][j] || r[i][k] && r[k][j]
			}
		}
	}
	return r
}

// fill makes a server's graph of it, of transactions that all commit.
func (d drawn) fill(g *graph) {
	for i, list := range d.edges {
		g.node(txnID(i), 0).complete(list)
	}
}

func ids(list []*node) (out []txnID) {
	for _, n := range list {
		out = append(out, n.id)
	}
	return out
}

// TestOrder: what runs for a transaction is exactly what comes before it; who is before runs before; of a cycle the lowest
// number runs first that no immediate edge holds back.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		reach := d.reach()
		of := rapid.IntRange(0, len(d.edges)-1).Draw(t, "of")
		g := newGraph(100)
		d.fill(g)
		order, blocking, err := g.order(g.nodes[txnID(of)])
		if err != nil || blocking != nil {
			t.Fatal(err, blocking)
		}
		list := ids(order)
		for i := range d.edges {
			if slices.Contains(list, txnID(i)) != reach[i][of] {
				t.Fatalf("order %v of %d: whether %d is in it", list, of, i)
			}
		}
		for k, b := range list {
			for _, a := range list[:k] {
				if reach[b][a] && !reach[a][b] {
					t.Fatalf("order %v: %d before %d", list, a, b)
				}
			}
			for _, later := range list[k+1:] {
				if !reach[b][later] || !reach[later][b] || later > b {
					continue
				}
				// A lower number of the cycle runs later: something immediate that has not run yet holds it.
				if !slices.ContainsFunc(d.edges[later], func(e edge) bool {
					return e.immediate && reach[later][e.before] && slices.Contains(list[k:], e.before)
				}) {
					t.Fatalf("order %v: %d before %d of one cycle", list, b, later)
				}
			}
			for _, e := range d.edges[b] {
				if e.immediate && slices.Index(list, e.before) > k {
					t.Fatalf("order %v: %d, whose immediate piece ran first, after %d", list, e.before, b)
				}
			}
		}
	})
}

// TestServersAgree: servers that run their transactions at different times, and forget what came before a component, run any
// two in the same order if they depend on each other in both directions.
func TestServersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		reach := d.reach()
		whole := newGraph(100)
		d.fill(whole)
		var ran []*node
		for _, i := range rapid.Permutation(numbers(len(d.edges))).Draw(t, "first server") {
			if n := whole.nodes[txnID(i)]; n.status == committing {
				list, _, err := whole.order(n)
				if err != nil {
					t.Fatal(err)
				}
				for _, n := range list {
					n.status = executing
				}
				ran = append(ran, list...)
				for _, n := range list {
					whole.retire(n)
				}
			}
		}
		// The other server learns of some only what is left after they ran.
		other := newGraph(100)
		for i, list := range d.edges {
			if rapid.Bool().Draw(t, "asked late") {
				list = whole.nodes[txnID(i)].edges
			}
			other.node(txnID(i), 0).complete(list)
		}
		place := map[txnID]int{}
		for k, n := range ran {
			place[n.id] = k
		}
		for _, i := range rapid.Permutation(numbers(len(d.edges))).Draw(t, "other server") {
			list, _, err := other.order(other.nodes[txnID(i)])
			if err != nil {
				t.Fatal(err)
			}
			for k, b := range list {
				for _, a := range list[:k] {
					if reach[a.id][b.id] && reach[b.id][a.id] && place[a.id] > place[b.id] {
						t.Fatalf("%d before %d here, %v there", a.id, b.id, ids(ran))
					}
				}
			}
		}
	})
}

// TestBlocking: as long as something that comes before is not known, it is named, and nothing runs.
func TestBlocking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		reach := d.reach()
		of := rapid.IntRange(0, len(d.edges)-1).Draw(t, "of")
		g := newGraph(100)
		unknown := map[txnID]bool{}
		for i, list := range d.edges {
			if i != of && rapid.IntRange(0, 3).Draw(t, "unknown") == 0 {
				unknown[txnID(i)] = true
				continue
			}
			g.node(txnID(i), 0).complete(list)
		}
		for range len(d.edges) + 1 {
			_, blocking, err := g.order(g.nodes[txnID(of)])
			if err != nil {
				t.Fatal(err)
			}
			if blocking == nil {
				for i := range unknown {
					if reach[i][of] && unknown[i] {
						t.Fatalf("%d runs before %d is known", of, i)
					}
				}
				return
			}
			if !unknown[blocking.id] || !reach[blocking.id][of] {
				t.Fatalf("%d is said to hold up %d", blocking.id, of)
			}
			blocking.complete(d.edges[blocking.id])
			unknown[blocking.id] = false
		}
		t.Fatal("no end")
	})
}

// TestForget: a server remembers as many executed transactions as it says, the last ones.
func TestForget(t *testing.T) {
	g := newGraph(3)
	for i := range txnID(10) {
		n := g.node(i, 0)
		n.complete(nil)
		if _, blocking, err := g.order(n); err != nil || blocking != nil {
			t.Fatal(err, blocking)
		}
		g.retire(n)
	}
	if len(g.nodes) != 3 || g.nodes[7] == nil || g.nodes[8] == nil || g.nodes[9] == nil {
		t.Errorf("remembers %v", g.nodes)
	}
}

// TestImmediateCycle: a cycle of immediate pieces, which no transaction may have, is an error and not an order.
func TestImmediateCycle(t *testing.T) {
	g := newGraph(3)
	g.node(1, 0).complete([]edge{{before: 2, immediate: true}})
	g.node(2, 0).complete([]edge{{before: 1, immediate: true}})
	if list, _, err := g.order(g.nodes[1]); err == nil {
		t.Errorf("order %v", ids(list))
	}
}

// TestStamps: who depends on another one has the larger timestamp, none has less than its coordinator has found, and servers
// that run the transactions in different plans, some of them told what came of others, agree.
func TestStamps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		reach := d.reach()
		var least []uint64
		for range d.edges {
			least = append(least, rapid.Uint64Range(1, 9).Draw(t, "least"))
		}
		run := func(label string, told map[txnID]*node) (map[txnID]uint64, []txnID, *graph) {
			g := newGraph(100)
			d.fill(g)
			for i := range d.edges {
				n := g.nodes[txnID(i)]
				n.least = least[i]
				if x := told[n.id]; x != nil && rapid.Bool().Draw(t, "told") {
					n.edges, n.stamp, n.floor, n.top, n.stamped = slices.Clone(x.edges), x.stamp, x.floor, x.top, true
				}
			}
			stamps, all := map[txnID]uint64{}, []txnID(nil)
			for _, i := range rapid.Permutation(numbers(len(d.edges))).Draw(t, label) {
				if n := g.nodes[txnID(i)]; n.status == committing {
					list, _, err := g.order(n)
					if err != nil {
						t.Fatal(err)
					}
					g.stampAll(list)
					all = append(all, ids(list)...)
					for _, n := range list {
						stamps[n.id] = n.stamp
						g.retire(n)
					}
				}
			}
			return stamps, all, g
		}
		one, order, g := run("one server", nil)
		for k, a := range order {
			if one[a] < least[a] {
				t.Fatalf("stamp %d of %d, found %d", one[a], a, least[a])
			}
			for _, b := range order[k+1:] {
				meet := slices.ContainsFunc(d.edges[b], func(e edge) bool { return e.before == a }) || slices.ContainsFunc(d.edges[a], func(e edge) bool { return e.before == b })
				if (meet || reach[a][b]) && one[a] >= one[b] {
					t.Fatalf("%d runs before %d, with stamps %d and %d", a, b, one[a], one[b])
				}
			}
		}
		other, _, _ := run("other server", g.nodes)
		for id, stamp := range one { // order-free: each by itself
			if x, ok := other[id]; ok && x != stamp {
				t.Fatalf("%d has stamp %d here and %d there; reach %v", id, stamp, x, reach[id])
			}
		}
	})
}

// TestEdgesInParts: who asks for edges in parts, of a transaction that is executed meanwhile, gets each that is left then, and
// nothing that was not there.
func TestEdgesInParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := distinct(rapid.SliceOf(rapid.Custom(func(t *rapid.T) edge {
			return edge{txnID(rapid.IntRange(0, 12).Draw(t, "before")), int16(rapid.IntRange(0, 2).Draw(t, "server")), rapid.Bool().Draw(t, "immediate")}
		})).Draw(t, "edges"))
		all, left := slices.Clone(list), rapid.IntRange(0, 12).Draw(t, "left")
		if !slices.IsSortedFunc(all, edge.compare) {
			t.Fatalf("%v is in no order", all)
		}
		executedAt, room := rapid.IntRange(0, 20).Draw(t, "executed"), rapid.IntRange(1, 4).Draw(t, "room")*word
		var got []edge
		for part := 0; ; part++ {
			if part == executedAt {
				list = slices.DeleteFunc(list, func(e edge) bool { return int(e.before) > left })
			}
			rest := list
			if len(got) > 0 {
				rest = behind(list, got[len(got)-1])
			}
			rep := make([]byte, room)
			n, told := putEdges(rep, rest)
			if got = edgesOf(rep[:n], got); n != told*word || n+word <= room {
				break
			}
		}
		for _, e := range list {
			if !slices.Contains(got, e) {
				t.Fatalf("%v of %v is missing in %v", e, list, got)
			}
		}
		for _, e := range got {
			if !slices.Contains(all, e) {
				t.Fatalf("%v in %v was never there: %v", e, got, all)
			}
		}
	})
}
