package model

import (
	"encoding/binary"
	"math"
	"sort"
)

// Span is a range of keys, both ends included.
type Span struct{ Low, High uint64 }

// SpanBytes is the size of a span on the wire.
const SpanBytes = 16

var noSpan = Span{math.MaxUint64, 0}

// Empty says that no key is in it.
func (s Span) Empty() bool { return s.Low > s.High }

// Put writes the 16 bytes.
func (s Span) Put(b []byte) {
	binary.LittleEndian.PutUint64(b, s.Low)
	binary.LittleEndian.PutUint64(b[8:], s.High)
}

// GetSpan reads the 16 bytes.
func GetSpan(b []byte) Span {
	return Span{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
}

// table has the span of every sub-model, for top models that cannot be inverted. If such a model is not monotone the keys that
// it sends to a sub-model are no interval, and no server could list all the absent ones. So a span is what the sub-model was
// trained for: from its lowest to its highest key, and the gaps beside them. A client does not predict for a key outside.
type table struct {
	spans       []Span
	first, last uint64 // the lowest and highest key when the table was made: the origin stays near the keys
	// Bounds over the spans, so that those that meet a range are found without looking at all: the highest High of spans 0 to m,
	// and the lowest Low of spans m to the last.
	highest, lowest []uint64
}

func newTable(x *Model, keys Keys) *table {
	t := &table{spans: make([]Span, x.M), highest: make([]uint64, x.M), lowest: make([]uint64, x.M)}
	n := keys.Len()
	if n == 0 {
		t.first, t.last = x.Low, x.High
	} else {
		t.first, t.last = keys.Key(0), keys.Key(n-1)
	}
	ranks := make([]Span, x.M) // of the keys that go to each sub-model
	for m := range ranks {
		ranks[m] = noSpan
	}
	for i := range n {
		r := &ranks[x.Sub(keys.Key(i))]
		r.Low, r.High = min(r.Low, i), max(r.High, i)
	}
	t.fill(x, keys, ranks)
	highest, lowest := uint64(0), uint64(math.MaxUint64)
	for m, s := range t.spans {
		highest = max(highest, s.High)
		t.highest[m] = highest
	}
	for m := len(t.spans) - 1; m >= 0; m-- {
		lowest = min(lowest, t.spans[m].Low)
		t.lowest[m] = lowest
	}
	return t
}

// fill makes spans of the keys and the gaps beside them. A sub-model without keys has the gap between its neighbours' keys, if no
// other sub-model has keys there.
func (t *table) fill(x *Model, keys Keys, ranks []Span) {
	n := keys.Len()
	after := make([]uint64, len(ranks)+1) // rank of the lowest key of the next sub-model that has one
	after[len(ranks)] = n
	for m := len(ranks) - 1; m >= 0; m-- {
		after[m] = after[m+1]
		if !ranks[m].Empty() {
			after[m] = ranks[m].Low
		}
	}
	before := uint64(0) // rank behind the highest key of the last sub-model that had one
	for m, r := range ranks {
		if r.Empty() {
			if t.spans[m] = noSpan; before == after[m] {
				t.spans[m] = gap(x, keys, before, before)
			}
			continue
		}
		before = r.High + 1
		t.spans[m] = gap(x, keys, r.Low, before)
	}
}

// gap are the keys above the one before rank i and below the one of rank j: those of ranks i to j-1 and the gaps beside them.
func gap(x *Model, keys Keys, i, j uint64) Span {
	s := Span{x.Low, x.High}
	if i > 0 {
		if s.Low = keys.Key(i - 1); s.Low == x.High {
			return noSpan
		}
		s.Low++
	}
	if j < keys.Len() {
		if s.High = keys.Key(j); s.High == x.Low {
			return noSpan
		}
		s.High--
	}
	if s.Empty() {
		return noSpan
	}
	return s
}

// between are the first and last sub-model whose spans can meet the keys from low to high.
func (t *table) between(low, high uint64) (first, last uint32) {
	n := len(t.spans)
	f := sort.Search(n, func(m int) bool { return t.highest[m] >= low })
	l := sort.Search(n, func(m int) bool { return t.lowest[m] > high })
	return uint32(f), uint32(max(l-1, 0))
}

// Grow lets the span of sub-model m take in a key that the top model sends there and that was inserted after the table was made.
// The sub-model has to be trained again. It reports whether the span has changed.
func (x *Model) Grow(m uint32, key uint64) bool {
	if x.table == nil || x.Covers(m, key) {
		return false
	}
	t := x.table
	s := &t.spans[m]
	s.Low, s.High = min(s.Low, key), max(s.High, key)
	for i := int(m); i < len(t.highest) && t.highest[i] < s.High; i++ {
		t.highest[i] = s.High
	}
	for i := int(m); i >= 0 && t.lowest[i] > s.Low; i-- {
		t.lowest[i] = s.Low
	}
	return true
}
