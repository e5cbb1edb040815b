package model

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"pgregory.net/rapid"
)

// list is a tree as training sees it: leaves with the separators between them.
type list struct {
	leaves []Leaf
	slots  int
	aln    uint32 // of the next new leaf
}

// listOf are leaves that nobody has changed.
func listOf(in *Initial, slots int) *list {
	t := &list{slots: slots, aln: in.FirstALN + in.Leaves()}
	for j := range in.Leaves() {
		leaf, _ := in.Leaf(j, nil)
		t.leaves = append(t.leaves, leaf)
	}
	return t
}

// find is the place of the leaf that a key is routed to.
func (t *list) find(key uint64) int {
	return sort.Search(len(t.leaves), func(i int) bool { return t.leaves[i].High >= key })
}

// of are the leaves of a span.
func (t *list) of(s Span) []Leaf {
	if s.Empty() {
		return nil
	}
	return t.leaves[t.find(s.Low) : t.find(s.High)+1]
}

// insert adds a key, and splits its leaf when it is full. It returns the range of keys that the leaf had if it was split.
func (t *list) insert(key uint64) (split bool, low, high uint64) {
	i := t.find(key)
	l := &t.leaves[i]
	at, there := slices.BinarySearch(l.Keys, key)
	if there {
		return false, 0, 0
	}
	low, high = l.Low, l.High
	l.Keys = slices.Insert(slices.Clone(l.Keys), at, key)
	if len(l.Keys) <= t.slots {
		return false, 0, 0
	}
	half := len(l.Keys) / 2
	right := Leaf{ALN: t.aln, Keys: slices.Clone(l.Keys[half:]), Low: l.Keys[half], High: l.High}
	t.aln++
	l.INCA++
	l.Keys, l.High = l.Keys[:half], right.Low-1
	t.leaves = slices.Insert(t.leaves, i+1, right)
	return true, low, high
}

// remove takes a key out. Leaves stay when they are empty.
func (t *list) remove(key uint64) {
	l := &t.leaves[t.find(key)]
	if at, there := slices.BinarySearch(l.Keys, key); there {
		l.Keys = slices.Delete(slices.Clone(l.Keys), at, at+1)
	}
}

// keys are all keys.
func (t *list) keys() (all Sorted) {
	for _, l := range t.leaves {
		all = append(all, l.Keys...)
	}
	return all
}

// cached is a client's cache that holds everything.
type cached struct {
	model  *Model
	slots  int
	subs   []Sub
	tables [][]Entry
}

// misses says why a lookup of key through the cache would not fetch the leaf that the tree routes it to; "" if it would, or if
// the client knows that it has to ask the server.
func (c *cached) misses(t *list, key uint64) string {
	m := c.model.Sub(key)
	if !c.model.Covers(m, key) {
		return ""
	}
	s := c.subs[m]
	first, last := s.Range(c.model.Base(m), key, c.slots)
	if first > last {
		if s.Fallback() {
			return ""
		}
		return fmt.Sprintf("key %d: sub-model %d has no table", key, m)
	}
	want := t.leaves[t.find(key)]
	for _, e := range c.tables[m][first : last+1] {
		if e.ALN() == want.ALN {
			return ""
		}
	}
	return fmt.Sprintf("key %d: sub-model %d fetches leaves %v, the tree has it in %d (%d..%d)", key, m, c.tables[m][first:last+1], want.ALN, want.Low, want.High)
}

// probes are keys where something may go wrong: what is there, what is beside it, and the ends of leaves, spans and sub-models.
func probes(t *list, c *cached) (keys []uint64) {
	low, high := t.leaves[0].Low, t.leaves[len(t.leaves)-1].High
	around := func(k uint64) {
		for _, k := range []uint64{k - 1, k, k + 1} {
			if low <= k && k <= high {
				keys = append(keys, k)
			}
		}
	}
	for _, l := range t.leaves {
		around(l.Low)
		around(l.High)
		around(l.Low + (l.High-l.Low)/2)
		for _, k := range l.Keys {
			around(k)
		}
	}
	for m := range c.model.M {
		s := c.model.Span(m)
		around(s.Low)
		around(s.High)
		around(c.model.Base(m))
	}
	around(low)
	around(high)
	return keys
}

