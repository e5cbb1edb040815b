package model

import "sort"

// Keys is a sorted set of keys. It is store.Keys, whose package this one does not need otherwise.
type Keys interface {
	Len() uint64
	Key(i uint64) uint64
	Rank(key uint64) (i uint64, ok bool)
}

// Sorted is a set of keys in memory, rising.
type Sorted []uint64

func (s Sorted) Len() uint64         { return uint64(len(s)) }
func (s Sorted) Key(i uint64) uint64 { return s[i] }

// Rank is the number of keys below key, and whether key is one of them.
func (s Sorted) Rank(key uint64) (uint64, bool) {
	i := sort.Search(len(s), func(i int) bool { return s[i] >= key })
	return uint64(i), i < len(s) && s[i] == key
}

// Leaf is a leaf of the tree as training sees it.
type Leaf struct {
	ALN, INCA uint32
	Keys      []uint64 // rising
	Low, High uint64   // the tree routes keys from Low to High, both included, to this leaf
}

// Initial are the leaves of an unchanged tree: leaf j holds the keys of ranks from j x Fill. A leaf's Low is its
// first key, but for the first leaf.
type Initial struct {
	Keys           Keys
	Fill           int    // keys of a leaf: half its slots (thesis §3.4.1: half-full)
	Low, High      uint64 // range of the partition, both included
	FirstALN, INCA uint32 // leaf j has the number FirstALN + j
}

// Leaves is the number of leaves. Without keys there is one, which is empty.
func (in *Initial) Leaves() uint32 {
	fill := uint64(in.Fill)
	return uint32(max((in.Keys.Len()+fill-1)/fill, 1))
}

// LeafOf is the leaf that the tree routes a key to.
func (in *Initial) LeafOf(key uint64) uint32 {
	rank, ok := in.Keys.Rank(key)
	if !ok {
		if rank == 0 {
			return 0
		}
		rank--
	}
	return uint32(rank / uint64(in.Fill))
}

// Leaf is leaf j. Its keys are appended to buf.
func (in *Initial) Leaf(j uint32, buf []uint64) (leaf Leaf, rest []uint64) {
	first := uint64(j) * uint64(in.Fill)
	end := min(first+uint64(in.Fill), in.Keys.Len())
	from := len(buf)
	for i := first; i < end; i++ {
		buf = append(buf, in.Keys.Key(i))
	}
	leaf = Leaf{ALN: in.FirstALN + j, INCA: in.INCA, Keys: buf[from:], Low: in.Low, High: in.High}
	if j > 0 {
		leaf.Low = leaf.Keys[0]
	}
	if end < in.Keys.Len() {
		leaf.High = in.Keys.Key(end) - 1
	}
	return leaf, buf
}
