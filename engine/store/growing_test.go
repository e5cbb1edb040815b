package store

import (
	"testing"

	"pgregory.net/rapid"
)

// Keys from the start and those that may come are numbered one behind the other.
func TestGrowingNumbersItsKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers := rapid.IntRange(1, 5).Draw(t, "servers")
		all := Blocks(servers, uint64(servers)*rapid.Uint64Range(1, 60).Draw(t, "keys"))
		if rapid.Bool().Draw(t, "stripes") {
			all = Stripes(servers, rapid.Uint64Range(0, 200).Draw(t, "striped"))
		}
		before, share := rapid.Uint64Range(0, 10).Draw(t, "before"), rapid.Uint64Range(0, 30).Draw(t, "initial")
		p := Growing{All: all, Initial: func(m int) (from, n uint64) {
			from = min(before, all.Count(m))
			return from, min(share, all.Count(m)-from)
		}}
		known, numbered := uint64(0), uint64(0)
		for key := range uint64(300) {
			i, ok := p.Local(key)
			n, may := p.Number(key)
			if ok && (!may || n != i || p.Key(p.Primary(key), i) != key || i >= p.Count(p.Primary(key))) {
				t.Fatalf("key %d has number %d among those from the start, %d, %v among all", key, i, n, may)
			}
			if may && n >= p.Room(p.Primary(key)) {
				t.Fatalf("key %d has number %d of %d", key, n, p.Room(p.Primary(key)))
			}
			if ok {
				known++
			}
			if may {
				numbered++
			}
		}
		for m := range servers {
			known -= p.Count(m)
			numbered -= p.Room(m)
		}
		if known != 0 || numbered != 0 {
			t.Fatalf("%d keys too many from the start, %d in all", int64(known), int64(numbered))
		}
	})
}
