package metrics

import "math"

// LongRun is what a series of values that follow each other says of its mean however long the values
// remember each other: dependence makes the interval wider, and takes it away only where the series is
// hardly longer than the memory.
type LongRun struct {
	N        int
	Mean     float64
	Variance float64 // of a single value, about the straight line if there is a drift
	Memory   float64 // so many values say as much of the mean as one independent value; 1 or more
	Drift    float64 // how much the straight line through the values rises; 0 if that may be chance
	freedom  float64 // degrees of freedom of the variance of the mean
}

const (
	// leastEffective is how many independent values a side of a contrast is worth at least.
	leastEffective = 3
	// longestMemory bounds the autocorrelation of neighbours: beyond it a series says nothing.
	longestMemory = 0.99
)

// LongRunOf estimates the variance of the mean of a dependent series of at least LeastValues.
//
// Neighbours of first order are taken out: with r the lag-1 autocorrelation, less its bias of
// -(1 + 4 r)/n, the values x(t) - r x(t-1) are nearly independent (prewhitening, Andrews and Monahan
// 1992). What memory they still have is in the means of their batches, sixteen or eight, whichever vary
// more (batch means, Schmeiser 1982). Their variance over (1 - r)² is the long-run variance V, the
// variance of the mean is V/n, and V over the variance of a value is the memory.
//
// A straight line through the values is a drift if its rise is larger than chance makes it, whose
// variance is 12 V/n.
func LongRunOf(series []float64) LongRun {
	plain := longRun(series)
	rise := riseOf(series)
	flat := longRun(level(series, rise))
	if math.Abs(rise) <= float64(tQuantile995(flat.freedom)*math.Sqrt(12*flat.varianceOfMean())) {
		return plain
	}
	flat.Drift = rise
	return flat
}

func longRun(series []float64) LongRun {
	n := len(series)
	m, v := moments(series)
	l := LongRun{N: n, Mean: m, Variance: v, Memory: 1, freedom: float64(n - 1)}
	r := autocorrelation(series)
	if n < LeastValues || v == 0 {
		return l
	}
	r = min(max(r+(1+float64(4*r))/float64(n), 0), longestMemory)
	rest := make([]float64, n-1)
	for i := range rest {
		rest[i] = series[i+1] - m - float64(r*(series[i]-m))
	}
	for _, batches := range []int{manyBatches, fewBatches} {
		batches = min(batches, len(rest))
		_, of := moments(batched(rest, batches))
		long := float64(of*float64(len(rest)/batches)) / float64((1-r)*(1-r))
		if memory := long / v; memory > l.Memory {
			l.Memory, l.freedom = memory, float64(batches-1)
		}
	}
	return l
}

// Effective is how many independent values would say as much.
func (l *LongRun) Effective() float64 { return float64(l.N) / l.Memory }

func (l *LongRun) varianceOfMean() float64 { return l.Variance / l.Effective() }

// riseOf is how much the straight line through values rises from before the first to behind the last.
func riseOf(x []float64) float64 {
	_, slope, _ := straight(x)
	return float64(slope * float64(len(x)))
}

// Contrast is the difference of the means of two dependent series.
type Contrast struct {
	Diff float64 // of b less that of a
	Half float64 // half-width of its 99 % interval; of no meaning where Short is not 0
	// Short is how many values the shorter series has to have before there is an interval, 0 if it has
	// them.
	Short int
}

// ContrastOf compares the means of two series of one quantity, a before b.
//
// The interval is Welch's. A short series cannot show a long memory, so both count as remembering for as
// long as the one that remembers longer. Each series has to be worth three independent values; its
// degrees of freedom are at most that number less one. A series with a drift counts half its rise to the
// interval: so far its mean is from either of its ends.
//
// The level is 99 %, so that a dozen looks at a growing series, each at twice the length of the one
// before, are right together in 95 % (Pocock 1977): who looks again and again sees a difference that is
// not there in one of twenty comparisons, not in one of three. Simulated with 400 values before and 8 to
// 400 after, of first order with r from 0 to 0.95, that is at most one of thirty; with a slow part of
// half the size below it, one of eight.
func ContrastOf(a, b *LongRun) Contrast {
	x, y := *a, *b
	memory := max(x.Memory, y.Memory)
	for _, l := range []*LongRun{&x, &y} {
		if l.Variance > 0 {
			l.Memory = memory
		}
	}
	c := Contrast{Diff: b.Mean - a.Mean}
	if min(x.Effective(), y.Effective()) < leastEffective {
		c.Short = int(math.Ceil(leastEffective * memory))
		return c
	}
	p, q := x.varianceOfMean(), y.varianceOfMean()
	if sum := p + q; sum > 0 {
		free := float64(p*p)/max(min(x.freedom, x.Effective()-1), 1) + float64(q*q)/max(min(y.freedom, y.Effective()-1), 1)
		c.Half = float64(tQuantile995(float64(sum*sum)/free) * math.Sqrt(sum))
	}
	c.Half += (math.Abs(x.Drift) + math.Abs(y.Drift)) / 2
	return c
}
