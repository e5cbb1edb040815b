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

// student995 is the 0.995 quantile, likewise.
var student995 = [...]float64{
	63.6567412, 9.92484320, 5.84090931, 4.60409487, 4.03214298, 3.70742802, 3.49948330, 3.35538733, 3.24983554, 3.16927267,
	3.10580652, 3.05453959, 3.01227584, 2.97684273, 2.94671288, 2.92078162, 2.89823052, 2.87844047, 2.86093461, 2.84533971,
	2.83135956, 2.81875606, 2.80733568, 2.79693950, 2.78743581, 2.77871453, 2.77068296, 2.76326246, 2.75638590, 2.74999565,
}

// student is a quantile of Student's t for each number of degrees of freedom: a table, and above it the
// expansion in 1/df of Abramowitz and Stegun 26.7.5, good to 1e-5 there, whose coefficients are exact
// polynomials of the quantile of the normal distribution.
type student struct {
	table         []float64
	z, g1, g2, g3 float64
}

var at975 = func() student { // program: constants
	const z = normal975
	return student{student975[:], z, (z*z*z + z) / 4, (5*z*z*z*z*z + 16*z*z*z + 3*z) / 96, (3*z*z*z*z*z*z*z + 19*z*z*z*z*z + 17*z*z*z - 15*z) / 384}
}()

var at995 = func() student { // program: constants
	const z = normal995
	return student{student995[:], z, (z*z*z + z) / 4, (5*z*z*z*z*z + 16*z*z*z + 3*z) / 96, (3*z*z*z*z*z*z*z + 19*z*z*z*z*z + 17*z*z*z - 15*z) / 384}
}()

// The 0.975 and the 0.995 quantile of the normal distribution.
const normal975, normal995 = 1.9599639845400542, 2.5758293035489004

// tQuantile975 is the 0.975 quantile of Student's t for df >= 1 degrees of
// freedom, also between integers (Welch).
func tQuantile975(df float64) float64 { return at975.quantile(df) }

// tQuantile995 is the 0.995 quantile, likewise.
func tQuantile995(df float64) float64 { return at995.quantile(df) }

func (s *student) quantile(df float64) float64 {
	n := len(s.table)
	if df <= 1 || math.IsNaN(df) {
		return s.table[0]
	}
	if df < float64(n) {
		i := int(df)
		lo, hi := s.table[i-1], s.table[i]
		// Linear in 1/df, in which the quantile is nearly straight: too wide by a
		// fifth at worst, between 1 and 2, and never too narrow.
		a, b, x := 1/float64(i), 1/float64(i+1), 1/df
		return lo + float64((hi-lo)*((a-x)/(a-b)))
	}
	x := 1 / df
	// Horner, each product rounded before its sum.
	t := s.g2 + float64(s.g3*x)
	t = s.g1 + float64(t*x)
	return s.z + float64(t*x)
}
