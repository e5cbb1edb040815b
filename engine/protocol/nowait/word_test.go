package nowait

import (
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/store"
)

// TestWord: a lock changes nothing of the incarnation, and the words say what they mean.
func TestWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ref := store.NewRef(rapid.Uint32().Draw(t, "row"), rapid.Uint16().Draw(t, "incarnation"))
		other := store.NewRef(ref.Row(), ref.Incarnation()+1)
		free, n := freeWord(ref), rapid.IntRange(1, 1000).Draw(t, "holders")
		word := free
		for range n {
			word = shared.withLock(word)
		}
		for _, w := range []uint64{free, word, exclusive.withLock(free)} {
			if !holds(w, ref) || holds(w, other) || w&^stateMask != free {
				t.Fatalf("word %#x of incarnation %d", w, ref.Incarnation())
			}
		}
		if holders(free) != "" || holders(word) == "" || holders(exclusive.withLock(free)) == "" {
			t.Fatalf("words %#x, %#x: %q, %q", free, word, holders(free), holders(word))
		}
		if word&exclusiveBit != 0 || word-uint64(n)*oneHolder != free {
			t.Fatalf("%d holders make %#x of %#x", n, word, free)
		}
	})
	if free := freeWord(store.NewRef(7, 0)); free != 0 || exclusive.withLock(free) != 1 || shared.withLock(free) != 2 {
		t.Errorf("the words of a row that was never reused: free %d, exclusive %d, shared %d", free, exclusive.withLock(free), shared.withLock(free))
	}
}
