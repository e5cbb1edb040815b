package chapter2

import (
	"fmt"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
)

// Figures 2-17 and 2-18: what a write of less than its memory's granularity reads
// first (§2.3.4.2). The ratio is that of the NVM's counters, requests to read for
// each request to write, both of 64 bytes.

const (
	readsBase  = "base"
	readsAlign = "+align"
	readsPad   = "+pad"
	readsNT    = "+ntstore"

	// nothing is a ratio in percent that rounds to none.
	nothing = 0.5
)

// wordPayloads are less than a PCIe data word, one to four of them, and in between.
var wordPayloads = []int{8, 16, 32, 64, 96, 128, 192, 256}

// alignedLines places writes anywhere, then at the begin of a word, then up to its end.
func alignedLines(more ...experiment.Knobs) []figure.Setting {
	base := figure.With(append(more, inNVM, experiment.Knobs{"workload.align": 1})...)
	align := figure.With(base, experiment.Knobs{"workload.align": 64})
	return []figure.Setting{{Name: readsBase, Set: base}, {Name: readsAlign, Set: align}, {Name: readsPad, Set: figure.With(align, experiment.Knobs{"workload.pad": 64})}}
}

func planReads(scale, primitive string, payloads []int, lines []figure.Setting) figure.Plan {
	base := remote(scale, "micro-write", primitive)
	if scale == figure.Quick { // counters need few writes
		base["duration_ns"] = 100_000
	} else {
		payloads = wordPayloads
	}
	p := figure.Plan{Base: experiment.Spec{Set: base}, Gap: figure.GapPoint{Series: readsBase, X: 96}}
	for _, l := range lines {
		s := figure.PlannedSeries{Name: l.Name}
		for _, n := range payloads {
			s.Points = append(s.Points, figure.PlannedPoint{X: float64(n), Set: figure.With(l.Set, experiment.Knobs{"workload.payload": n}), Read: readsPerWrite})
		}
		p.Series = append(p.Series, s)
	}
	return p
}

// readsPerWrite is what the NVM reads for 100 writes. Counters have no interval.
func readsPerWrite(r *result.Result) (y, ci95 float64) {
	if r.NVM == nil || r.NVM.WriteReq == 0 {
		return 0, 0
	}
	return 100 * float64(r.NVM.ReadReq) / float64(r.NVM.WriteReq), 0
}

func readsPanel(id, title string, plan func(scale string) figure.Plan, claims func(f *figure.Figure) []figure.Claim) *figure.Definition {
	return &figure.Definition{ID: id, Title: title, Chapter: 2, Section: "2.3.4.2", Scope: "server",
		X: figure.Axis{Label: "Payload", Unit: "bytes", Log: true}, Y: figure.Axis{Label: "NVM reads per NVM write", Unit: "%"},
		Plan: plan, Claims: claims}
}

var extraReads = []*figure.Definition{
	readsPanel("2-18a", "Extra NVM reads of one-sided writes", func(scale string) figure.Plan {
		return planReads(scale, "one-sided", []int{8, 32, 64, 96, 128, 256}, alignedLines(experiment.Knobs{"ddio": false}))
	}, claimsOneSidedReads),
	readsPanel("2-18b", "Extra NVM reads of two-sided writes", func(scale string) figure.Plan {
		lines := alignedLines(experiment.Knobs{"workload.copy": "store"})
		return planReads(scale, "two-sided", []int{8, 64, 96, 256}, append(lines, figure.Setting{Name: readsNT, Set: figure.With(lines[2].Set, experiment.Knobs{"workload.copy": "ntstore"})}))
	}, claimsTwoSidedReads),
}

// fewestAndMost are the points of a line with the fewest and the most reads.
func fewestAndMost(f *figure.Figure, series string) (least, most figure.Point) {
	s := f.Line(series).Points
	least, most = s[0], s[0]
	for _, p := range s[1:] {
		if p.Y < least.Y {
			least = p
		}
		if p.Y > most.Y {
			most = p
		}
	}
	return least, most
}

