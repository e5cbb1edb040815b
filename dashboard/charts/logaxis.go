package charts

import (
	"math"

	"gonum.org/v1/plot"
)

// logRoom is the room of a logarithmic Y axis at either end, as a share of its length: a point at an end is
// drawn whole.
const logRoom = 0.04

// logRange is where a logarithmic Y axis of values from lo to hi begins and ends. A single value stands in the
// middle.
func logRange(lo, hi float64) (from, to float64) {
	lo = max(lo, 1e-12)
	if hi <= lo {
		return lo / 2, lo * 2
	}
	room := math.Pow(hi/lo, logRoom)
	return lo / room, hi * room
}

// decadeLabels is how many powers of ten have labels at most.
const decadeLabels = 9

// decades are the ticks of a logarithmic axis from lo to hi, none of them outside: gonum/plot makes room for
// ticks that are outside, which leaves the picture half empty. Powers of ten have labels. Where fewer than two of them
// are sure to lie in the range, 1, 2 and 5 times each have, and where that gives fewer than three labels, round numbers.
func decades(lo, hi float64) []plot.Tick {
	const ulps = 1e-9 // an end that is a power of ten is on the axis
	first, last := int(math.Floor(math.Log10(lo))), int(math.Floor(math.Log10(hi)+ulps))
	steps := hi < 100*lo
	each := (last-first)/decadeLabels + 1
	var out []plot.Tick
	labelled := 0
	for k := first; k <= last; k++ {
		for n := 1; n < 10; n++ {
			v := rounded(float64(n) * math.Pow10(k))
			if v < lo*(1-ulps) || v > hi*(1+ulps) {
				continue
			}
			t := plot.Tick{Value: v}
			if n == 1 && (last-k)%each == 0 || steps && (n == 1 || n == 2 || n == 5) {
				t.Label = tickText(v)
				labelled++
			}
			out = append(out, t)
		}
	}
	if labelled < 3 && steps {
		return roundTicks(lo, hi)
	}
	return out
}
