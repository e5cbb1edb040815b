package dataset

import "math"

// Own log, exp and normal quantile: package math has other code for them on other machines. Every product is
// rounded before it is added, so that no machine fuses the two.

const (
	ln2Hi = 6.93147180369123816490e-01 // the first 32 bits of ln 2
	ln2Lo = 1.90821492927058770002e-10 // the rest
)

// logOf is the natural logarithm of a normal number above 0: x = m * 2^e with m around 1, log m by the series
// of 2 artanh((m-1)/(m+1)).
func logOf(x float64) float64 {
	m, e := math.Frexp(x) // exact
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}
	t := (m - 1) / (m + 1)
	t2 := float64(t * t)
	sum := 0.0
	for k := 21; k >= 1; k -= 2 { // t is at most 0.172: what is left is below 2^-57
		sum = float64(sum*t2) + 1/float64(k)
	}
	return float64(float64(e)*ln2Hi) + (float64(2*float64(t*sum)) + float64(float64(e)*ln2Lo))
}

// expOf is e^x for |x| below 700: x = k ln 2 + f, e^f by its series.
func expOf(x float64) float64 {
	k := math.Floor(float64(x/math.Ln2) + 0.5)
	f := (x - float64(k*ln2Hi)) - float64(k*ln2Lo)
	sum := 1.0
	for i := 14; i >= 1; i-- { // |f| is at most 0.35: what is left is below 2^-60
		sum = float64(sum*f)/float64(i) + 1
	}
	return math.Ldexp(sum, int(k)) // exact
}

// quantile is the inverse of the standard normal distribution, for p from 0 to 1 without the ends: Wichura's
// algorithm AS 241, exact to about 1e-16.
func quantile(p float64) float64 {
	q := p - 0.5
	if q >= -0.425 && q <= 0.425 {
		r := 0.180625 - float64(q*q)
		return float64(q*polynomial(r, centralP)) / polynomial(r, centralQ)
	}
	tail := p
	if q > 0 {
		tail = 1 - p
	}
	r := math.Sqrt(-logOf(tail))
	var z float64
	if r <= 5 {
		z = polynomial(r-1.6, middleP) / polynomial(r-1.6, middleQ)
	} else {
		z = polynomial(r-5, farP) / polynomial(r-5, farQ)
	}
	if q < 0 {
		return -z
	}
	return z
}

func polynomial(x float64, c [8]float64) float64 {
	sum := c[7]
	for i := 6; i >= 0; i-- {
		sum = float64(sum*x) + c[i]
	}
	return sum
}

// The coefficients of AS 241, lowest power first.
var (
	centralP = [8]float64{3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
		4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3}
	centralQ = [8]float64{1, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
		2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3}
	middleP = [8]float64{1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
		1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4}
	middleQ = [8]float64{1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
		1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9}
	farP = [8]float64{6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
		2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7}
	farQ = [8]float64{1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
		7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15}
)
