package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// planted are ways to train that lose keys. The check of the property test has to notice each of them.
var planted = []struct {
	name  string
	train func(p *plantedWorld, m uint32) (Sub, []Entry)
}{
	{"no augmentation", func(p *plantedWorld, m uint32) (Sub, []Entry) {
		own := noSpan // from the lowest to the highest key that is there
		for _, k := range p.tree.keys() {
			if p.x.Sub(k) == m {
				own.Low, own.High = min(own.Low, k), max(own.High, k)
			}
		}
		return p.tr.Sub(p.tree.of(own), own, p.x.Base(m), 1, nil)
	}},
	{"bounds over trained keys only", func(p *plantedWorld, m uint32) (Sub, []Entry) {
		s, tt := p.right(m)
		return p.again(s, m, false, s.predict), tt
	}},
	{"errors of the model before it is rounded", func(p *plantedWorld, m uint32) (Sub, []Entry) {
		s, tt := p.right(m)
		leaves, base := p.tree.of(p.x.Span(m)), p.x.Base(m)
		slope, meanX, meanY := exactLine(leaves, p.tr.slots, base)
		return p.again(s, m, true, func(base, key uint64) int64 {
			return int64(math.Floor(min(max(meanY+slope*(distance(base, key)-meanX), -farthest), farthest)))
		}), tt
	}},
	{"errors cut to 8 bits", func(p *plantedWorld, m uint32) (Sub, []Entry) {
		s, tt := p.right(m)
		if !s.Fallback() {
			return s, tt
		}
		span, base := p.x.Span(m), p.x.Base(m)
		leaves := p.tree.of(span)
		s = Sub{MinErr: MaxError, MaxErr: MaxError, TT: ttField(len(leaves), 1)}
		s.Slope, s.Intercept = line(leaves, p.tr.slots, base, Span{0, ^uint64(0)})
		for _, l := range leaves {
			tt = append(tt, MakeEntry(l.ALN, l.INCA, len(l.Keys)))
		}
		return s, tt
	}},
}

// exactLine is the line of a sub-model as a slope and the centre.
func exactLine(leaves []Leaf, slots int, base uint64) (slope, meanX, meanY float64) {
	var xs, ys []float64
	for i, l := range leaves {
		for j, k := range l.Keys {
			xs, ys = append(xs, distance(base, k)), append(ys, float64(i*slots+j))
			meanX, meanY = meanX+xs[len(xs)-1], meanY+ys[len(ys)-1]
		}
	}
	if len(xs) == 0 {
		return 0, 0, 0
	}
	meanX, meanY = meanX/float64(len(xs)), meanY/float64(len(ys))
	var sxx, sxy float64
	for i := range xs {
		sxx += (xs[i] - meanX) * (xs[i] - meanX)
		sxy += (xs[i] - meanX) * (ys[i] - meanY)
	}
	if sxx > 0 {
		slope = sxy / sxx
	}
	return slope, meanX, meanY
}

// plantedWorld is a tree that has changed, drawn from a seed.
type plantedWorld struct {
	tree *list
	x    *Model
	tr   *Trainer
	rng  *rand.Rand
}

