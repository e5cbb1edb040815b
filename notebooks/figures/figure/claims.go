package figure

import (
	"cmp"
	"fmt"
	"math"

	"drtmx/engine/result"
	"drtmx/notebooks/figures/published"
)

// Tolerance is how far a measured number may be off the thesis's.
const Tolerance = 0.15

// Pair is two series of which the first is expected above the second.
type Pair struct{ Above, Below string }

// Ratio is a quotient at one X with the half-width of its interval.
type Ratio struct {
	Pair
	X, Value, Half float64
	A, B           Point
}

// Over is how much larger this ratio is than another, and the half-width of that interval.
func (r Ratio) Over(s Ratio) (value, half float64) {
	value = r.Value / s.Value
	return value, value * math.Hypot(r.Half/r.Value, s.Half/s.Value)
}

// Ratios are the quotients of two series at equal X.
func (f *Figure) Ratios(p Pair, at func(x float64) bool) []Ratio {
	var out []Ratio
	below := f.Line(p.Below)
	for _, a := range f.Line(p.Above).Points {
		b, ok := below.At(a.X)
		if !ok || !at(a.X) || a.Y <= 0 || b.Y <= 0 {
			continue
		}
		out = append(out, Divide(p, a, b))
	}
	return out
}

// Extremes are the largest and the smallest.
func Extremes(rs []Ratio) (most, least Ratio) {
	most, least = rs[0], rs[0]
	for _, r := range rs[1:] {
		if r.Value > most.Value {
			most = r
		}
		if r.Value < least.Value {
			least = r
		}
	}
	return most, least
}

// PeakRatio is peak over peak.
func PeakRatio(rs []Ratio) float64 {
	a, b := 0.0, 0.0
	for _, r := range rs {
		a, b = max(a, r.A.Y), max(b, r.B.Y)
	}
	return a / b
}

// Gain judges a ratio with an interval against a reference: one above 1 must be above 1.
func Gain(value, half, reference float64) string {
	status := Near(value, half, reference)
	if reference > 1 {
		status = Worse(status, ExceedsOne(value, half))
	}
	return status
}

// ExceedsOne is the verdict that a number with an interval is above 1.
func ExceedsOne(value, half float64) string {
	switch {
	case value+half < 1:
		return Contradicted
	case value-half <= 1:
		return Undecided
	}
	return Holds
}

// Near judges a number with an interval against a reference.
func Near(value, half, reference float64) string {
	off, room := math.Abs(value-reference), Tolerance*reference
	switch {
	case off+half <= room:
		return Holds
	case off-half > room:
		return Contradicted
	}
	return Undecided
}

// NoRuns is the claim of a figure without points for it.
func NoRuns(c Claim) Claim {
	c.Status, c.Why = Undecided, "no points to compare: this scale does not measure them"
	return c
}

// UpTo is a claim that the ratio of two series reaches a value.
func (f *Figure) UpTo(id, text, a, b string, at func(x float64) bool, reference float64) Claim {
	c := Claim{ID: id, Claim: text, Reference: fmt.Sprint(reference), Unit: "x"}
	rs := f.Ratios(Pair{a, b}, at)
	if len(rs) == 0 {
		return NoRuns(c)
	}
	most, least := Extremes(rs)
	c.SetRatios(most, least, PeakRatio(rs))
	c.Status = Gain(most.Value, most.Half, reference)
	c.Why = f.Because(most)
	return c
}

// Between is a claim that the ratio of two series spans a range.
func (f *Figure) Between(id, text, a, b string, at func(x float64) bool, from, to float64) Claim {
	c := Claim{ID: id, Claim: text, Reference: fmt.Sprintf("%g..%g", from, to), Unit: "x"}
	rs := f.Ratios(Pair{a, b}, at)
	if len(rs) == 0 {
		return NoRuns(c)
	}
	most, least := Extremes(rs)
	c.SetRatios(most, least, PeakRatio(rs))
	c.Status = Worse(Gain(most.Value, most.Half, to), Gain(least.Value, least.Half, from))
	c.Why = f.Because(most) + "; smallest: " + f.Because(least)
	return c
}

// Above is a claim that one series is above another everywhere.
func (f *Figure) Above(id, text string, at func(x float64) bool, pairs ...Pair) Claim {
	var rs []Ratio
	for _, p := range pairs {
		rs = append(rs, f.Ratios(p, at)...)
	}
	if len(rs) == 0 {
		return NoRuns(Claim{ID: id, Claim: text, Unit: "x", Status: Holds})
	}
	return f.Gains(id, text, rs...)
}

// Gains is a claim that every one of these ratios is above 1.
func (f *Figure) Gains(id, text string, rs ...Ratio) Claim {
	c := Claim{ID: id, Claim: text, Unit: "x", Status: Holds}
	most, least := Extremes(rs)
	c.SetRatios(most, least, PeakRatio(rs))
	c.most, c.least = most, least
	c.Measured, c.Why = c.Smallest, "closest: "+f.Because(least)
	for _, r := range rs {
		c.Status = Worse(c.Status, ExceedsOne(r.Value, r.Half))
	}
	return c
}

