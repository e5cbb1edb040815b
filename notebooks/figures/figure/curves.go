package figure

import (
	"fmt"
	"math"
	"strings"

	"drtmx/engine/result"
	"drtmx/notebooks/figures/published"
)

// Throughputs is the figure with the load along X and the throughput as Y.
func (f *Figure) Throughputs() *Figure {
	return f.along(Axis{Label: "Throughput", Unit: f.X.Unit}, func(p Point) (float64, float64) { return p.X, p.XCI95 })
}

// Latencies has the latency as Y.
func (f *Figure) Latencies() *Figure {
	return f.along(f.Y, func(p Point) (float64, float64) { return p.Y, p.CI95 })
}

func (f *Figure) along(y Axis, value func(p Point) (v, ci95 float64)) *Figure {
	out := &Figure{ID: f.ID, X: Axis{Label: "Load", Unit: "coroutines per thread"}, Y: y, Runs: f.Runs}
	for _, s := range f.Series {
		t := Series{Name: s.Name}
		for _, p := range s.Points {
			v, ci := value(p)
			t.Points = append(t.Points, Point{X: float64(p.Load), Y: v, CI95: ci, Load: p.Load, Run: p.Run})
		}
		out.Series = append(out.Series, t)
	}
	return out
}

// Everywhere is any load.
func Everywhere(float64) bool { return true }

// AllOf is a claim that is its parts together. Of their ratios it has the largest, the
// smallest and the smallest peak over peak.
func AllOf(id, text string, parts ...Claim) Claim {
	c := Claim{ID: id, Claim: text, Unit: "x", Status: Holds}
	for i, p := range parts {
		c.Status = Worse(c.Status, p.Status)
		if i > 0 {
			c.Why += ". "
		}
		c.Why += p.Claim + ": " + p.Why
		if v := p.Measured; v != nil && (c.Measured == nil || *v < *c.Measured) {
			c.Measured = v
		}
		if v := p.Largest; v != nil && (c.Largest == nil || *v > *c.Largest) {
			c.Largest = v
		}
		if v := p.Smallest; v != nil && (c.Smallest == nil || *v < *c.Smallest) {
			c.Smallest = v
		}
		if v := p.Peak; v != nil && (c.Peak == nil || *v < *c.Peak) {
			c.Peak = v
		}
	}
	return c
}

// Settled leaves a claim undecided if one of its runs was too short.
func (f *Figure) Settled(c Claim, points ...Point) Claim {
	for _, p := range points {
		if l := f.Runs[p.Run].Little; l != nil && !l.Settled() {
			c.Status, c.short = Undecided, true
			if why := fmt.Sprintf("; a run is too short: Little's law is off by %.0f %%, %.0f %% of its attempts abort", 100*l.Error, 100*f.Runs[p.Run].AbortRate); !strings.HasSuffix(c.Why, why) {
				c.Why += why
			}
		}
	}
	return c
}

// Coroutines is a number of coroutines in words.
func Coroutines(coroutines int) string { return Axis{Unit: "coroutines"}.At(float64(coroutines)) }

// Ahead is a claim without a published number, that one line is above another: under
// every load, or, not always, under the one where it is most.
func (f *Figure) Ahead(id, text string, p Pair, always bool, at func(load float64) bool) Claim {
	c := Claim{ID: id, Claim: text, Unit: "x"}
	rs := f.Ratios(p, at)
	if len(rs) == 0 {
		return NoRuns(c)
	}
	most, least := Extremes(rs)
	if always {
		c = f.Gains(id, text, rs...)
	} else {
		c = f.Gains(id, text, most)
	}
	c.SetRatios(most, least, PeakRatio(rs))
	c.most, c.least = most, least
	c.Why = f.Because(most)
	if least.X != most.X {
		c.Why += "; smallest: " + f.Because(least)
	}
	c.Why += "; " + f.Costs(most)
	return f.Settled(c, most.A, most.B)
}

