package figures

import (
	"cmp"
	"fmt"
	"math"

	"drtmx/engine/result"
)

// tolerance is how far a measured number may be off the thesis's.
const tolerance = 0.15

// pair is two series of which the first is expected above the second.
type pair struct{ above, below string }

// ratio is a quotient at one X with the half-width of its interval.
type ratio struct {
	pair
	x, value, half float64
	a, b           Point
}

// over is how much larger this ratio is than another, and the half-width of that interval.
func (r ratio) over(s ratio) (value, half float64) {
	value = r.value / s.value
	return value, value * math.Hypot(r.half/r.value, s.half/s.value)
}

// ratios are the quotients of two series at equal X.
func (f *Figure) ratios(p pair, at func(x float64) bool) []ratio {
	var out []ratio
	below := f.series(p.below)
	for _, a := range f.series(p.above).Points {
		b, ok := below.at(a.X)
		if !ok || !at(a.X) || a.Y <= 0 || b.Y <= 0 {
			continue
		}
		out = append(out, divide(p, a, b))
	}
	return out
}

// extremes are the largest and the smallest.
func extremes(rs []ratio) (most, least ratio) {
	most, least = rs[0], rs[0]
	for _, r := range rs[1:] {
		if r.value > most.value {
			most = r
		}
		if r.value < least.value {
			least = r
		}
	}
	return most, least
}

// peaks is peak over peak.
func peaks(rs []ratio) float64 {
	a, b := 0.0, 0.0
	for _, r := range rs {
		a, b = max(a, r.a.Y), max(b, r.b.Y)
	}
	return a / b
}

// gain judges a ratio with an interval against a reference: one above 1 must be above 1.
func gain(value, half, reference float64) string {
	status := near(value, half, reference)
	if reference > 1 {
		status = worse(status, exceedsOne(value, half))
	}
	return status
}

// exceedsOne is the verdict that a number with an interval is above 1.
func exceedsOne(value, half float64) string {
	switch {
	case value+half < 1:
		return Contradicted
	case value-half <= 1:
		return Undecided
	}
	return Holds
}

// near judges a number with an interval against a reference.
func near(value, half, reference float64) string {
	off, room := math.Abs(value-reference), tolerance*reference
	switch {
	case off+half <= room:
		return Holds
	case off-half > room:
		return Contradicted
	}
	return Undecided
}

// noRuns is the claim of a figure without points for it.
func noRuns(c Claim) Claim {
	c.Status, c.Why = Undecided, "no points to compare: this scale does not measure them"
	return c
}

// upTo is a claim that the ratio of two series reaches a value.
func (f *Figure) upTo(id, text, a, b string, at func(x float64) bool, reference float64) Claim {
	c := Claim{ID: id, Claim: text, Reference: fmt.Sprint(reference), Unit: "x"}
	rs := f.ratios(pair{a, b}, at)
	if len(rs) == 0 {
		return noRuns(c)
	}
	most, least := extremes(rs)
	c.ratios(most, least, peaks(rs))
	c.Status = gain(most.value, most.half, reference)
	c.Why = f.because(most)
	return c
}

// between is a claim that the ratio of two series spans a range.
func (f *Figure) between(id, text, a, b string, at func(x float64) bool, from, to float64) Claim {
	c := Claim{ID: id, Claim: text, Reference: fmt.Sprintf("%g..%g", from, to), Unit: "x"}
	rs := f.ratios(pair{a, b}, at)
	if len(rs) == 0 {
		return noRuns(c)
	}
	most, least := extremes(rs)
	c.ratios(most, least, peaks(rs))
	c.Status = worse(gain(most.value, most.half, to), gain(least.value, least.half, from))
	c.Why = f.because(most) + "; smallest: " + f.because(least)
	return c
}

