package figures

import (
	"fmt"
	"strings"

	"drtmx/engine/result"
)

// Figure 4-10: where the latency of TPC-C/no goes, by phase. The runs are those of
// figure 4-9(a). A phase is what all attempts of a transaction spent in it on the
// average; locks count as validation, as in the thesis. A commit that is acknowledged
// passively is off the critical path and has no part. With sixteen coroutines the
// correct protocol is there at paper scale only.

// parts410 are the phases with those that the results tell apart.
var parts410 = []struct {
	name   string
	phases []string
}{{"E", []string{"execution"}}, {"V", []string{"lock", "validation"}}, {"L", []string{"logging"}}, {"C", []string{"commit"}}}

// phase410 is the phase whose colour a part has, which is the part itself if it is none.
func phase410(part string) string {
	for _, p := range parts410 {
		if p.name == part {
			return p.phases[len(p.phases)-1]
		}
	}
	return part
}

var figures410 = []*definition{breakdown410("4-10a", 1), breakdown410("4-10b", 16)}

func breakdown410(id string, coroutines int) *definition {
	return &definition{
		id: id, title: "Latency of TPC-C/no by phase, " + countOf(coroutines), chapter: 4, section: "4.4.3", scope: "cluster", form: formStacked,
		x: Axis{Label: "Phase"}, y: Axis{Label: "Mean latency", Unit: "us"},
		plan:    func(scale string) plan { return plan410(scale, coroutines) },
		arrange: arrange410, claims: claims410,
	}
}

func plan410(scale string, coroutines int) plan {
	p := plan{base: base4(scale, tpccNo)}
	if coroutines == 1 { // of sixteen the run at paper scale takes as long as all others
		p.gap = gapPoint{drtmH, 0}
	}
	correct, published := variants4(tpccNo, designs49)
	for i := range correct {
		for _, l := range []line4{correct[i], published[i]} {
			out := plannedSeries{name: l.name}
			if scale == Paper || coroutines <= mostCorrect || l.name == published[i].name {
				out.points = []plannedPoint{{name: "all phases", set: with(l.set, under4(scale, tpccNo, coroutines)), read: meanLatency}}
			}
			p.series = append(p.series, out)
		}
	}
	return p
}

// arrange410 makes of each run a pile of phases.
func arrange410(f *Figure) {
	for i := range f.Series {
		s := &f.Series[i]
		if len(s.Points) == 0 {
			continue
		}
		run := s.Points[0]
		s.Points = nil
		r := f.Runs[run.Run]
		for k, part := range parts410 {
			p := Point{X: float64(k), Name: part.name, Load: run.Load, Run: run.Run}
			for _, phase := range part.phases {
				p.Y += r.Phases[phase].MeanUS
			}
			p.CI95 = p.Y * r.ThroughputCI95
			s.Points = append(s.Points, p)
		}
	}
}

// less410 is a claim that a phase of one design is shorter than of another.
func (f *Figure) less410(id, text, part, shorter, longer string) Claim {
	c := Claim{ID: id, Claim: text, Unit: "x"}
	a, ok := f.series(shorter).named(part)
	b, also := f.series(longer).named(part)
	if !ok || !also {
		return noRuns(c)
	}
	ra, rb := f.Runs[a.Run], f.Runs[b.Run]
	why := fmt.Sprintf("%s: %s %.3g ± %.2g us, %s %.3g ± %.2g us; %s", part, shorter, a.Y, a.CI95, longer, b.Y, b.CI95, trips410(part, ra, rb))
	switch {
	case a.Y == 0 && b.Y > 0: // not on the critical path
		c.Status, c.Why = Holds, why
		return c
	case a.Y == 0 || b.Y == 0:
		c.Status, c.Why = Contradicted, why
		return c
	}
	c = f.gains(id, text, divide(pair{longer, shorter}, b, a))
	c.Why = why
	return f.settled(c, a, b)
}

// within410 is a claim that a phase takes at most as long as is published, in ms.
func (f *Figure) within410(id, text, part, line string) Claim {
	p, _ := systemResult(id)
	c := Claim{ID: id, Claim: text, Unit: p.Unit, Reference: p.text(), First: p.First}
	at, ok := f.series(line).named(part)
	if !ok {
		return noRuns(c)
	}
	ms, us := at.Y/1e3, 1e3*p.To
	c.reference = &Reference{ID: id, Text: p.Claim, Section: p.Section, Series: line, From: &us, To: &us, Bound: p.Bound, part: part}
	c.Measured, c.Status = &ms, p.judge(ms, at.CI95/1e3, p.To)
	c.Why = fmt.Sprintf("%s: %s %.3g ± %.2g us; %s", part, line, at.Y, at.CI95, limit(f.Runs[at.Run]))
	return f.settled(c, at)
}

// trips410 are the round trips of a phase in both runs, and what limits them.
func trips410(part string, a, b *result.Result) string {
	of := func(r *result.Result) (n float64) {
		for _, p := range parts410 {
			if p.name == part {
				for _, phase := range p.phases {
					n += r.Phases[phase].RoundTrips
				}
			}
		}
		return n
	}
	return fmt.Sprintf("%.3g round trips for %.3g; %s, %s", of(a), of(b), limit(a), limit(b))
}

func claims410(f *Figure) []Claim {
	one := strings.HasSuffix(f.ID, "a")
	return f.twice(func(n func(string) string) []Claim {
		var out []Claim
		if one {
			out = append(out, f.less410("f4-10a-exec-farm", "READs shorten the execution in FaRM", "E", n(farm), n(fasst)).in(lessBy),
				f.less410("f4-10a-exec-drtmr", "and in DrTM+R", "E", n(drtmR), n(fasst)).in(lessBy))
		} else {
			out = append(out, f.less410("f4-10b-exec-fasst", "FaSST's execution is shorter than FaRM's, which takes more round trips", "E", n(fasst), n(farm)).in(lessBy),
				f.within410("f4-10b-exec-drtmr", "DrTM+R's, with its cache, takes less than 0.7 ms", "E", n(drtmR)),
				f.less410("f4-10b-exec-lowest", "and is shorter than FaSST's", "E", n(drtmR), n(fasst)),
				f.less410("f4-10b-exec-cache", "and than FaRM's, which has none", "E", n(drtmR), n(farm)))
		}
		return append(out,
			f.less410("f4-10-valid", "DrTM+R's validation is shorter than FaRM's, for the RNIC locks", "V", n(drtmR), n(farm)),
			f.less410("f4-10-valid-fasst", "and than FaSST's", "V", n(drtmR), n(fasst)),
			f.less410("f4-10-log-drtmr", "WRITEs shorten DrTM+R's logging against FaSST's", "L", n(drtmR), n(fasst)).in(lessBy),
			f.less410("f4-10-log-farm", "and FaRM's", "L", n(farm), n(fasst)).in(lessBy),
			all("f4-10-order", "DrTM+H has the shortest commit, by passive ACK",
				f.less410("", "FaSST", "C", n(drtmH), n(fasst)), f.less410("", "FaRM", "C", n(drtmH), n(farm)), f.less410("", "DrTM+R", "C", n(drtmH), n(drtmR))))
	})
}
