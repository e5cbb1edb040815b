package xstore

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"sort"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/xstore/model"
	"drtmx/xstore/tree"
)

// Keys of different lengths (§3.6). To tree and models such a key is its hash, of which the client computes all that it asks. The
// lookup READ brings the slots of the leaf too, which have the fat pointers, so that the second READ is that of the record, with
// key and value, as with keys that are words. The table says how many slots there are to be READ: a leaf that is half full is 320
// bytes, and 448 if it is full. A record has 22 bytes and those of key and value, and 2 of a version for each line if there are
// several. A record whose key is another one costs a READ more, of the next record with the hash, and so does a slot that the table
// does not know of.
//
// Requests have the hash and the key, so that a server need not hash.

// HashBits is what a hash has unless fewer are asked for.
const HashBits = 64

// hash is the function of so many bits. They are the upper ones of the result, so that hashes are spread over all words.
type hash struct{ bits int }

// of multiplies each word by a constant and folds the product into the next one.
func (h hash) of(real []byte) uint64 {
	x := uint64(len(real)) * hashFactor
	for ; len(real) >= 8; real = real[8:] {
		x = fold(x, binary.LittleEndian.Uint64(real))
	}
	if len(real) > 0 {
		var last [8]byte
		copy(last[:], real)
		x = fold(x, u64(last[:]))
	}
	x = fold(x, hashEnd)
	return x >> (64 - h.bits) << (64 - h.bits)
}

func fold(x, word uint64) uint64 {
	hi, lo := bits.Mul64(x^word^hashSeed, hashFactor)
	return hi ^ lo
}

// Digits of the golden ratio, of pi and of e.
const (
	hashFactor = 0x9e3779b97f4a7c15
	hashSeed   = 0x243f6a8885a308d3
	hashEnd    = 0xb7e151628aed2a6b
)

// hashCycles is what hashing takes: for each word, and for the end, two exclusive ors, a multiplication of 64 by 64 bits and another
// exclusive or, which wait for each other: 1 + 1 + 4 + 1 cycles on Broadwell (Fog, Instruction tables).
func hashCycles(real []byte) int { return 7 * ((len(real)+7)/8 + 1) }

// realSet are the initial keys of a store by their hashes: sorted, with all keys of each. It takes 16 bytes of the host for a key.
type realSet struct {
	spec   *store.KVSpec
	hash   hash
	hashes []uint64
	first  []uint32 // by hash: its first record, at the end their number
	order  []uint32 // by record: the rank of its number, in the order of hashes, and those of a hash in the order of keys
}

// MostRealKeys bounds initial keys of different lengths, which are sorted by hash in the memory of the host.
const MostRealKeys = 100_000_000

func newRealSet(spec *store.KVSpec, h hash) (*realSet, error) {
	n := spec.Keys.Len()
	if n > MostRealKeys {
		return nil, fmt.Errorf("store %s: %d keys of different lengths, at most %d: they are sorted by their hashes", spec.Name, n, MostRealKeys)
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
		list[i] = record{h.of(a), uint32(i)}
	}
	slices.SortFunc(list, func(x, y record) int {
		if x.hash != y.hash {
			return cmp.Compare(x.hash, y.hash)
		}
		a, b = spec.Real.Append(a[:0], spec.Keys.Key(uint64(x.rank))), spec.Real.Append(b[:0], spec.Keys.Key(uint64(y.rank)))
		return bytes.Compare(a, b)
	})
	s := &realSet{spec: spec, hash: h, order: make([]uint32, n)}
	for i, x := range list {
		if s.order[i] = x.rank; i == 0 || x.hash != list[i-1].hash {
			s.hashes, s.first = append(s.hashes, x.hash), append(s.first, uint32(i))
		}
	}
	s.first = append(s.first, uint32(n))
	return s, nil
}

// Len, Key and Rank are those of the hashes.
func (s *realSet) Len() uint64         { return uint64(len(s.hashes)) }
func (s *realSet) Key(i uint64) uint64 { return s.hashes[i] }

func (s *realSet) Rank(key uint64) (uint64, bool) {
	i, ok := slices.BinarySearch(s.hashes, key)
	return uint64(i), ok
}

// number is the one of a record.
func (s *realSet) number(record uint64) uint64 { return s.spec.Keys.Key(uint64(s.order[record])) }

// realShare are those of a server: hashes from one on.
type realShare struct {
	*realSet
	hash0, record0 uint64
}

// share are the keys that begin with the hash of a rank.
func (s *realSet) share(hash uint64) *realShare {
	return &realShare{s, hash, uint64(s.first[hash])}
}

func (s *realShare) Most() int               { return s.spec.Real.Most }
func (s *realShare) Hash(real []byte) uint64 { return s.hash.of(real) }

func (s *realShare) Records(i uint64) (from, to uint64) {
	i += s.hash0
	return uint64(s.first[i]) - s.record0, uint64(s.first[i+1]) - s.record0
}

func (s *realShare) HashOf(record uint64) uint64 {
	record += s.record0
	i := sort.Search(len(s.hashes), func(i int) bool { return uint64(s.first[i+1]) > record })
	return uint64(i) - s.hash0
}

func (s *realShare) Real(record uint64, dst []byte) []byte {
	return s.spec.Real.Append(dst, s.number(record+s.record0))
}