// above is a claim that one series is above another everywhere.
func (f *Figure) above(id, text string, at func(x float64) bool, pairs ...pair) Claim {
	var rs []ratio
	for _, p := range pairs {
		rs = append(rs, f.ratios(p, at)...)
	}
	if len(rs) == 0 {
		return noRuns(Claim{ID: id, Claim: text, Unit: "x", Status: Holds})
	}
	return f.gains(id, text, rs...)
}

// gains is a claim that every one of these ratios is above 1.
func (f *Figure) gains(id, text string, rs ...ratio) Claim {
	c := Claim{ID: id, Claim: text, Unit: "x", Status: Holds}
	most, least := extremes(rs)
	c.ratios(most, least, peaks(rs))
	c.most, c.least = most, least
	c.Measured, c.Why = c.Smallest, "closest: "+f.because(least)
	for _, r := range rs {
		c.Status = worse(c.Status, exceedsOne(r.value, r.half))
	}
	return c
}

// value is a claim about one point. Of two numbers that are published for it the nearer
// one counts.
func (f *Figure) value(id, text, series string, x, reference float64) Claim {
	c := Claim{ID: id, Claim: text, Reference: fmt.Sprint(reference), Unit: f.Y.Unit}
	c.expected(series, x, reference)
	published, _ := row(id)
	if published.Also != 0 {
		c.Reference = fmt.Sprintf("%g or %g", reference, published.Also)
	}
	p, ok := f.series(series).at(x)
	if !ok {
		return noRuns(c)
	}
	if published.Also != 0 {
		reference = published.Nearest(p.Y)
	}
	return c.judged(f, p, reference)
}

// highest is a claim about the highest point of a part of a series.
func (f *Figure) highest(id, text, series string, at func(x float64) bool, reference float64) Claim {
	c := Claim{ID: id, Claim: text, Reference: fmt.Sprint(reference), Unit: f.Y.Unit}
	c.expected(series, math.NaN(), reference)
	part := Series{}
	for _, p := range f.series(series).Points {
		if at(p.X) {
			part.Points = append(part.Points, p)
		}
	}
	if len(part.Points) == 0 {
		return noRuns(c)
	}
	return c.judged(f, part.peak(), reference)
}

func (c Claim) judged(f *Figure, p Point, reference float64) Claim {
	c.Measured = &p.Y
	c.Status = near(p.Y, p.CI95, reference)
	c.Why = fmt.Sprintf("%+.1f %% at %s, %s", 100*(p.Y/reference-1), f.where(p), limit(f.Runs[p.Run]))
	return c
}

// ratios fills the three fields of a ratio claim.
func (c *Claim) ratios(most, least ratio, peak float64) {
	c.Measured, c.Largest, c.Smallest, c.Peak = &most.value, &most.value, &least.value, &peak
}

// worse is the worse of two verdicts.
func worse(a, b string) string {
	for _, v := range []string{Contradicted, Undecided} {
		if a == v || b == v {
			return v
		}
	}
	return Holds
}

// because says what limited both sides of a ratio.
func (f *Figure) because(r ratio) string {
	return fmt.Sprintf("%.3gx ± %.2g at %s: %s %.4g %s, %s; %s %.4g %s, %s", r.value, r.half, f.where(r.a),
		r.above, r.a.Y, f.Y.Unit, limit(f.Runs[r.a.Run]), r.below, r.b.Y, f.Y.Unit, limit(f.Runs[r.b.Run]))
}

// where names a place on the X axis.
func (f *Figure) where(p Point) string { return cmp.Or(p.Name, f.X.at(p.X)) }

// limit says what limited a run.
func limit(r *result.Result) string {
	k := r.Bottleneck
	if k == nil {
		return "limited by nothing measured"
	}
	what, ok := resourceNames[k.Resource]
	if !ok {
		what = k.Resource
	}
	return fmt.Sprintf("%s %.0f %% busy", what, 100*k.Utilization)
}

// resourceNames are the resources as a reader knows them.
var resourceNames = map[string]string{
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