func newPlantedWorld(seed uint64) *plantedWorld {
	p := &plantedWorld{rng: rand.New(rand.NewPCG(seed, 0))}
	var keys Sorted
	at := uint64(1000)
	for range 20 + p.rng.IntN(800) {
		switch seed % 4 {
		case 0: // noised
			at += 1 + p.rng.Uint64N(20)
		case 1: // growing: no line fits
			at += 1 + at/8
			if at > 1<<60 {
				at = p.rng.Uint64()
			}
		case 2: // clustered far from the middle of a sub-model
			at = p.rng.Uint64N(3)<<62 + p.rng.Uint64N(1<<30)
		case 3: // with gaps
			at += 1 + p.rng.Uint64N(2)*p.rng.Uint64N(1000)
		}
		keys = append(keys, at)
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	slots := []int{4, 16}[p.rng.IntN(2)]
	in := &Initial{Keys: keys, Fill: slots / 2, High: ^uint64(0)}
	p.tree = listOf(in, slots)
	p.x = NewModel(trainLR(sampleKeys(keys, -1)), []uint32{1, 2, 10, 60}[p.rng.IntN(4)], keys, 0, in.High)
	p.tr = NewTrainer(Config{Slots: slots, LeafErrors: p.rng.IntN(2) == 0})
	for range p.rng.IntN(50) {
		p.tree.insert(keys[p.rng.IntN(len(keys))] + p.rng.Uint64N(50))
		p.tree.remove(keys[p.rng.IntN(len(keys))])
	}
	return p
}

func (p *plantedWorld) right(m uint32) (Sub, []Entry) {
	span := p.x.Span(m)
	return p.tr.Sub(p.tree.of(span), span, p.x.Base(m), 1, nil)
}

// again sets the errors of a sub-model to those of its keys, and if ends those of the leaves' ends as well, as some function
// predicts them.
func (p *plantedWorld) again(s Sub, m uint32, ends bool, predict func(base, key uint64) int64) Sub {
	if s.Fallback() {
		return s
	}
	span, base, slots := p.x.Span(m), p.x.Base(m), int64(p.tr.slots)
	leaves := p.tree.of(span)
	var above, below int64
	for i, l := range leaves {
		start := int64(i) * slots
		if low, high := max(l.Low, span.Low), min(l.High, span.High); ends {
			if i > 0 {
				below = max(below, start-predict(base, low))
			}
			if i < len(leaves)-1 {
				above = max(above, predict(base, high)-(start+slots-1))
			}
		}
		for j, k := range l.Keys {
			if p.x.Sub(k) == m {
				off := predict(base, k) - (start + int64(j))
				above, below = max(above, off), max(below, -off)
			}
		}
	}
	s.MinErr, s.MaxErr = uint8(min(above, MaxError)), uint8(min(below, MaxError))
	return s
}

// lost is the first key that a cache of these sub-models would lose; "" if none.
func (p *plantedWorld) lost(train func(m uint32) (Sub, []Entry)) string {
	c := &cached{model: p.x, slots: p.tr.slots, subs: make([]Sub, p.x.M), tables: make([][]Entry, p.x.M)}
	for m := range p.x.M {
		c.subs[m], c.tables[m] = train(m)
	}
	return p.lostOf(c)
}

func (p *plantedWorld) lostOf(c *cached) string {
	for _, key := range probes(p.tree, c) {
		if text := c.misses(p.tree, key); text != "" {
			return text
		}
	}
	return ""
}

const plantedWorlds = 400

func TestPlantedTrainingIsCaught(t *testing.T) {
	for _, bug := range planted {
		t.Run(bug.name, func(t *testing.T) {
			caught := 0
			for seed := range uint64(plantedWorlds) {
				p := newPlantedWorld(seed)
				if text := p.lost(p.right); text != "" {
					t.Fatalf("seed %d, without the bug: %s", seed, text)
				}
				if p.lost(func(m uint32) (Sub, []Entry) { return bug.train(p, m) }) != "" {
					caught++
				}
			}
			if caught == 0 {
				t.Fatalf("no key was lost in %d trees", plantedWorlds)
			}
			t.Logf("keys were lost in %d of %d trees", caught, plantedWorlds)
		})
	}
}

// A leaf that split belongs to the tables of all sub-models that answer for its keys. To train only the one of the inserted key
// leaves the others with a table that lacks the new leaf: its keys are lost until the client meets the old leaf's new
// incarnation, and afterwards if it believes that the sub-model that it fetched again is up to date.
func TestBothSidesOfAStraddlingLeafAreTrained(t *testing.T) {
	caught := 0
	for seed := range uint64(plantedWorlds) {
		p := newPlantedWorld(seed)
		both, one := trainAll(p.tree, p.x, p.tr), trainAll(p.tree, p.x, p.tr)
		all := p.tree.keys()
		for range 200 {
			key := all[p.rng.IntN(len(all))] + p.rng.Uint64N(4)
			if split, low, high := p.tree.insert(key); split {
				p.x.SubsOf(low, high, func(m uint32) { both.train(p.tree, p.tr, m) })
				one.train(p.tree, p.tr, p.x.Sub(key))
			}
		}
		if text := p.lostOf(both); text != "" {
			t.Fatalf("seed %d: %s", seed, text)
		}
		if p.lostOf(one) != "" {
			caught++
		}
	}
	if caught == 0 {
		t.Fatalf("no key was lost in %d trees when one side was trained", plantedWorlds)
	}
	t.Logf("keys were lost in %d of %d trees when one side was trained", caught, plantedWorlds)
}
