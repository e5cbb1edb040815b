package masstree

import (
	"testing"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/xstore/kvtest"
	"drtmx/xstore/rivals/service"
)

func with(o Options) kvtest.Make {
	return func(cl *r2.Cluster, s store.KVSpec) (store.KV, error) { return New(cl, s, o) }
}

func TestMapByHash(t *testing.T) { kvtest.Map(t, with(Options{Split: service.ByHash}), false) }
func TestMapByRange(t *testing.T) {
	kvtest.Map(t, with(Options{Fill: 15, Split: service.ByRange}), false)
}

// contended are clients that all work on one or two nodes, and on nodes that split.
var contended = []kvtest.History{
	{Keys: 6, Operations: 60, Bytes: 8},
	{Keys: 5, Operations: 60, Bytes: 40},
	{Keys: 4, Operations: 150, Bytes: 8, Wide: 200},
}

// wrong runs seeds until something is wrong.
func wrong(t *testing.T, seeds uint64) string {
	for seed := uint64(1); seed <= seeds; seed++ {
		for _, h := range contended {
			if w := h.Linear(t, with(Options{Split: service.Split(seed % 2)}), seed); w != "" {
				return w
			}
		}
	}
	return ""
}

func TestLinearizablePerKey(t *testing.T) {
	seeds := uint64(15)
	if testing.Short() {
		seeds = 3
	}
	if w := wrong(t, seeds); w != "" {
		t.Error(w)
	}
}

// A reader that does not look at versions again takes a value for another key's, or misses keys that were moved.
func TestReadersWithoutVersionsAreCaught(t *testing.T) {
	was := changed
	defer func() { changed = was }()
	changed = func(_, _ uint64) bool { return false }
	w := wrong(t, 100)
	if w == "" {
		t.Fatal("no seed shows that versions are not looked at")
	}
	t.Log(w)
}

// A split that does not link the new node hides its keys from scans, and from whoever comes to the old node meanwhile.
func TestSplitsWithoutLinksAreCaught(t *testing.T) {
	was := link
	defer func() { link = was }()
	link = func(*r2.Co, r2.Addr, r2.Addr) {}
	w := wrong(t, 20)
	if w == "" {
		t.Fatal("no seed shows that new nodes are not linked")
	}
	t.Log(w)
}

func BenchmarkGet(b *testing.B) { kvtest.BenchGets(b, with(Options{})) }
