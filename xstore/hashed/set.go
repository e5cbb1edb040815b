package hashed

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"sort"

	"drtmx/engine/store"
)

// Set are the initial keys of a store by their hashes: sorted, with all keys of each. It takes 16 bytes of the host for a key.
type Set struct {
	spec   *store.KVSpec
	hash   Hash
	hashes []uint64
	first  []uint32 // by hash: its first record, at the end their number
	order  []uint32 // by record: the rank of its number, in the order of hashes, and those of a hash in the order of keys
}

// Most bounds the initial keys, which are sorted by hash in the memory of the host.
const Most = 100_000_000

// NewSet sorts the keys of a store.
func NewSet(spec *store.KVSpec, h Hash) (*Set, error) {
	n := spec.Keys.Len()
	if n > Most {
		return nil, fmt.Errorf("store %s: %d keys of different lengths, at most %d: they are sorted by their hashes", spec.Name, n, Most)
	}
	type record struct {
		hash uint64
		rank uint32
	}
	var a, b []byte
	list := make([]record, n)
	for i := range list {
		a = spec.Real.Append(a[:0], spec.Keys.Key(uint64(i)))
		if len(a) == 0 || len(a) > spec.Real.Most {
			return nil, fmt.Errorf("store %s: a key of %d bytes, from 1 to %d", spec.Name, len(a), spec.Real.Most)
		}
		list[i] = record{h.Of(a), uint32(i)}
	}
	slices.SortFunc(list, func(x, y record) int {
		if x.hash != y.hash {
			return cmp.Compare(x.hash, y.hash)
		}
		a, b = spec.Real.Append(a[:0], spec.Keys.Key(uint64(x.rank))), spec.Real.Append(b[:0], spec.Keys.Key(uint64(y.rank)))
		return bytes.Compare(a, b)
	})
	s := &Set{spec: spec, hash: h, order: make([]uint32, n)}
	for i, x := range list {
		if s.order[i] = x.rank; i == 0 || x.hash != list[i-1].hash {
			s.hashes, s.first = append(s.hashes, x.hash), append(s.first, uint32(i))
		}
	}
	s.first = append(s.first, uint32(n))
	return s, nil
}

// Len is the number of hashes.
func (s *Set) Len() uint64 { return uint64(len(s.hashes)) }

// Key is the i-th lowest hash.
func (s *Set) Key(i uint64) uint64 { return s.hashes[i] }

// Rank is the number of hashes below one, and whether it is one of them.
func (s *Set) Rank(key uint64) (uint64, bool) {
	i, ok := slices.BinarySearch(s.hashes, key)
	return uint64(i), ok
}

// number is the one of a record.
func (s *Set) number(record uint64) uint64 { return s.spec.Keys.Key(uint64(s.order[record])) }

// Share are those of a server: hashes from one on.
type Share struct {
	*Set
	hash0, record0 uint64
}

// Share are the keys that begin with the hash of a rank.
func (s *Set) Share(hash uint64) *Share {
	return &Share{s, hash, uint64(s.first[hash])}
}

// Most is the length of the longest key.
func (s *Share) Most() int { return s.spec.Real.Most }

// Hash is that of a key.
func (s *Share) Hash(real []byte) uint64 { return s.hash.Of(real) }

// Records are those of the i-th hash: from one to before another.
func (s *Share) Records(i uint64) (from, to uint64) {
	i += s.hash0
	return uint64(s.first[i]) - s.record0, uint64(s.first[i+1]) - s.record0
}

// HashOf is the hash of a record.
func (s *Share) HashOf(record uint64) uint64 {
	record += s.record0
	i := sort.Search(len(s.hashes), func(i int) bool { return uint64(s.first[i+1]) > record })
	return uint64(i) - s.hash0
}

// Real appends the key of a record.
func (s *Share) Real(record uint64, dst []byte) []byte {
	return s.spec.Real.Append(dst, s.number(record+s.record0))
}

// Value writes the value of a record.
func (s *Share) Value(record uint64, value []byte) {
	if s.spec.Value != nil {
		s.spec.Value(s.number(record+s.record0), value)
	}
}
