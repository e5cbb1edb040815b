package store

import (
	"testing"

	"pgregory.net/rapid"
)

func TestPartitionsNumberTheirKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers := rapid.IntRange(1, 20).Draw(t, "servers")
		keys := rapid.Uint64Range(0, 500).Draw(t, "keys")
		p := Blocks(servers, keys)
		if rapid.Bool().Draw(t, "stripes") {
			p = Stripes(servers, keys)
		}
		seen, total := map[uint64]bool{}, uint64(0)
		for m := range p.Servers() {
			for i := range p.Count(m) {
				key := p.Key(m, i)
				j, ok := p.Local(key)
				if !ok || j != i || p.Primary(key) != m || key >= keys || seen[key] {
					t.Fatalf("key %d: number %d of server %d, said to be %d of %d, %v", key, i, m, j, p.Primary(key), ok)
				}
				seen[key] = true
				total++
			}
		}
		if total != keys {
			t.Fatalf("%d of %d keys have a server", total, keys)
		}
		beyond := rapid.Uint64Range(keys, 1<<55).Draw(t, "beyond")
		if _, ok := p.Local(beyond); ok || p.Primary(beyond) < 0 || p.Primary(beyond) >= servers {
			t.Fatalf("key %d beyond the first: local %v, server %d", beyond, ok, p.Primary(beyond))
		}
	})
}
