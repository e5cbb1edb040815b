package metrics

import (
	"fmt"
	"math"
)

// Estimate is what a series of values that follow each other in time says of the mean that another
// stretch of the same length would have.
type Estimate struct {
	Mean    float64
	Half95  float64 // half-width of the 95 % interval; of no meaning with Why
	Batches float64 // independent ones in it
	Drift   float64 // by how much it changes from begin to end, 0 if that may be chance
	Why     Refusal // why there is no interval; None: there is one
}

// Refusal is a reason for which a series has no interval.
type Refusal int

// The reasons.
const (
	None      Refusal = iota
	TooShort          // fewer values than an interval can rest on
	Dependent         // too few batches that do not depend on each other
	Drifting          // the mean itself moves
)

const (
	// manyBatches judge the memory of a series, fewBatches its drift.
	manyBatches, fewBatches, longBatches = 16, 8, 4
	// leastBatches are as many independent ones as an interval has to rest on.
	leastBatches = 5
	// t995of6 is the 0.995 quantile of Student's t for fewBatches - 2 degrees of freedom: of a hundred
	// series without a drift one is said to have one.
	t995of6 = 3.7074280
	// smallDrift is the share of the mean up to which a drift is part of the interval, and not its end;
	// halvesDrift is how far the halves may lie apart although that is not chance.
	smallDrift, halvesDrift = 0.01, 0.03
)

// LeastValues is how many values a series with an interval has at least.
const LeastValues = fewBatches

// EstimateMean judges a series by the means of equal batches of it (batch means). Values that do not
// fill a batch are dropped at the front.
//
// Batches of a system that remembers depend on each other, and an interval that takes them for
// independent is too narrow. So the lag-1 autocorrelation of sixteen batches, less its bias of
// -(1 + 4 rho)/n, gives the number of independent ones, n (1 - rho)/(1 + rho), which is exact for a
// process of first order; the variance of the mean and Student's t follow from that number. If it is
// below five there is no interval: the series is not much longer than the memory of the system. What
// remembers in other ways shows in longer batches, so the interval is at least as wide as that of
// eight, and if the sixteen depend on each other as that of four.
//
// A series drifts if the straight line through eight batches has a slope that is not chance (t-test at
// 1 %) and rises or falls by more than a hundredth of the mean, or if its halves differ by more than
// their interval and a thirtieth of the mean.
func EstimateMean(series []float64) Estimate { return estimate(series, math.NaN()) }

// EstimateRatio judges the ratio of two sums over spans of time, as aborts over attempts, by the
// residuals y - ratio x, which have the same relative error as the ratio.
func EstimateRatio(y, x []float64) Estimate {
	sumY, sumX := 0.0, 0.0
	for i := range y {
		sumY += y[i]
		sumX += x[i]
	}
	if sumX == 0 || len(y) < LeastValues {
		return tooShort(y)
	}
	ratio, mean := sumY/sumX, sumX/float64(len(x))
	z := make([]float64, len(y))
	for i := range z {
		z[i] = ratio + (y[i]-float64(ratio*x[i]))/mean
	}
	return estimate(z, ratio)
}

// estimate is that of a series whose mean is known, or NaN.
func estimate(series []float64, mean float64) Estimate {
	if len(series) < LeastValues {
		return tooShort(series)
	}
	if math.IsNaN(mean) {
		mean, _ = moments(series)
	}
	e := Estimate{Mean: mean, Drift: trend(batched(series, fewBatches))}
	diff, noise := DiffOfHalves(series, min(5, len(series)/2))
	switch {
	case math.Abs(e.Drift) > smallDrift*math.Abs(mean):
		e.Why = Drifting
	case math.Abs(diff) > max(noise, halvesDrift*math.Abs(mean)):
		e.Why, e.Drift = Drifting, diff
	}
	if e.Drift != 0 { // what it does is known: the rest tells of chance
		series = level(series, e.Drift)
	}
	e.Batches, e.Half95 = widest(series)
	if e.Why == None && e.Batches < leastBatches {
		e.Why = Dependent
	}
	e.Half95 += math.Abs(e.Drift)
	return e
}