// Tops is a claim about the highest points of two lines.
func (f *Figure) Tops(id, text string, p Pair) Claim {
	a, b := f.Line(p.Above), f.Line(p.Below)
	if len(a.Points) == 0 || len(b.Points) == 0 {
		return NoRuns(Claim{ID: id, Claim: text, Unit: "x"})
	}
	r := Divide(p, a.Peak(), b.Peak())
	c := f.Gains(id, text, r)
	c.Measured, c.Why = &r.Value, f.Because(r)+"; "+f.Costs(r)
	return f.Settled(c, r.A, r.B)
}

// Peak is the number of a line's highest point.
func (f *Figure) Peak(id, text, line string) Claim {
	c := Claim{ID: id, Claim: text, Unit: f.Y.Unit}
	p, published := published.FindSystem(id)
	if published {
		c.Reference = p.Text()
		c.Place = &Reference{ID: id, Text: text, Section: p.Section, X: &p.To}
	}
	s := f.Line(line)
	if len(s.Points) == 0 {
		return NoRuns(c)
	}
	at := s.Peak()
	c.Measured, c.Status = &at.Y, Undecided
	if published {
		c.Status = Near(at.Y, at.CI95, p.To)
	}
	c.Why = fmt.Sprintf("%.4g ± %.2g %s at %s, %s", at.Y, at.CI95, f.Y.Unit, f.X.At(at.X), LimitOf(f.Runs[at.Run]))
	return f.Settled(c, at)
}

// Costs says what a transaction takes on both sides of a ratio.
func (f *Figure) Costs(r Ratio) string {
	a, b := f.Runs[r.A.Run], f.Runs[r.B.Run]
	s := fmt.Sprintf("a transaction takes %.3g µs of cores and %.3g round trips for %.3g and %.3g", coreUS(a), a.RoundTripsPerTxn, coreUS(b), b.RoundTripsPerTxn)
	if most := max(a.AbortRate, b.AbortRate); most >= 0.01 {
		s += fmt.Sprintf(", %.0f %% of the attempts abort for %.0f %%", 100*a.AbortRate, 100*b.AbortRate)
	}
	return s
}

// coreUS is what a commit takes of all cores: its handlers, polls and aborted attempts
// included.
func coreUS(r *result.Result) float64 {
	nodes, _ := r.Spec["nodes"].(int)
	threads, _ := r.Spec["threads"].(int)
	if r.Throughput == 0 {
		return math.NaN()
	}
	return r.Utilization["cpu"].Mean * float64(nodes*threads) / r.Throughput * 1e6
}

// Cycles is a claim that a transaction of the first run takes less of the cores than one of
// the second. Core time per commit has the intervals of the throughputs.
func (f *Figure) Cycles(c Claim, less, more Point) Claim {
	spent := func(p Point) Point {
		r := f.Runs[p.Run]
		return Point{X: p.X, Y: coreUS(r), CI95: coreUS(r) * r.ThroughputCI95, Load: p.Load, Run: p.Run}
	}
	a, b := spent(less), spent(more)
	out := f.Gains(c.ID, c.Claim, Divide(Pair{}, b, a))
	out.Why = fmt.Sprintf("%.3g ± %.2g µs of the cores for a transaction, against %.3g ± %.2g, with %s: %s, %s", a.Y, a.CI95, b.Y, b.CI95,
		Coroutines(a.Load), LimitOf(f.Runs[a.Run]), LimitOf(f.Runs[b.Run]))
	return f.Settled(out, less, more)
}

// RoundTrips is a claim that a phase takes no more round trips, of a line under its least load.
func (f *Figure) RoundTrips(id, text, line, phase string, reference float64) Claim {
	c := Claim{ID: id, Claim: text, Reference: fmt.Sprint(reference), Unit: "round trips"}
	points := f.Line(line).Points
	if len(points) == 0 {
		return NoRuns(c)
	}
	r := f.Runs[points[0].Run]
	n := r.Phases[phase].RoundTrips * (1 - r.AbortRate)
	c.Measured, c.Status = &n, Holds
	if n == 0 || n > (1+Tolerance)*reference { // less: not all transactions have the phase
		c.Status = Contradicted
	}
	c.Why = fmt.Sprintf("%.3g an attempt of %s in phase %s", n, line, phase)
	return c
}
