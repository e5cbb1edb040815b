package metrics

import "math"

// student975 is the 0.975 quantile of Student's t for 1 to 30 degrees of freedom.
// A table and a rational series, not a library: an interval may decide how long a
// run lasts, so it has the same bits on every machine, which exp and log have not.
var student975 = [...]float64{
	12.7062047, 4.30265273, 3.18244631, 2.77644511, 2.57058184, 2.44691185, 2.36462425, 2.30600414, 2.26215716, 2.22813885,
	2.20098516, 2.17881283, 2.16036866, 2.14478669, 2.13144955, 2.1199053, 2.10981558, 2.10092204, 2.09302405, 2.08596345,
	2.07961384, 2.07387307, 2.06865761, 2.06389856, 2.05953855, 2.05552944, 2.05183052, 2.04840714, 2.04522964, 2.04227246,
}

// normal975 is the 0.975 quantile of the normal distribution.
const normal975 = 1.9599639845400542

// tQuantile975 is the 0.975 quantile of Student's t for df >= 1 degrees of
// freedom, also between integers (Welch). Above the table it is the expansion in
// 1/df of Abramowitz and Stegun 26.7.5, good to 1e-6 there.
func tQuantile975(df float64) float64 {
	n := len(student975)
	if df <= 1 || math.IsNaN(df) {
		return student975[0]
	}
	if df < float64(n) {
		i := int(df)
		lo, hi := student975[i-1], student975[i]
		// Linear in 1/df, in which the quantile is nearly straight: too wide by a
		// fifth at worst, between 1 and 2, and never too narrow.
		a, b, x := 1/float64(i), 1/float64(i+1), 1/df
		return lo + float64((hi-lo)*((a-x)/(a-b)))
	}
	const (
		z  = normal975
		g1 = (z*z*z + z) / 4
		g2 = (5*z*z*z*z*z + 16*z*z*z + 3*z) / 96
		g3 = (3*z*z*z*z*z*z*z + 19*z*z*z*z*z + 17*z*z*z - 15*z) / 384
	)
	x := 1 / df
	// Horner, each product rounded before its sum.
	t := g2 + float64(g3*x)
	t = g1 + float64(t*x)
	return z + float64(t*x)
}
