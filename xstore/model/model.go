package model

// Model is what chooses the sub-model of a key: the top model, the number of sub-models, and where the top model cannot be
// inverted a table of their spans. Server and clients have the same.
type Model struct {
	Top Top
	M   uint32 // sub-models
	// Low and High are the range of the server's partition, both included. Keys outside are another server's (thesis §3.4.5).
	Low, High uint64

	invert Inverter // nil: the model has a table
	table  *table
}

// NewModel puts m sub-models under a top model. The keys are read, all of them, when the top model needs a table.
func NewModel(top Top, m uint32, keys Keys, low, high uint64) *Model {
	x := &Model{Top: top, M: max(m, 1), Low: low, High: high}
	if top.Monotone() {
		x.invert, _ = top.(Inverter)
	}
	if x.invert == nil {
		x.table = newTable(x, keys)
	}
	return x
}

// Sub is the number of the sub-model of a key.
func (x *Model) Sub(key uint64) uint32 {
	p := x.Top.Predict(key)
	switch {
	case p >= 1:
		return x.M - 1
	case p > 0:
		return min(uint32(float64(p*float64(x.M))), x.M-1)
	}
	return 0 // a custom model's number that is none, too
}

// Tabled says that each sub-model has a span beside its 14 bytes.
func (x *Model) Tabled() bool { return x.table != nil }

// Span are the keys that sub-model m answers for: those that the top model sends there, or what the table says.
func (x *Model) Span(m uint32) Span {
	if x.table != nil {
		return x.table.spans[m]
	}
	low, ok := x.boundary(m)
	if !ok {
		return noSpan
	}
	high := x.High
	if next, ok := x.boundary(m + 1); ok {
		if next <= low {
			return noSpan
		}
		high = next - 1
	}
	return Span{low, high}
}

// Covers says whether sub-model m, which the top model chose for the key, answers for it. If not the client has to ask the
// server. A model without a table always does.
func (x *Model) Covers(m uint32, key uint64) bool {
	if x.table == nil {
		return true
	}
	s := x.table.spans[m]
	return s.Low <= key && key <= s.High
}

// Base is the key that sub-model m counts from. Without a table it is the key where the top model is in the middle of the
// sub-model; with one it is the middle of the span.
func (x *Model) Base(m uint32) uint64 {
	if x.table != nil {
		return x.BaseOf(x.table.spans[m])
	}
	return x.invert.Invert((float64(m) + 0.5) / float64(x.M))
}

// BaseOf is the base of a sub-model of a model with a table, by its span.
func (x *Model) BaseOf(s Span) uint64 {
	low, high := min(max(s.Low, x.table.first), x.table.last), max(min(s.High, x.table.last), x.table.first)
	if low > high {
		return low
	}
	return low + (high-low)/2
}

// boundary is the lowest key of the partition that the monotone top model sends to sub-model m or above, if there is one.
func (x *Model) boundary(m uint32) (key uint64, ok bool) {
	if m >= x.M || x.Sub(x.High) < m {
		return 0, false
	}
	if x.Sub(x.Low) >= m {
		return x.Low, true
	}
	below, at := x.Low, x.High // below's sub-model is below m, at's is not
	guess := min(max(x.invert.Invert(float64(m)/float64(x.M)), below), at)
	for step := uint64(1); below < guess && guess < at; step *= 2 {
		if x.Sub(guess) >= m {
			at = guess
			if guess-below <= step {
				break
			}
			guess -= step
		} else {
			below = guess
			if at-guess <= step {
				break
			}
			guess += step
		}
	}
	for at-below > 1 {
		if middle := below + (at-below)/2; x.Sub(middle) >= m {
			at = middle
		} else {
			below = middle
		}
	}
	return at, true
}

// SubsOf calls visit with every sub-model that answers for a key from low to high, rising: those to train again when a leaf of
// these keys has split. A leaf that straddles two sub-models has both.
func (x *Model) SubsOf(low, high uint64, visit func(m uint32)) {
	low, high = max(low, x.Low), min(high, x.High)
	if low > high {
		return
	}
	var first, last uint32
	if x.table != nil {
		first, last = x.table.between(low, high)
	} else {
		first, last = x.Sub(low), x.Sub(high)
	}
	for m := first; m <= last && m < x.M; m++ {
		if s := x.Span(m); s.Low <= high && low <= s.High {
			visit(m)
		}
	}
}

// Bytes is the memory of the top model and of the table.
func (x *Model) Bytes() int { return x.Top.Bytes() + int(x.M)*(x.SubBytes()-SubBytes) }

// SubBytes is the size of a sub-model with what belongs to it.
func (x *Model) SubBytes() int {
	if x.table != nil {
		return SubBytes + SpanBytes
	}
	return SubBytes
}
