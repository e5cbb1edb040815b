package xstore

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"sync/atomic"

	"drtmx/engine/store"
	"drtmx/engine/wire"
)

// partKeys are the initial keys of an index, those of all parts in the order of the parts.
type partKeys struct {
	spec  store.IndexSpec
	shift uint                            // of a part's number
	first []uint64                        // rank of each part's first key, and their number; nil: all have as many
	lists []atomic.Pointer[[]store.Entry] // by part: what Fill says, whichever machine asks first
}

func newPartKeys(s store.IndexSpec, shift uint) *partKeys {
	k := &partKeys{spec: s, shift: shift, lists: make([]atomic.Pointer[[]store.Entry], s.Parts)}
	switch {
	case s.At == nil && s.Fill == nil:
		k.spec.Size = 0
	case s.At == nil && s.Size == 0:
		n := uint64(0)
		for part := range s.Parts {
			k.first = append(k.first, n)
			s.Fill(part, func(_, _ uint64) { n++ })
		}
		k.first = append(k.first, n)
	}
	return k
}

// whole is the key of a part's key, last the highest key that a part can have.
func (k *partKeys) whole(part, key uint64) uint64 { return part<<k.shift | key }
func (k *partKeys) last() uint64                  { return 1<<k.shift - 1 }

// Len is the number of keys of all parts.
func (k *partKeys) Len() uint64 {
	_, end := k.ranks(k.spec.Parts - 1)
	return end
}

// ranks of a part's keys: from the first to before the end.
func (k *partKeys) ranks(part uint64) (first, end uint64) {
	if k.first == nil {
		return part * k.spec.Size, (part + 1) * k.spec.Size
	}
	return k.first[part], k.first[part+1]
}

// entry is the i-th of a part.
func (k *partKeys) entry(part, i uint64) (e store.Entry) {
	if k.spec.At != nil {
		e = k.spec.At(part, i)
	} else {
		e = k.list(part)[i]
	}
	if e.Key > k.last() {
		panic(fmt.Sprintf("xstore: index %s: key %d of part %d has more than %d bits", k.spec.Name, e.Key, part, k.shift))
	}
	return e
}

// list is what Fill says of a part, in order.
func (k *partKeys) list(part uint64) []store.Entry {
	made := k.lists[part].Load()
	if made == nil {
		first, end := k.ranks(part)
		list := make([]store.Entry, 0, end-first)
		k.spec.Fill(part, func(key, value uint64) { list = append(list, store.Entry{Key: key, Value: value}) })
		slices.SortFunc(list, func(a, b store.Entry) int { return cmp.Compare(a.Key, b.Key) })
		if uint64(len(list)) != end-first {
			panic(fmt.Sprintf("xstore: index %s: part %d has %d entries, its description says %d", k.spec.Name, part, len(list), end-first))
		}
		made = &list
		k.lists[part].Store(made)
	}
	return *made
}

// Key is the i-th lowest.
func (k *partKeys) Key(i uint64) uint64 {
	part := uint64(0)
	if k.first == nil {
		part = i / k.spec.Size
	} else {
		part = uint64(sort.Search(int(k.spec.Parts), func(p int) bool { return k.first[p+1] > i }))
	}
	first, _ := k.ranks(part)
	return k.whole(part, k.entry(part, i-first).Key)
}

// Rank is the number of keys below key, and whether key is one of them.
func (k *partKeys) Rank(key uint64) (uint64, bool) {
	part := key >> k.shift
	if part >= k.spec.Parts {
		return k.Len(), false
	}
	first, end := k.ranks(part)
	i, ok := k.search(part, key&k.last(), end-first)
	return first + i, ok
}

// search is the place of a part's key among its n.
func (k *partKeys) search(part, key, n uint64) (i uint64, ok bool) {
	i = uint64(sort.Search(int(n), func(j int) bool { return k.entry(part, uint64(j)).Key >= key }))
	return i, i < n && k.entry(part, i).Key == key
}

// value writes the value of an initial key.
func (k *partKeys) value(key uint64, value []byte) {
	part := key >> k.shift
	first, end := k.ranks(part)
	i, _ := k.search(part, key&k.last(), end-first)
	wire.Put64(value, k.entry(part, i).Value)
}