// boundaries are keys where the top model's choice changes, between neighbouring keys of a list: it finds one of each pair.
func boundaries(x *Model, keys []uint64) (found []uint64) {
	for i := 1; i < len(keys); i++ {
		a, b := min(keys[i-1], keys[i]), max(keys[i-1], keys[i])
		if x.Sub(a) == x.Sub(b) {
			continue
		}
		for b-a > 1 {
			if middle := a + (b-a)/2; x.Sub(middle) == x.Sub(a) {
				a = middle
			} else {
				b = middle
			}
		}
		found = append(found, a, b)
	}
	return found
}

// trainAll is a cache that was filled from the tree as it is.
func trainAll(t *list, x *Model, tr *Trainer) *cached {
	c := &cached{model: x, slots: t.slots, subs: make([]Sub, x.M), tables: make([][]Entry, x.M)}
	for m := range x.M {
		c.train(t, tr, m)
	}
	return c
}

func (c *cached) train(t *list, tr *Trainer, m uint32) {
	span := c.model.Span(m)
	c.subs[m], c.tables[m] = tr.Sub(t.of(span), span, c.model.Base(m), c.subs[m].Generation()+1, nil)
}

// someKeys are keys of one of several distributions: dense, spread over 64 bits, clustered, or composite.
func someKeys(t *rapid.T) Sorted {
	n := rapid.IntRange(1, 150).Draw(t, "n")
	shape := rapid.SampledFrom([]string{"dense", "wide", "clustered", "composite", "growing"}).Draw(t, "shape")
	var keys Sorted
	at := rapid.Uint64Range(0, 1000).Draw(t, "origin")
	for range n {
		switch shape {
		case "dense":
			at += rapid.Uint64Range(1, 3).Draw(t, "step")
		case "wide":
			at = rapid.Uint64().Draw(t, "key")
		case "clustered":
			at = rapid.Uint64Range(0, 3).Draw(t, "cluster")<<62 + 1<<61 + rapid.Uint64Range(0, 300).Draw(t, "key")
		case "composite":
			at = rapid.Uint64Range(1, 3).Draw(t, "warehouse")<<40 | rapid.Uint64Range(1, 5).Draw(t, "district")<<32 |
				rapid.Uint64Range(1, 4).Draw(t, "order")<<8 | rapid.Uint64Range(1, 15).Draw(t, "line")
		case "growing":
			at += at/8 + 1
			if at > math.MaxUint64/2 {
				at = rapid.Uint64().Draw(t, "key")
			}
		}
		keys = append(keys, at)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// someTop is a top model of one of all kinds.
func someTop(t *rapid.T, keys Keys) Top {
	spec := TopSpec{
		Kind:   rapid.SampledFrom(append(TopKinds(), "table", "chaos")).Draw(t, "top"),
		Fields: []Field{{40, 24}, {32, 8}, {8, 24}, {0, 8}},
		Hidden: [][]int{{3}, {2, 2}}[rapid.IntRange(0, 1).Draw(t, "layers")], Epochs: 20,
		Activation: rapid.SampledFrom([]string{"sigmoid", "relu"}).Draw(t, "activation"),
		Seed:       rapid.Uint64().Draw(t, "seed"), Eps: 0.05,
	}
	switch spec.Kind {
	case "chaos":
		return chaos(spec.Seed)
	case "table":
		spec.Kind = "lr"
		top, err := TrainTop(spec, keys)
		if err != nil {
			t.Fatal(err)
		}
		return blind{top}
	}
	top, err := TrainTop(spec, keys)
	if err != nil {
		t.Fatal(err)
	}
	return top
}

// chaos is a top model that knows nothing about keys.
type chaos uint64

func (c chaos) Predict(key uint64) float64 {
	h := (key ^ uint64(c)) * 0x9e3779b97f4a7c15
	return float64((h^h>>29)>>12) / (1 << 52)
}
func (chaos) Bytes() int     { return 8 }
func (chaos) Cycles() int    { return 10 }
func (chaos) Monotone() bool { return false }
func (chaos) Name() string   { return "chaos" }

// blind is a top model whose inverse nobody knows.
type blind struct{ Top }

func sortedOf(set map[uint64]bool) (keys Sorted) {
	for k := range set { // sorted below
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
