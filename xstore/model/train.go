package model

import "fmt"

// Config is how sub-models are trained.
type Config struct {
	// Slots is the number of keys that a leaf has room for: thesis N, 16. At most 255, as CNT has 8 bits.
	Slots int
	// LeafErrors measures errors by leaves: how far a prediction is from the leaf of the key, not from its position in the leaf.
	// The thesis measures positions (Figure 3-7, line 22). Leaves make smaller errors, and fewer leaves are fetched.
	LeafErrors bool
}

// Trainer trains sub-models. It keeps its buffers, so training allocates nothing after the first few times.
type Trainer struct {
	slots      int
	leafErrors bool
	leaves     []Leaf
	keys       []uint64
	tt         []Entry

	above, below int64 // errors of the last sub-model
}

// Errors are how many positions the last line that was trained is above and below the truth, whether that fits 8 bits or not.
func (t *Trainer) Errors() (above, below int64) { return t.above, t.below }

// NewTrainer makes a trainer. Slots outside 1 to 255 are a bug of the caller.
func NewTrainer(c Config) *Trainer {
	if c.Slots < 1 || c.Slots > 255 {
		panic(fmt.Sprintf("model: leaves of %d slots, 1 to 255", c.Slots))
	}
	return &Trainer{slots: c.Slots, leafErrors: c.LeafErrors}
}

// Sub trains one sub-model (thesis Figure 3-7, TRAIN_SUBMODEL). The leaves are all those of the tree, in order, from the one
// that span.Low is routed to to the one of span.High: that is how the gaps beside a sub-model's keys are augmented (§3.4.2.3).
// Keys of straddling leaves are trained although other sub-models predict them. The table is appended to tt[:0].
func (t *Trainer) Sub(leaves []Leaf, span Span, base uint64, generation uint32, tt []Entry) (Sub, []Entry) {
	generation &= GenerationMask
	tt = tt[:0]
	switch {
	case span.Empty():
		return unreachable(generation), tt
	case len(leaves) == 0 || len(leaves) > MaxEntries:
		return fallback(generation), tt
	}
	s, ok := t.fit(leaves, span, base, Span{0, ^uint64(0)})
	if !ok {
		// Neighbours' keys in straddling leaves may be far away, as where a composite key's first field changes: a few of them turn
		// the line. Errors are of what the sub-model answers for in any case.
		if s, ok = t.fit(leaves, span, base, span); !ok {
			return fallback(generation), tt
		}
	}
	s.TT = ttField(len(leaves), generation)
	for i := range leaves {
		l := &leaves[i]
		tt = append(tt, MakeEntry(l.ALN, l.INCA, len(l.Keys)))
	}
	return s, tt
}

// fit is the line through the keys of a range, with its errors; ok is false if 8 bits cannot tell them.
func (t *Trainer) fit(leaves []Leaf, span Span, base uint64, keys Span) (s Sub, ok bool) {
	s.Slope, s.Intercept = line(leaves, t.slots, base, keys)
	above, below := t.misses(&s, leaves, span, base)
	if d := slack(above, below); d != 0 {
		s.Intercept += float32(d)
		above, below = t.misses(&s, leaves, span, base)
	}
	above, below = max(above, 0), max(below, 0)
	t.above, t.below = above, below
	if above > MaxError || below > MaxError {
		return s, false
	}
	s.MinErr, s.MaxErr = uint8(above), uint8(below)
	return s, true
}

// line is the least-squares line from the distance of a key from base to its logical position. Both are centred first, so that
// products are of the size of the spread. The intercept is that of the slope as it is stored: the line goes through the centre.
func line(leaves []Leaf, slots int, base uint64, in Span) (slope, intercept float32) {
	var n, positions int64
	var first uint64 // the keys' own origin: base may be far away
	sum := 0.0
	for i := range leaves {
		for j, k := range leaves[i].Keys {
			if k < in.Low || k > in.High {
				continue
			}
			if n == 0 {
				first = k
			}
			n++
			positions += int64(i*slots + j)
			sum += distance(first, k)
		}
	}
	if n == 0 {
		return 0, 0
	}
	meanX, meanY := sum/float64(n), float64(positions)/float64(n)
	var sxx, sxy float64
	for i := range leaves {
		y := float64(i*slots) - meanY
		for _, k := range leaves[i].Keys {
			if k < in.Low || k > in.High {
				y++
				continue
			}
			x := distance(first, k) - meanX
			sxx += float64(x * x)
			sxy += float64(x * y)
			y++
		}
	}
	if sxx > 0 && sxy > 0 {
		slope = float32(sxy / sxx)
	}
	return slope, float32(meanY - float64(float64(slope)*(distance(base, first)+meanX)))
}