// Value is a claim about one point. Of two numbers that are published for it the nearer
// one counts.
func (f *Figure) Value(id, text, series string, x, reference float64) Claim {
	c := Claim{ID: id, Claim: text, Reference: fmt.Sprint(reference), Unit: f.Y.Unit}
	c.expected(series, x, reference)
	published, _ := published.Find(id)
	if published.Also != 0 {
		c.Reference = fmt.Sprintf("%g or %g", reference, published.Also)
	}
	p, ok := f.Line(series).At(x)
	if !ok {
		return NoRuns(c)
	}
	if published.Also != 0 {
		reference = published.Nearest(p.Y)
	}
	return c.Judged(f, p, reference)
}

// Highest is a claim about the highest point of a part of a series.
func (f *Figure) Highest(id, text, series string, at func(x float64) bool, reference float64) Claim {
	c := Claim{ID: id, Claim: text, Reference: fmt.Sprint(reference), Unit: f.Y.Unit}
	c.expected(series, math.NaN(), reference)
	part := Series{}
	for _, p := range f.Line(series).Points {
		if at(p.X) {
			part.Points = append(part.Points, p)
		}
	}
	if len(part.Points) == 0 {
		return NoRuns(c)
	}
	return c.Judged(f, part.Peak(), reference)
}

// Judged compares a claim about one point with a number.
func (c Claim) Judged(f *Figure, p Point, reference float64) Claim {
	c.Measured = &p.Y
	c.Status = Near(p.Y, p.CI95, reference)
	c.Why = fmt.Sprintf("%+.1f %% at %s, %s", 100*(p.Y/reference-1), f.Where(p), LimitOf(f.Runs[p.Run]))
	return c
}

// SetRatios fills the three fields of a ratio claim.
func (c *Claim) SetRatios(most, least Ratio, peak float64) {
	c.Measured, c.Largest, c.Smallest, c.Peak = &most.Value, &most.Value, &least.Value, &peak
}

// Worse is the worse of two verdicts.
func Worse(a, b string) string {
	for _, v := range []string{Contradicted, Undecided} {
		if a == v || b == v {
			return v
		}
	}
	return Holds
}

// Because says what limited both sides of a ratio.
func (f *Figure) Because(r Ratio) string {
	return fmt.Sprintf("%.3gx ± %.2g at %s: %s %.4g %s, %s; %s %.4g %s, %s", r.Value, r.Half, f.Where(r.A),
		r.Above, r.A.Y, f.Y.Unit, LimitOf(f.Runs[r.A.Run]), r.Below, r.B.Y, f.Y.Unit, LimitOf(f.Runs[r.B.Run]))
}

// Where names a place on the X axis.
func (f *Figure) Where(p Point) string { return cmp.Or(p.Name, f.X.At(p.X)) }

// LimitOf says what limited a run.
func LimitOf(r *result.Result) string {
	k := r.Bottleneck
	if k == nil {
		return "limited by nothing measured"
	}
	what, ok := ResourceNames[k.Resource]
	if !ok {
		what = k.Resource
	}
	return fmt.Sprintf("%s %.0f %% busy", what, 100*k.Utilization)
}

// ResourceNames are the resources as a reader knows them.
var ResourceNames = map[string]string{
	"cpu":         "cores",
	"nic_tx":      "RNIC send pipeline",
	"nic_rx":      "RNIC receive pipeline",
	"nic_atomic":  "RNIC atomic unit",
	"nic_context": "RNIC context fetches",
	"softirq":     "cores of receive queues",
	"link":        "link",
	"pcie":        "PCIe",
	"memory":      "DRAM",
	"nvm_write":   "NVM writes",
}

// Divide is the ratio of two points, with the half-width of its interval.
func Divide(p Pair, a, b Point) Ratio {
	v := a.Y / b.Y
	return Ratio{p, a.X, v, v * math.Hypot(a.CI95/a.Y, b.CI95/b.Y), a, b}
}

// Quotient is a claim about the ratio of two points.
func (f *Figure) Quotient(id, text string, a, b Point, nameA, nameB string, reference float64) Claim {
	c := Claim{ID: id, Claim: text, Reference: fmt.Sprint(reference), Unit: "x"}
	r := Divide(Pair{nameA, nameB}, a, b)
	c.Measured, c.Status, c.Why = &r.Value, Gain(r.Value, r.Half, reference), f.Because(r)
	return c
}

// NoClaims are those of a figure about which the thesis has no sentence.
func NoClaims(*Figure) []Claim { return nil }

// Counted is a claim about a number that is no measurement.
func Counted(id, text string, reference, v float64, why string) Claim {
	c := Claim{ID: id, Claim: text, Reference: fmt.Sprint(reference), Unit: "count", Measured: &v, Status: Holds, Why: why}
	if v != reference {
		c.Status = Contradicted
	}
	return c
}