// widest is how many independent batches a series has, and the half-width of the 95 % interval of its
// mean.
func widest(series []float64) (independent, half95 float64) {
	many := batched(series, min(manyBatches, len(series)))
	n := float64(len(many))
	rho := autocorrelation(many)
	rho = min(rho+(1+float64(4*rho))/n, 0.99)
	inflation := 1.0
	if rho > 0 {
		inflation = (1 + rho) / (1 - rho)
	}
	independent = n / inflation
	_, v := moments(many)
	half95 = max(tQuantile975(independent-1)*math.Sqrt(float64(v*inflation)/n), Mean95(batched(series, fewBatches)).Half95)
	if rho > 0 {
		half95 = max(half95, Mean95(batched(series, longBatches)).Half95)
	}
	return independent, half95
}

// level is a series without a straight line that rises so much.
func level(series []float64, rise float64) []float64 {
	out := make([]float64, len(series))
	n := float64(len(series))
	for i, v := range series {
		out[i] = v - float64(rise*(float64(i)-(n-1)/2))/n
	}
	return out
}

// Times is how many times as long a series would have an interval, 0 where that is not known: as much longer as independent batches, or
// values, are missing.
func (e Estimate) Times() float64 {
	switch {
	case e.Why == Dependent && e.Batches > 0:
		return leastBatches / e.Batches
	case e.Why == TooShort && e.Batches > 0 && e.Batches < LeastValues:
		return LeastValues / e.Batches
	}
	return 0
}

func tooShort(series []float64) Estimate {
	return Estimate{Why: TooShort, Batches: float64(len(series))}
}

// Reason says in words why there is no interval, "" if there is one. what is the quantity.
func (e Estimate) Reason(what string) string {
	switch e.Why {
	case TooShort:
		return "too short for a confidence interval"
	case Drifting:
		if e.Mean == 0 {
			return "still drifting"
		}
		return fmt.Sprintf("still drifting: %s changes by %+.1f %% from its begin to its end", what, 100*e.Drift/e.Mean)
	case Dependent:
		return fmt.Sprintf("too few independent batches: %.1f of %d, an interval takes %d", e.Batches, manyBatches, leastBatches)
	}
	return ""
}

// autocorrelation is that of neighbours; 0 where nothing varies but by rounding.
func autocorrelation(x []float64) float64 {
	const rounding = 1e-10
	m, v := moments(x)
	if v <= float64(rounding*rounding*m)*m {
		return 0
	}
	sum := 0.0
	for i := 1; i < len(x); i++ {
		sum += float64((x[i-1] - m) * (x[i] - m))
	}
	return sum / float64(v*float64(len(x)-1))
}

// straight is the least-squares line through values of equal distances: their mean, its rise from one to the next, 0 for one value
// alone, and the sum of the squared distances from the middle.
func straight(x []float64) (mean, slope, sxx float64) {
	n := float64(len(x))
	mean, _ = moments(x)
	sxy := 0.0
	for i, v := range x {
		at := float64(i) - (n-1)/2
		sxx += float64(at * at)
		sxy += float64(at * (v - mean))
	}
	if sxx > 0 {
		slope = sxy / sxx
	}
	return mean, slope, sxx
}

// trend is by how much the straight line through eight batches rises from the begin of the first to
// the end of the last, 0 if its slope may be chance.
func trend(few []float64) float64 {
	n := float64(len(few))
	mean, slope, sxx := straight(few)
	residual := 0.0
	for i, v := range few {
		d := v - mean - float64(slope*(float64(i)-(n-1)/2))
		residual += float64(d * d)
	}
	if math.Abs(slope) <= float64(t995of6*math.Sqrt(residual/float64((n-2)*sxx))) {
		return 0
	}
	return float64(slope * n)
}
