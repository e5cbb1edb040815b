package rococo

import (
	"slices"
	"testing"

	"drtmx/engine/r2"
)

// TestStuck: transactions that coroutines wait for are named, with how far they are and what comes before them.
func TestStuck(t *testing.T) {
	g := newGraph(4)
	p := &protocol{servers: []*server{{machine: 1, graph: g}}}
	if got := p.Stuck(4); len(got) > 0 {
		t.Errorf("nobody waits, and it says %q", got)
	}
	g.node(7, 1).status = started
	waited := g.node(8, 1)
	waited.complete([]edge{{before: 7, server: 1}})
	waited.waiters = []*r2.Co{nil, nil}
	far := g.node(9, 2)
	far.waiters = []*r2.Co{nil}
	want := []string{
		"2 coroutines of machine 1 wait for transaction 0x8, which is to commit and comes after 1 that are not executed, 0x7 first",
		"1 coroutines of machine 1 wait for transaction 0x9, which only machine 2 knows",
	}
	if got := p.Stuck(4); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := p.Stuck(1); !slices.Equal(got, want[:1]) {
		t.Errorf("of one sentence: %q", got)
	}
}
