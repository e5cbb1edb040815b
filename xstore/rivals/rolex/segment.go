package rolex

import (
	"encoding/binary"
	"math"
	"slices"

	"drtmx/xstore/model"
)

// segment is what a client knows of a segment of keys: a model that leads to places among its leaves, and which leaves these
// are. A place is a leaf's number in the table times 16 and the part of the way through the leaf, in sixteenths: for leaves of
// 16 slots the logical position of thesis §3.4.1.
type segment struct {
	version uint32
	model   *model.Pieces
	below   int // how many places the model may be above a key's leaf,
	above   int // and below it
	leaves  int
	first   uint32   // leaf, where they lie one behind the other
	table   []uint32 // of leaves; nil: they do
}

const places = 16 // of a leaf

// fences are the lowest keys of leaves, which a model is trained with.
type fences []uint64

func (f fences) Len() uint64         { return uint64(len(f)) }
func (f fences) Key(i uint64) uint64 { return f[i] }

func (f fences) Rank(key uint64) (uint64, bool) {
	i, ok := slices.BinarySearch(f, key)
	return uint64(i), ok
}

// train makes the model of leaves that have all keys from lows[0] to high, with an error of so many places. Bounds cover every
// key, present or not: the model never falls, so a leaf's lowest and highest key have the farthest places of all its keys.
func train(lows fences, high uint64, err int) *segment {
	s := &segment{leaves: len(lows)}
	eps := float64(err) / places / float64(len(lows))
	top, fault := model.TrainTop(model.TopSpec{Kind: "pieces", Sample: -1, Eps: min(eps, 0.99)}, lows)
	if fault != nil {
		panic("rolex: " + fault.Error()) // eps is in its range
	}
	s.model = top.(*model.Pieces)
	for g := range lows {
		last := high
		if g+1 < len(lows) {
			last = lows[g+1] - 1
		}
		s.above = max(s.above, places*g-s.predict(lows[g]))
		s.below = max(s.below, s.predict(last)-(places*g+places-1))
	}
	return s
}

// predict is the prediction. The model was trained with shares at the middle of each leaf's rank, which is half a leaf too high.
func (s *segment) predict(key uint64) int {
	return int(math.Floor(float64(s.model.Predict(key)*float64(places*s.leaves)))) - places/2
}

// span are the first and last leaf of the table that may have a key.
func (s *segment) span(key uint64) (first, last int) {
	at := s.predict(key)
	first, last = (at-s.below)>>4, (at+s.above)>>4
	return min(max(first, 0), s.leaves-1), min(max(last, 0), s.leaves-1)
}

// leaf is the number of the i-th leaf.
func (s *segment) leaf(i int) uint32 {
	if s.table == nil {
		return s.first + uint32(i)
	}
	return s.table[i]
}

// A published segment is
//
//	0 version u32 | 4 leaves u32 | 8 bytes of the model u32 | 12 below u32 | 16 above u32 | 20 unused u32 | 24 model | table, each u32
const blobHeader = 24

func (s *segment) bytes() int { return blobHeader + s.model.Bytes() + 4*s.leaves }

// put writes a segment that has a table.
func (s *segment) put(b []byte) {
	for i, x := range [...]int{int(s.version), s.leaves, s.model.Bytes(), s.below, s.above, 0} {
		binary.LittleEndian.PutUint32(b[4*i:], uint32(x))
	}
	s.model.Put(b[blobHeader:])
	b = b[blobHeader+s.model.Bytes():]
	for i, leaf := range s.table {
		binary.LittleEndian.PutUint32(b[4*i:], leaf)
	}
}

// getSegment reads one. ok is false if these are not the bytes of that version.
func getSegment(b []byte, version uint32) (s *segment, ok bool) {
	word := func(i int) int { return int(binary.LittleEndian.Uint32(b[4*i:])) }
	s = &segment{version: version, leaves: word(1), below: word(3), above: word(4)}
	bytes := word(2)
	if uint32(word(0)) != version || blobHeader+bytes+4*s.leaves > len(b) {
		return nil, false
	}
	s.model = model.GetPieces(b[blobHeader:][:bytes])
	b = b[blobHeader+bytes:]
	s.table = make([]uint32, s.leaves)
	for i := range s.table {
		s.table[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return s, true
}
