package model

import (
	"fmt"
	"sort"
)

// Pieces is an example of a custom top model, one that the thesis does not have: a piecewise linear function whose error is
// bounded for every key that it was trained with, as in FITing-Tree and the PGM-index. To add a model of one's own:
//
//  1. Implement Top. Predict must not depend on anything but the key and the parameters, and every product has to be rounded
//     by float64 before it is added to something: otherwise arm64 predicts another sub-model than amd64.
//  2. Say Monotone only if rounding cannot break it. Here, every piece ends at the next one's height at most.
//  3. If it is monotone and has an inverse, implement Inverter: it saves 16 bytes for each sub-model.
//  4. Hand it to NewModel.
type Pieces struct {
	starts  []uint64  // the first key of each piece
	heights []float32 // its share there, rising
	slopes  []float32 // by key
}

// pieceBytes is the size of a piece: start, height and slope.
const pieceBytes = 8 + 4 + 4

// trainPieces makes as few pieces as a greedy walk finds. A piece starts at a key and at that key's share. Every further key
// narrows the cone of slopes that pass all keys so far within eps; the key that leaves no slope starts the next piece.
func trainPieces(s sample, eps float64) (*Pieces, error) {
	if eps <= 0 || eps >= 1 {
		return nil, fmt.Errorf("top model pieces: an error of %g of the keys, above 0 and below 1", eps)
	}
	t := &Pieces{}
	var start int
	var low, high float64 // the cone
	for i, k := range s.keys {
		if i > start {
			dx, dy := float64(k-s.keys[start]), s.y[i]-float64(t.heights[len(t.heights)-1])
			if l, h := (dy-eps)/dx, (dy+eps)/dx; l <= high && h >= low {
				low, high = max(low, l), min(high, h)
				continue
			}
			t.slope(low, high)
		}
		start, low, high = i, 0, infinite
		t.starts = append(t.starts, k)
		t.heights = append(t.heights, float32(s.y[i]))
	}
	if len(t.starts) == 0 {
		t.starts, t.heights, high = []uint64{0}, []float32{0}, infinite
	}
	t.slope(low, high)
	return t, nil
}

// infinite is above every slope: a piece of one key has no other limit.
const infinite = 1e300

// slope ends a piece in the middle of its cone.
func (t *Pieces) slope(low, high float64) {
	if high == infinite {
		high = low
	}
	t.slopes = append(t.slopes, float32((low+high)/2))
}

// Predict implements Top.
func (t *Pieces) Predict(key uint64) float64 {
	i := sort.Search(len(t.starts), func(i int) bool { return t.starts[i] > key }) - 1
	if i < 0 {
		return inUnit(float64(t.heights[0]))
	}
	p := float64(t.heights[i]) + float64(float64(t.slopes[i])*float64(key-t.starts[i]))
	return inUnit(min(p, t.top(i)))
}

// top is where piece i has to end.
func (t *Pieces) top(i int) float64 {
	if i+1 < len(t.heights) {
		return float64(t.heights[i+1])
	}
	return below1
}

// Invert implements Inverter.
func (t *Pieces) Invert(p float64) uint64 {
	i := sort.Search(len(t.heights), func(i int) bool { return float64(t.heights[i]) > p }) - 1
	if i < 0 {
		return t.starts[0]
	}
	d := 0.0
	if t.slopes[i] > 0 {
		d = (p - float64(t.heights[i])) / float64(t.slopes[i])
	}
	key := offset(t.starts[i], d)
	if i+1 < len(t.starts) {
		key = min(key, t.starts[i+1])
	}
	return key
}

func (t *Pieces) Bytes() int     { return len(t.starts) * pieceBytes }
func (t *Pieces) Monotone() bool { return true }
func (t *Pieces) Name() string   { return fmt.Sprintf("%d pieces", len(t.starts)) }

// Cycles implements Top. Assumed: a step of the binary search takes 12 cycles, half of its branches being mispredicted at about
// 15 and each load being a hit of a near cache; then the line as in LR.
func (t *Pieces) Cycles() int {
	steps := 0
	for n := len(t.starts); n > 0; n /= 2 {
		steps++
	}
	return 12*steps + 3*4 + 3*6
}