// misses is how far the line is above and below what it should be, at most, by the parameters as they are stored. One that is
// below zero says that there is room on that side.
//
// The tree routes the keys from a leaf's Low to its High to the leaf, whether they were trained, are absent now or were never
// there. The line does not fall, so if it is right at both ends of the part that the sub-model answers for it is right between
// them. Where the line leaves the table Range takes the last leaf, so the ends of the table need nothing.
func (t *Trainer) misses(s *Sub, leaves []Leaf, span Span, base uint64) (above, below int64) {
	above, below = -farthest, -farthest
	if !t.leafErrors {
		above, below = 0, 0
	}
	slots := int64(t.slots)
	for i := range leaves {
		l := &leaves[i]
		low, high := max(l.Low, span.Low), min(l.High, span.High)
		if low > high {
			continue
		}
		start := int64(i) * slots
		if i > 0 {
			below = max(below, start-s.predict(base, low))
		}
		if i < len(leaves)-1 {
			above = max(above, s.predict(base, high)-(start+slots-1))
		}
		if t.leafErrors {
			continue
		}
		for j, k := range l.Keys {
			if k < low || k > high {
				continue
			}
			off := s.predict(base, k) - (start + int64(j))
			above, below = max(above, off), max(below, -off)
		}
	}
	return above, below
}

// slack is by how much to raise a line whose misses have room on one side: into the middle of the room if there is enough on both
// together, else as far as there is. Where leaves are half full, positions are a staircase that the line goes through the
// middle of; without this every fourth lookup would take the leaf below as well.
func slack(above, below int64) int64 {
	switch {
	case above == -farthest || below == -farthest: // a single leaf needs no errors
		return 0
	case above+below <= 0:
		return (below - above) / 2
	case above < 0:
		return -above
	case below < 0:
		return below
	}
	return 0
}

// Initial trains sub-model m over unchanged leaves: a pure function of its arguments.
func (t *Trainer) Initial(in *Initial, x *Model, m uint32, generation uint32, tt []Entry) (Sub, []Entry) {
	return t.InitialOf(in, x.Span(m), x.Base(m), generation, tt)
}

// InitialOf is Initial of a sub-model by its span and base. Where a model has a table of spans they grow as keys come.
func (t *Trainer) InitialOf(in *Initial, span Span, base uint64, generation uint32, tt []Entry) (Sub, []Entry) {
	if span.Empty() {
		return unreachable(generation & GenerationMask), tt[:0]
	}
	return t.initial(in, span, base, in.LeafOf(span.Low), in.LeafOf(span.High), generation, tt)
}

func (t *Trainer) initial(in *Initial, span Span, base uint64, first, last, generation uint32, tt []Entry) (Sub, []Entry) {
	if last-first >= MaxEntries {
		return fallback(generation & GenerationMask), tt[:0]
	}
	t.leaves = t.leaves[:0]
	if need := int(last-first+1) * in.Fill; cap(t.keys) < need {
		t.keys = make([]uint64, 0, need+need/4) // at once: the leaves are slices of it
	}
	keys := t.keys[:0]
	var leaf Leaf
	for j := first; j <= last; j++ {
		leaf, keys = in.Leaf(j, keys)
		t.leaves = append(t.leaves, leaf)
	}
	return t.Sub(t.leaves, span, base, generation, tt)
}

// All trains all sub-models over unchanged leaves, in one pass, and calls visit with each of them, rising. The
// table is valid until visit returns.
func (t *Trainer) All(in *Initial, x *Model, generation uint32, visit func(m uint32, s Sub, tt []Entry)) {
	leaves := in.Leaves()
	next := uint32(0) // the leaf where the sub-model before ended
	fill := uint64(in.Fill)
	forward := func(key uint64) uint32 {
		j := next
		for j+1 < leaves && in.Keys.Key(uint64(j+1)*fill) <= key {
			j++
		}
		return j
	}
	find := forward
	if x.Tabled() { // spans may overlap
		find = in.LeafOf
	}
	for m := range x.M {
		var s Sub
		if span := x.Span(m); span.Empty() {
			s, t.tt = unreachable(generation&GenerationMask), t.tt[:0]
		} else {
			first := find(span.Low)
			next = first
			last := find(span.High)
			next = last
			s, t.tt = t.initial(in, span, x.Base(m), first, last, generation, t.tt)
		}
		visit(m, s, t.tt)
	}
}