func claimsOneSidedReads(f *figure.Figure) []figure.Claim {
	none := figure.Claim{ID: "f2-18a-reads", Claim: "aligned and padded WRITEs read nothing", Reference: "0", Unit: "%", Status: figure.Holds}
	_, most := fewestAndMost(f, readsPad)
	_, before := fewestAndMost(f, readsAlign)
	none.Measured = &most.Y
	none.Why = fmt.Sprintf("%.3g %% at %s; without padding up to %.3g %%, at %s", most.Y, f.X.At(most.X), before.Y, f.X.At(before.X))
	if most.Y > nothing || before.Y <= nothing {
		none.Status = figure.Contradicted
	}
	return []figure.Claim{requestsOfAWrite(f), none, paddedLimit(f)}
}

// requestsOfAWrite counts the requests of an aligned write of 8 bytes.
func requestsOfAWrite(f *figure.Figure) figure.Claim {
	c := figure.Claim{ID: "f2-17-requests", Claim: "a WRITE of 8 bytes is two requests to the NVM, a read and a write", Reference: "2", Unit: "requests"}
	p := stepPoint(f, readsAlign, 8)
	r := f.Runs[p.Run]
	if r.NVM == nil || r.Commits == 0 {
		return figure.NoRuns(c)
	}
	n := float64(r.NVM.ReadReq+r.NVM.WriteReq) / float64(r.Commits)
	c.Measured, c.Status = &n, figure.Near(n, 0, 2)
	c.Why = fmt.Sprintf("%d reads and %d writes of %d WRITEs", r.NVM.ReadReq, r.NVM.WriteReq, r.Commits)
	return c
}

// paddedLimit is the largest payload up to which padded WRITEs come close to what the
// NVM takes.
func paddedLimit(f *figure.Figure) figure.Claim {
	c := figure.Claim{ID: "f2-18a-limit", Claim: "padded WRITEs of up to 64 bytes come close to the NVM's limit", Reference: "64", Unit: "bytes"}
	at := 0.0
	for _, p := range f.Line(readsPad).Points {
		rate, half := perSocket(f.Runs[p.Run])
		c.Why = fmt.Sprintf("%.3g ± %.2g Mreq/s per socket at %s, of %g; %s", rate, half, f.X.At(p.X), nvmWriteMreqs, figure.LimitOf(f.Runs[p.Run]))
		if rate < (1-figure.Tolerance)*nvmWriteMreqs {
			break
		}
		at = p.X
	}
	c.Says = "up to " + f.X.At(at)
	if at == 0 {
		c.Says = "at no payload"
	}
	c.Says += "; the thesis says up to " + f.X.At(64)
	c.Measured, c.Status = &at, figure.Holds // the thesis names 64 as an example
	if at < 64 {
		c.Status = figure.Contradicted
	}
	return c
}

func claimsTwoSidedReads(f *figure.Figure) []figure.Claim {
	store := figure.Claim{ID: "f2-18b-store", Claim: "with store there is a read for every write, whatever the granularity", Reference: "100", Unit: "%"}
	order := figure.Claim{ID: "f2-18b-order", Claim: "only aligned and padded writes with ntstore read nothing", Unit: "%", Status: figure.Holds}
	worst := figure.Point{Y: 100}
	for _, name := range []string{readsBase, readsAlign, readsPad} {
		least, most := fewestAndMost(f, name)
		for _, p := range []figure.Point{least, most} {
			if off := p.Y - 100; off*off > (worst.Y-100)*(worst.Y-100) {
				worst = p
			}
		}
		if least.Y <= nothing {
			order.Status = figure.Contradicted
		}
	}
	store.Measured, store.Status = &worst.Y, figure.Near(worst.Y, 0, 100)
	store.Why = fmt.Sprintf("farthest off: %.4g %% at %s", worst.Y, f.X.At(worst.X))
	_, most := fewestAndMost(f, readsNT)
	order.Measured = &most.Y
	order.Why = fmt.Sprintf("with ntstore %.3g %%, at %s", most.Y, f.X.At(most.X))
	if most.Y > nothing {
		order.Status = figure.Contradicted
	}
	return []figure.Claim{store, order}
}
