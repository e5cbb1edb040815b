package kv

import (
	"testing"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/sim"
	"drtmx/engine/store"
)

// lookupNS is what a look-up of a random key of a tree takes its server's CPU, in nanoseconds, when its upper levels are in the cache.
func lookupNS(t *testing.T, keys uint64) (levels int, ns float64) {
	t.Helper()
	b := newBed(t, 1, 1, 1)
	tb, err := NewTable(b.cl, record.LockSeq, Spec{ID: 1, Name: "large", ValueBytes: 8, Tree: true}, Placement{Partition: store.Blocks(1, keys), Replicas: 1})
	if err != nil {
		t.Fatal(err)
	}
	b.do(0, func(c *r2.Co) {
		const warm, n = 60_000, 20_000
		begin := c.Now()
		for i := range warm + n {
			if i == warm {
				begin = c.Now()
			}
			if _, ok, err := tb.LookupLocal(c, c.Rand().Uint64n(keys)); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		ns = float64(c.Now()-begin) / n / float64(sim.Nanosecond)
	})
	return len(tb.shards[0][0].tree.Visited()), ns
}

// TestLookupsPerCore: a tree of a hundred million keys has eight levels, and a core looks up 1.8 million keys a second in it (row
// s3-core-lookups of the reference). A smaller one takes less: it has fewer levels, and more of them in the cache.
func TestLookupsPerCore(t *testing.T) {
	levels, ns := lookupNS(t, 100_000_000)
	if rate := 1000 / ns; levels != 8 || rate < 1.8*0.95 || rate > 1.8*1.05 {
		t.Errorf("%d levels, %.2f million look-ups a second; eight and 1.8 in the reference", levels, rate)
	}
	for _, n := range []uint64{720_000, 100_000, 10_000} {
		l, x := lookupNS(t, n)
		t.Logf("%d keys, %d levels: %.0f ns", n, l, x)
		if l >= levels || x >= ns {
			t.Errorf("%d keys: %d levels and %.0f ns, more keys take %d and %.0f", n, l, x, levels, ns)
		}
		levels, ns = l, x
	}
}
