package model

import "math"

// LR is linear regression on the key, in 16 bytes. A least-squares line goes through the centre of its points, and the shares of
// the keys are a half on average: so the mean key says where the line is, exactly where a product would lose a 64-bit key's low
// bits.
type LR struct {
	mean  uint64
	slope float64
}

// trainLR fits the line to a sample, distances being from its lowest key and centred before they are multiplied.
func trainLR(s sample) *LR {
	n := float64(len(s.keys))
	if n == 0 {
		return &LR{}
	}
	first := s.keys[0]
	var sumX, sumY float64
	for i, k := range s.keys {
		sumX += float64(k - first)
		sumY += s.y[i]
	}
	meanX, meanY := sumX/n, sumY/n
	var sxx, sxy float64
	for i, k := range s.keys {
		x, y := float64(k-first)-meanX, s.y[i]-meanY
		sxx += float64(x * x)
		sxy += float64(x * y)
	}
	if sxx == 0 || sxy <= 0 {
		return &LR{mean: first}
	}
	slope := sxy / sxx
	// The sample's mean share is a half up to the rounding of ranks.
	return &LR{mean: offset(first, meanX+(0.5-meanY)/slope), slope: slope}
}

// Predict implements Top.
func (t *LR) Predict(key uint64) float64 {
	return inUnit(0.5 + float64(t.slope*distance(t.mean, key)))
}

// Invert implements Inverter.
func (t *LR) Invert(p float64) uint64 {
	if t.slope == 0 {
		return t.mean
	}
	return offset(t.mean, (p-0.5)/t.slope)
}

// offset is key + d, or the end of the keys that is nearer.
func offset(key uint64, d float64) uint64 {
	switch {
	case d >= 0:
		if d >= 1<<64 || math.MaxUint64-key < uint64(d) {
			return math.MaxUint64
		}
		return key + uint64(d)
	case d <= -(1<<64) || key < uint64(-d):
		return 0
	}
	return key - uint64(-d)
}

func (t *LR) Bytes() int     { return 16 }
func (t *LR) Monotone() bool { return true }
func (t *LR) Name() string   { return "LR" }

// Cycles implements Top. Assumed: the steps wait for each other, 4 cycles for each of conversion, product and sum, and 6 for
// each of the subtraction with its comparison, the bounds and the number of the sub-model.
func (t *LR) Cycles() int { return 3*4 + 3*6 }
