package metrics

import "math"

// Interval is a mean with the half-width of its 95 % confidence interval.
type Interval struct {
	Mean   float64 `json:"mean"`
	Half95 float64 `json:"half95"` // +Inf with fewer than two values
	N      int     `json:"n"`
}

// Mean95 treats the values as independent (seeds of one spec, or batch means).
func Mean95(values []float64) Interval {
	m, v := moments(values)
	n := len(values)
	if n < 2 {
		return Interval{m, math.Inf(1), n}
	}
	return Interval{m, tQuantile975(float64(n-1)) * math.Sqrt(v/float64(n)), n}
}

// DiffOfHalves is the mean of a series' second half minus that of its first, with
// the half-width of its 95 % interval from so many batches of each.
func DiffOfHalves(series []float64, batches int) (diff, half95 float64) {
	half := len(series) / 2
	return Diff(batched(series[:half], batches), batched(series[half:], batches))
}

// Diff is the mean of b minus the mean of a with the half-width of its 95 %
// interval, for unequal variances (Welch).
func Diff(a, b []float64) (diff, half95 float64) {
	ma, va := moments(a)
	mb, vb := moments(b)
	if len(a) < 2 || len(b) < 2 {
		return mb - ma, math.Inf(1)
	}
	na, nb := float64(len(a)), float64(len(b))
	sa, sb := va/na, vb/nb
	s := sa + sb
	if s == 0 {
		return mb - ma, 0
	}
	qa, qb := sa/s, sb/s
	da := float64(qa*qa) / (na - 1)
	db := float64(qb*qb) / (nb - 1)
	return mb - ma, tQuantile975(1/(da+db)) * math.Sqrt(s)
}

// Settled is the index at which the transient at the start of a series ends, by
// the rule MSER: of all truncations up to half the series, the one whose rest
// has the smallest standard error. Series of 50 values and more are first
// averaged in fives (MSER-5), which keeps one quiet stretch from winning.
func Settled(series []float64) int {
	m := 1
	if len(series) >= 50 {
		m = 5
	}
	n := len(series) / m
	means := make([]float64, n)
	for i := range means {
		means[i], _ = moments(series[i*m : i*m+m])
	}
	best, at := math.Inf(1), 0
	for d := 0; d <= n/2 && n-d >= 2; d++ {
		_, v := moments(means[d:])
		if se := v / float64(n-d); se < best {
			best, at = se, d
		}
	}
	return at * m
}

func batched(series []float64, batches int) []float64 {
	if batches < 1 || len(series) < batches {
		return series
	}
	size := len(series) / batches
	series = series[len(series)-size*batches:]
	means := make([]float64, batches)
	for i := range means {
		means[i], _ = moments(series[i*size : (i+1)*size])
	}
	return means
}

// moments is the mean and the unbiased variance, in two passes. Products are
// rounded before they are added so that every machine gets the same bits.
func moments(x []float64) (mean, variance float64) {
	if len(x) == 0 {
		return 0, 0
	}
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	if len(x) < 2 {
		return mean, 0
	}
	for _, v := range x {
		d := v - mean
		variance += float64(d * d)
	}
	return mean, variance / float64(len(x)-1)
}
