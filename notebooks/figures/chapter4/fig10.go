package chapter4

import (
	"fmt"
	"strings"

	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
	"drtmx/notebooks/figures/published"
)

// Figure 4-10: where the latency of TPC-C/no goes, by phase. The runs are those of
// figure 4-9(a). A phase is what all attempts of a transaction spent in it on the
// average; locks count as validation, as in the thesis. A commit that is acknowledged
// passively is off the critical path and has no part. With sixteen coroutines the
// correct protocol is there at paper scale only.

var breakdowns = []*figure.Definition{breakdown("4-10a", 1), breakdown("4-10b", 16)}

func breakdown(id string, coroutines int) *figure.Definition {
	return &figure.Definition{
		ID: id, Title: "Latency of TPC-C/no by phase, " + figure.Coroutines(coroutines), Chapter: 4, Section: "4.4.3", Scope: "cluster", Form: figure.FormStacked,
		X: figure.Axis{Label: "Phase"}, Y: figure.Axis{Label: "Mean latency", Unit: "µs"},
		Plan:    func(scale string) figure.Plan { return planBreakdown(scale, coroutines) },
		Arrange: arrangeBreakdown, Claims: claimsBreakdown,
	}
}

func planBreakdown(scale string, coroutines int) figure.Plan {
	p := figure.Plan{Base: baseSpec(scale, tpccNo)}
	if coroutines == 1 { // of sixteen the run at paper scale takes as long as all others
		p.Gap = figure.GapPoint{Series: drtmH, X: 0}
	}
	correct, published := variantLines(tpccNo, designs)
	for i := range correct {
		for _, l := range []figure.Setting{correct[i], published[i]} {
			out := figure.PlannedSeries{Name: l.Name}
			if scale == figure.Paper || coroutines <= mostCorrect || l.Name == published[i].Name {
				out.Points = []figure.PlannedPoint{{Name: "all phases", Set: figure.With(l.Set, underLoad(scale, tpccNo, coroutines)), Read: figure.MeanLatency}}
			}
			p.Series = append(p.Series, out)
		}
	}
	return p
}

// arrangeBreakdown makes of each run a pile of phases.
func arrangeBreakdown(f *figure.Figure) {
	for i := range f.Series {
		s := &f.Series[i]
		if len(s.Points) == 0 {
			continue
		}
		run := s.Points[0]
		s.Points = nil
		r := f.Runs[run.Run]
		for k, part := range figure.BreakdownParts {
			p := figure.Point{X: float64(k), Name: part.Name, Load: run.Load, Run: run.Run}
			for _, phase := range part.Phases {
				p.Y += r.Phases[phase].MeanUS
			}
			p.CI95 = p.Y * r.ThroughputCI95
			s.Points = append(s.Points, p)
		}
	}
}

// shorterPart is a claim that a phase of one design is shorter than of another.
func shorterPart(f *figure.Figure, id, text, part, shorter, longer string) figure.Claim {
	c := figure.Claim{ID: id, Claim: text, Unit: "x"}
	a, ok := f.Line(shorter).Named(part)
	b, also := f.Line(longer).Named(part)
	if !ok || !also {
		return figure.NoRuns(c)
	}
	ra, rb := f.Runs[a.Run], f.Runs[b.Run]
	why := fmt.Sprintf("%s: %s %.3g ± %.2g µs, %s %.3g ± %.2g µs; %s", part, shorter, a.Y, a.CI95, longer, b.Y, b.CI95, partTrips(part, ra, rb))
	switch {
	case a.Y == 0 && b.Y > 0: // not on the critical path
		c.Status, c.Why = figure.Holds, why
		return c
	case a.Y == 0 || b.Y == 0:
		c.Status, c.Why = figure.Contradicted, why
		return c
	}
	c = f.Gains(id, text, figure.Divide(figure.Pair{Above: longer, Below: shorter}, b, a))
	c.Why = why
	return f.Settled(c, a, b)
}

// partWithin is a claim that a phase takes at most as long as is published, in ms.
func partWithin(f *figure.Figure, id, text, part, line string) figure.Claim {
	p, _ := published.FindSystem(id)
	c := figure.Claim{ID: id, Claim: text, Unit: p.Unit, Reference: p.Text(), First: p.First}
	at, ok := f.Line(line).Named(part)
	if !ok {
		return figure.NoRuns(c)
	}
	ms, us := at.Y/1e3, 1e3*p.To
	c.Place = &figure.Reference{ID: id, Text: p.Claim, Section: p.Section, Series: line, From: &us, To: &us, Bound: p.Bound, Part: part}
	c.Measured, c.Status = &ms, figure.Judge(&p, ms, at.CI95/1e3, p.To)
	c.Why = fmt.Sprintf("%s: %s %.3g ± %.2g µs; %s", part, line, at.Y, at.CI95, figure.LimitOf(f.Runs[at.Run]))
	return f.Settled(c, at)
}

// partTrips are the round trips of a phase in both runs, and what limits them.
func partTrips(part string, a, b *result.Result) string {
	of := func(r *result.Result) (n float64) {
		for _, p := range figure.BreakdownParts {
			if p.Name == part {
				for _, phase := range p.Phases {
					n += r.Phases[phase].RoundTrips
				}
			}
		}
		return n
	}
	return fmt.Sprintf("%.3g round trips for %.3g; %s, %s", of(a), of(b), figure.LimitOf(a), figure.LimitOf(b))
}

func claimsBreakdown(f *figure.Figure) []figure.Claim {
	one := strings.HasSuffix(f.ID, "a")
	return f.Twice(func(n func(string) string) []figure.Claim {
		var out []figure.Claim
		if one {
			out = append(out, shorterPart(f, "f4-10a-exec-farm", "READs shorten the execution in FaRM", "E", n(farm), n(fasst)).As(figure.LessBy),
				shorterPart(f, "f4-10a-exec-drtmr", "and in DrTM+R", "E", n(drtmR), n(fasst)).As(figure.LessBy))
		} else {
			out = append(out, shorterPart(f, "f4-10b-exec-fasst", "FaSST's execution is shorter than FaRM's, which takes more round trips", "E", n(fasst), n(farm)).As(figure.LessBy),
				partWithin(f, "f4-10b-exec-drtmr", "DrTM+R's, with its cache, takes less than 0.7 ms", "E", n(drtmR)),
				shorterPart(f, "f4-10b-exec-lowest", "and is shorter than FaSST's", "E", n(drtmR), n(fasst)),
				shorterPart(f, "f4-10b-exec-cache", "and than FaRM's, which has none", "E", n(drtmR), n(farm)))
		}
		return append(out,
			shorterPart(f, "f4-10-valid", "DrTM+R's validation is shorter than FaRM's, for the RNIC locks", "V", n(drtmR), n(farm)),
			shorterPart(f, "f4-10-valid-fasst", "and than FaSST's", "V", n(drtmR), n(fasst)),
			shorterPart(f, "f4-10-log-drtmr", "WRITEs shorten DrTM+R's logging against FaSST's", "L", n(drtmR), n(fasst)).As(figure.LessBy),
			shorterPart(f, "f4-10-log-farm", "and FaRM's", "L", n(farm), n(fasst)).As(figure.LessBy),
			figure.AllOf("f4-10-order", "DrTM+H has the shortest commit, by passive ACK",
				shorterPart(f, "", "FaSST", "C", n(drtmH), n(fasst)), shorterPart(f, "", "FaRM", "C", n(drtmH), n(farm)), shorterPart(f, "", "DrTM+R", "C", n(drtmH), n(drtmR))))
	})
}
