package model

import "math"

func sqrt(x float64) float64 { return math.Sqrt(x) } // exact on every machine

const (
	log2e = 1.4426950408889634
	ln2hi = 6.93147180369123816490e-01 // ln 2 in two parts: k x ln2hi is exact for the k that occur
	ln2lo = 1.90821492927058770002e-10
	expTo = 700 // beyond, the result leaves the numbers
)

// exp is e^x, equal on every machine, which math.Exp is not. x = k ln 2 + r, and e^r is its series: |r| <= 0.35, so the first
// term left out is below 1e-15.
func exp(x float64) float64 {
	x = min(max(x, -expTo), expTo)
	k := math.Floor(float64(x*log2e) + 0.5)
	r := (x - float64(k*ln2hi)) - float64(k*ln2lo)
	sum := 1.0
	for _, c := range inverse {
		sum = 1 + float64(float64(sum*r)*c)
	}
	return float64(sum * math.Float64frombits(uint64(int64(k)+1023)<<52))
}

// inverse are 1/12 to 1/1: the series is summed from its end.
var inverse = [...]float64{1. / 12, 1. / 11, 1. / 10, 1. / 9, 1. / 8, 1. / 7, 1. / 6, 1. / 5, 1. / 4, 1. / 3, 1. / 2, 1}

func sigmoid(x float64) float64 { return 1 / (1 + exp(-x)) }
