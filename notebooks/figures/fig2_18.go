package figures

import (
	"fmt"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
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

// payloads218 are less than a PCIe data word, one to four of them, and in between.
var payloads218 = []int{8, 16, 32, 64, 96, 128, 192, 256}

// steps218 places writes anywhere, then at the begin of a word, then up to its end.
func steps218(more ...experiment.Knobs) []nvmLine {
	base := with(append(more, inNVM, experiment.Knobs{"workload.align": 1})...)
	align := with(base, experiment.Knobs{"workload.align": 64})
	return []nvmLine{{readsBase, base}, {readsAlign, align}, {readsPad, with(align, experiment.Knobs{"workload.pad": 64})}}
}

func plan218(scale, primitive string, payloads []int, lines []nvmLine) plan {
	base := remote(scale, "micro-write", primitive)
	if scale == Quick { // counters need few writes
		base["duration_ns"] = 100_000
	} else {
		payloads = payloads218
	}
	p := plan{base: experiment.Spec{Set: base}, gap: gapPoint{readsBase, 96}}
	for _, l := range lines {
		s := plannedSeries{name: l.name}
		for _, n := range payloads {
			s.points = append(s.points, plannedPoint{x: float64(n), set: with(l.set, experiment.Knobs{"workload.payload": n}), read: readsPerWrite})
		}
		p.series = append(p.series, s)
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

func reads218(id, title string, plan func(scale string) plan, claims func(f *Figure) []Claim) *definition {
	return &definition{id: id, title: title, chapter: 2, section: "2.3.4.2", scope: "server",
		x: Axis{Label: "Payload", Unit: "bytes", Log: true}, y: Axis{Label: "NVM reads per NVM write", Unit: "%"},
		plan: plan, claims: claims}
}

var figures218 = []*definition{
	reads218("2-18a", "Extra NVM reads of one-sided writes", func(scale string) plan {
		return plan218(scale, "one-sided", []int{8, 32, 64, 96, 128, 256}, steps218(experiment.Knobs{"ddio": false}))
	}, claims218a),
	reads218("2-18b", "Extra NVM reads of two-sided writes", func(scale string) plan {
		lines := steps218(experiment.Knobs{"workload.copy": "store"})
		return plan218(scale, "two-sided", []int{8, 64, 96, 256}, append(lines, nvmLine{readsNT, with(lines[2].set, experiment.Knobs{"workload.copy": "ntstore"})}))
	}, claims218b),
}

// range218 are the points of a line with the fewest and the most reads.
func (f *Figure) range218(series string) (least, most Point) {
	s := f.series(series).Points
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

func claims218a(f *Figure) []Claim {
	none := Claim{ID: "f2-18a-reads", Claim: "aligned and padded WRITEs read nothing", Reference: "0", Unit: "%", Status: Holds}
	_, most := f.range218(readsPad)
	_, before := f.range218(readsAlign)
	none.Measured = &most.Y
	none.Why = fmt.Sprintf("%.3g %% at %s; without padding up to %.3g %%, at %s", most.Y, f.X.at(most.X), before.Y, f.X.at(before.X))
	if most.Y > nothing || before.Y <= nothing {
		none.Status = Contradicted
	}
	return []Claim{f.requests217(), none, f.limit218()}
}

// requests217 counts the requests of an aligned write of 8 bytes.
func (f *Figure) requests217() Claim {
	c := Claim{ID: "f2-17-requests", Claim: "a WRITE of 8 bytes is two requests to the NVM, a read and a write", Reference: "2", Unit: "requests"}
	p := f.step(readsAlign, 8)
	r := f.Runs[p.Run]
	if r.NVM == nil || r.Commits == 0 {
		return noRuns(c)
	}
	n := float64(r.NVM.ReadReq+r.NVM.WriteReq) / float64(r.Commits)
	c.Measured, c.Status = &n, near(n, 0, 2)
	c.Why = fmt.Sprintf("%d reads and %d writes of %d WRITEs", r.NVM.ReadReq, r.NVM.WriteReq, r.Commits)
	return c
}

// limit218 is the largest payload up to which padded WRITEs come close to what the
// NVM takes.
func (f *Figure) limit218() Claim {
	c := Claim{ID: "f2-18a-limit", Claim: "padded WRITEs of up to 64 bytes come close to the NVM's limit", Reference: "64", Unit: "bytes"}
	at := 0.0
	for _, p := range f.series(readsPad).Points {
		rate, half := perSocket(f.Runs[p.Run])
		c.Why = fmt.Sprintf("%.3g ± %.2g Mreq/s per socket at %s, of %g; %s", rate, half, f.X.at(p.X), nvmWriteMreqs, limit(f.Runs[p.Run]))
		if rate < (1-tolerance)*nvmWriteMreqs {
			break
		}
		at = p.X
	}
	c.Says = "up to " + f.X.at(at)
	if at == 0 {
		c.Says = "at no payload"
	}
	c.Says += "; the thesis says up to " + f.X.at(64)
	c.Measured, c.Status = &at, Holds // the thesis names 64 as an example
	if at < 64 {
		c.Status = Contradicted
	}
	return c
}

func claims218b(f *Figure) []Claim {
	store := Claim{ID: "f2-18b-store", Claim: "with store there is a read for every write, whatever the granularity", Reference: "100", Unit: "%"}
	order := Claim{ID: "f2-18b-order", Claim: "only aligned and padded writes with ntstore read nothing", Unit: "%", Status: Holds}
	worst := Point{Y: 100}
	for _, name := range []string{readsBase, readsAlign, readsPad} {
		least, most := f.range218(name)
		for _, p := range []Point{least, most} {
			if off := p.Y - 100; off*off > (worst.Y-100)*(worst.Y-100) {
				worst = p
			}
		}
		if least.Y <= nothing {
			order.Status = Contradicted
		}
	}
	store.Measured, store.Status = &worst.Y, near(worst.Y, 0, 100)
	store.Why = fmt.Sprintf("farthest off: %.4g %% at %s", worst.Y, f.X.at(worst.X))
	_, most := f.range218(readsNT)
	order.Measured = &most.Y
	order.Why = fmt.Sprintf("with ntstore %.3g %%, at %s", most.Y, f.X.at(most.X))
	if most.Y > nothing {
		order.Status = Contradicted
	}
	return []Claim{store, order}
}