func (s *realShare) Value(record uint64, value []byte) {
	if s.spec.Value != nil {
		s.spec.Value(s.number(record+s.record0), value)
	}
}

// sortReal divides the keys among the servers: numbers, or the hashes of keys with lengths of their own.
func (s *Store) sortReal() (err error) {
	spec := s.spec
	if spec.Real != nil {
		if spec.Bounds != nil {
			return fmt.Errorf("store %s: bounds of servers: keys of different lengths are divided by their hashes, in equal shares", spec.Name)
		}
		s.hash, s.opt.wide = hash{s.opt.HashBits}, true
		s.opt.Fields = []model.Field{{Bits: 64}} // a hash has none of the fields that its key may have
		if s.reals, err = newRealSet(&s.spec, s.hash); err != nil {
			return err
		}
		if spec.Keys = s.reals; s.reals.Len() < uint64(spec.Servers) {
			return fmt.Errorf("store %s: %d hashes of %d bits for %d servers: at least one for each", spec.Name, s.reals.Len(), s.opt.HashBits, spec.Servers)
		}
	}
	s.ranges = store.RangesOf(&spec)
	return nil
}

// reals are the keys of a server with lengths of their own.
func (p *part) reals() *realShare {
	first, _ := p.s.reals.Rank(p.low)
	return p.s.reals.share(first)
}

// records is their number.
func (p *part) records() uint64 {
	_, to := p.reals().Records(p.s.ranges.Keys(p.server).Len() - 1)
	return to
}

// knownFree is what a tree knows the key of a number by, free of time; s.real then has its bytes.
func (s *Store) knownFree(number uint64) (key uint64) {
	if s.reals == nil {
		return number
	}
	s.real = s.spec.Real.Append(s.real[:0], number)
	return s.hash.of(s.real)
}

// find is an oracle: the value of the key of a number.
func (s *Store) find(number uint64, value []byte) (ok bool) {
	hash := s.knownFree(number)
	_, ok = s.part(hash).tree.FindReal(hash, s.real, value)
	return ok
}

// known is what the tree knows a key by that a caller names by a number: the number, or the hash of the bytes, which x.real then has.
func (x *client) known(number uint64) (key uint64) {
	real := x.s.spec.Real
	if real == nil {
		return number
	}
	x.enter(Index)
	x.real = real.Append(x.real[:0], number)
	x.c.Compute(hashCycles(x.real))
	return x.s.hash.of(x.real)
}

// slotBytes is the length of a READ of a leaf and its first slots, which have the fat pointers to records. 0: slots have values.
func (p *part) slotBytes(slots int) int {
	if p.s.spec.Real == nil {
		return 0
	}
	return p.layout.Span(slots)
}

// place is where a lookup has found a key. What the READ has in its slot may be of a later moment than the keys: then it may be
// another key's, and has no pointer that could be followed.
func (p *part) place(aln uint32, slot int, key uint64, leaf []byte) place {
	at := place{aln: aln, slot: slot}
	if p.s.spec.Real == nil {
		return at
	}
	if off, n := p.layout.Value(slot); off+n > len(leaf) {
		at.unread = true
	} else if of, pointer := p.layout.Pointer(leaf, slot); of == key {
		at.pointer = pointer
	}
	return at
}

// slot READs the slot of a key that the READ of its leaf has left out: the key was inserted after the table was made.
func (x *client) slot(p *part, at place, key uint64) (tree.FatPointer, error) {
	off, n := p.layout.Value(at.slot)
	buf := x.c.Read(p.leafLoc(at.aln, off), n)
	if err := x.c.Wait(); err != nil {
		return 0, err
	}
	x.c.TouchDMA(buf.Addr, n)
	of, pointer := tree.DecodePointer(buf.B)
	if of != key {
		return 0, nil
	}
	return pointer, nil
}

// maxRecords is how many records of a hash a client READs before it asks the server. Two keys have the same hash of 64 bits less
// often than once in a billion stores of 100,000 keys.
const maxRecords = 16

// record READs the records of a hash up to that of the key (§3.6: the actual key should be checked).
func (x *client) record(p *part, at place, key uint64, value []byte) (outcome, error) {
	next := at.pointer
	if at.unread {
		var err error
		if next, err = x.slot(p, at, key); err != nil {
			return invalid, err
		}
	}
	if next == 0 {
		p.stats.Torn++
		return again, nil
	}
	for range maxRecords {
		a, n := p.tree.EntryAddr(next)
		buf := x.c.Read(r2.Loc{Machine: p.server, RKey: p.tree.RKey(), Addr: a}, n)
		if err := x.c.Wait(); err != nil {
			return invalid, err
		}
		x.c.TouchDMA(buf.Addr, n)
		of, rec, whole := tree.DecodeRecord(next, buf.B)
		if !whole || of != key {
			p.stats.Torn++
			return again, nil
		}
		x.c.Compute(tree.CompareCycles(x.real, rec.Real))
		if bytes.Equal(x.real, rec.Real) || x.s.opt.planted.anyReal {
			copy(value, rec.Value)
			return found, nil
		}
		p.stats.Collisions++
		if next = rec.Next; next == 0 {
			return missing, nil
		}
	}
	return invalid, nil
}
