package kv

import (
	"testing"

	"drtmx/engine/r2"
)

// A record that was taken out of the first node of a chain is not there, though nobody has come to the second node.
func TestOracleOfAShortenedChain(t *testing.T) {
	for _, k := range kinds {
		oracleOfAShortenedChain(t, k)
	}
}

func oracleOfAShortenedChain(t *testing.T, k kind) {
	b := newBed(t, 1, 1, 1)
	b.kind = k
	tb := b.table(4000, 8, 10, 1)
	tried := 0
	for _, s := range tb.shards[0] {
		for place := range s.places {
			members := s.membersOf(place)
			if len(members) <= s.slots {
				continue
			}
			first, last := s.keyOf(members[0]), s.keyOf(members[len(members)-1])
			b.do(0, func(c *r2.Co) {
				if _, err := deleteLocal(c, tb, first); err != nil {
					t.Fatal(err)
				}
			})
			if _, ok := tb.Find(first); ok {
				t.Errorf("key %d was deleted and is found", first)
			}
			if _, ok := tb.Find(last); !ok {
				t.Errorf("key %d is not found", last)
			}
			if tried++; tried == 20 {
				return
			}
		}
	}
	if tried == 0 {
		t.Error("no chain has two nodes")
	}
}
