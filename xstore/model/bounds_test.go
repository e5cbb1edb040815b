package model

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// world is a random tree with a trained model.
type world struct {
	in   *Initial
	tree *list
	x    *Model
	tr   *Trainer
	c    *cached
}

func someWorld(t *rapid.T) *world {
	keys := someKeys(t)
	slots := rapid.SampledFrom([]int{2, 4, 16, 255}).Draw(t, "slots")
	in := &Initial{Keys: keys, Fill: max(slots/2, 1), Low: keys[0] - min(keys[0], rapid.Uint64().Draw(t, "below")), High: ^uint64(0), FirstALN: 100}
	if last := keys[len(keys)-1]; rapid.Bool().Draw(t, "bounded") {
		in.High = last + min(5, in.High-last)
	}
	m := rapid.SampledFrom([]uint32{1, 2, 7, 40, 1000}).Draw(t, "sub-models")
	w := &world{in: in, tree: listOf(in, slots), x: NewModel(someTop(t, keys), m, keys, in.Low, in.High)}
	w.tr = NewTrainer(Config{Slots: slots, LeafErrors: rapid.Bool().Draw(t, "leaf errors")})
	w.c = trainAll(w.tree, w.x, w.tr)
	return w
}

// change inserts or removes a key near those that there are and trains again what a split asks for.
func (w *world) change(t *rapid.T) {
	all := w.tree.keys()
	key := rapid.Uint64Range(w.in.Low, w.in.High).Draw(t, "key")
	if len(all) > 0 && rapid.Bool().Draw(t, "near") {
		key = rapid.SampledFrom(all).Draw(t, "of") + rapid.Uint64Range(0, 3).Draw(t, "beside")
		key = min(max(key, w.in.Low), w.in.High)
	}
	if rapid.IntRange(0, 2).Draw(t, "remove") == 0 {
		w.tree.remove(key)
		return
	}
	again := map[uint32]bool{}
	if split, low, high := w.tree.insert(key); split {
		w.x.SubsOf(low, high, func(m uint32) { again[m] = true })
	}
	if m := w.x.Sub(key); w.x.Grow(m, key) {
		again[m] = true
	}
	for m := range w.x.M {
		if again[m] {
			w.c.train(w.tree, w.tr, m)
		}
	}
}

func (w *world) check(t *rapid.T) {
	keys := probes(w.tree, w.c)
	slices.Sort(keys)
	keys = append(keys, boundaries(w.x, keys)...)
	for range 20 {
		keys = append(keys, rapid.Uint64Range(w.in.Low, w.in.High).Draw(t, "any"))
	}
	for _, key := range keys {
		if text := w.c.misses(w.tree, key); text != "" {
			t.Fatal(text)
		}
	}
	for _, key := range w.tree.keys() {
		if m := w.x.Sub(key); !w.x.Covers(m, key) {
			t.Fatalf("key %d is there and outside the span of sub-model %d for ever", key, m)
		}
	}
}

// No key is lost: whatever the tree did, and whether a key is there or not, the leaf that the tree routes it to is fetched.
func TestEveryKeyIsInRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := someWorld(t)
		w.check(t)
		for range rapid.IntRange(0, 60).Draw(t, "changes") {
			w.change(t)
		}
		w.check(t)
		w.c = trainAll(w.tree, w.x, w.tr)
		w.check(t)
	})
}

// The three ways to train agree.
func TestWaysToTrainAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := someWorld(t)
		next := uint32(0)
		w.tr.All(w.in, w.x, 1, func(m uint32, s Sub, tt []Entry) {
			if m != next {
				t.Fatalf("sub-model %d after %d", m, next)
			}
			next++
			one, table := NewTrainer(Config{w.tr.slots, w.tr.leafErrors}).Initial(w.in, w.x, m, 1, nil)
			if s != w.c.subs[m] || !slices.Equal(tt, w.c.tables[m]) {
				t.Fatalf("sub-model %d: %v %v in one pass, %v %v from leaves", m, s, tt, w.c.subs[m], w.c.tables[m])
			}
			if s != one || !slices.Equal(tt, table) {
				t.Fatalf("sub-model %d: %v %v in one pass, %v %v alone", m, s, tt, one, table)
			}
		})
		if next != w.x.M {
			t.Fatalf("%d of %d sub-models", next, w.x.M)
		}
	})
}
