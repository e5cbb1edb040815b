package chapter2

import (
	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
)

// Figures 2-12 to 2-16: what each hint of Table 2-4 brings (§2.3.4). The hints
// are added one after the other.

const withHints = "Throughput"

// hintSteps are the knobs of each step.
type hintSteps []experiment.Knobs

var oneSteps = hintSteps{
	plainWrite,
	figure.With(plainWrite, experiment.Knobs{"nvm.h1": true}),
	figure.With(plainWrite, experiment.Knobs{"nvm.h1": true, "nvm.h3": true}),
	figure.With(plainWrite, experiment.Knobs{"nvm.h1": true, "nvm.h3": true, "nvm.h5": true}),
	oneHints,
}

var stored = figure.With(plainWrite, experiment.Knobs{"workload.copy": "store"})

var twoSteps = hintSteps{
	stored,
	figure.With(stored, experiment.Knobs{"nvm.h1": true}),
	figure.With(stored, experiment.Knobs{"nvm.h1": true, "nvm.h4": true}),
	figure.With(stored, experiment.Knobs{"nvm.h1": true, "nvm.h4": true, "nvm.h5": true}),
	figure.With(stored, experiment.Knobs{"nvm.h1": true, "nvm.h4": true, "nvm.h5": true, "nvm.h7": true}),
}

func factors(id, title, primitive string, names []string, steps hintSteps, payload int, claims func(f *figure.Figure) []figure.Claim) *figure.Definition {
	y, read := figure.Axis{Label: "Throughput per socket", Unit: "Mreq/s"}, perSocket
	if payload >= 256 {
		y, read = figure.Axis{Label: "Bandwidth per socket", Unit: "Gbps"}, gbpsPerSocket
	}
	return &figure.Definition{ID: id, Title: title, Chapter: 2, Section: "2.3.4", Scope: "socket", Form: figure.FormBars, X: figure.Axis{Label: "Hints"}, Y: y, Claims: claims,
		Plan: func(scale string) figure.Plan {
			base := remote(scale, "micro-write", primitive)
			for name, v := range atPayload(scale, payload) { // order-free: fills a map
				base[name] = v
			}
			line := figure.PlannedSeries{Name: withHints}
			for i, set := range steps {
				line.Points = append(line.Points, figure.PlannedPoint{X: float64(i), Name: names[i], Set: set, Read: read})
			}
			return figure.Plan{Base: experiment.Spec{Set: base}, Series: []figure.PlannedSeries{line}, Gap: figure.GapPoint{Series: withHints, X: 0}}
		}}
}

// The steps as the claims count them.
const (
	hintsNone = iota
	hintNear
	hintNTStore // of two-sided writes H4
	hintAlign
	hintPad // of two-sided writes H7
)

var (
	oneOrder = []string{"none", "+ H1", "+ H3", "+ H5", "+ H6"}
	twoOrder = []string{"none", "+ H1", "+ H4", "+ H5", "+ H7"}
)

var hintFigures = []*figure.Definition{
	factors("2-12a", "Hints for one-sided writes of 16 bytes", "one-sided", oneOrder, oneSteps, 16, claimsSmallOneSided),
	factors("2-12b", "Hints for one-sided writes of 2,048 bytes", "one-sided", oneOrder, oneSteps, 2048, claimsLargeOneSided),
	factors("2-13a", "Hints for two-sided writes of 16 bytes", "two-sided", twoOrder, twoSteps, 16, claimsSmallTwoSided),
	factors("2-13b", "Hints for two-sided writes of 2,048 bytes", "two-sided", twoOrder, twoSteps, 2048, claimsLargeTwoSided),
}

// times is a claim that one step is a multiple of another.
func times(f *figure.Figure, id, text string, step, before float64, reference float64) figure.Claim {
	return f.Quotient(id, text, stepPoint(f, withHints, step), stepPoint(f, withHints, before), "with it", "without", reference)
}

// improves is a claim of Table 2-4, that a hint has a positive effect on a primitive.
func improves(f *figure.Figure, id, text string, step float64) figure.Claim {
	return f.Gains(id, text, gain(f, withHints, step))
}

// saturates is a claim that with all hints large writes come close to what the NVM can take.
func saturates(f *figure.Figure, id string) figure.Claim {
	return share(f, id, "with all hints, they come close to the NVM's bandwidth", hintPad, withHints, "", nvmWriteGbps, 100)
}

func claimsLargeOneSided(f *figure.Figure) []figure.Claim {
	return []figure.Claim{
		improves(f, "f2-12b-h1", "H1 improves large writes", hintNear),
		improves(f, "f2-12b-h3", "H3 improves large writes", hintNTStore),
		saturates(f, "f2-12b-all"),
	}
}

func claimsSmallOneSided(f *figure.Figure) []figure.Claim {
	return []figure.Claim{
		f.Value("f2-12a-h1-before", "15 M requests/s without hints", withHints, hintsNone, 15),
		f.Value("f2-12a-h1-after", "30 M with H1", withHints, hintNear, 30),
		times(f, "f2-12a-h1-ratio", "H1 brings up to 2x", hintNear, hintsNone, 2),
		f.Value("f2-12a-h5-before", "31 M before H5", withHints, hintNTStore, 31),
		f.Value("f2-12a-h5-after", "34 M with H5", withHints, hintAlign, 34),
		times(f, "f2-12a-h5-ratio", "H5 brings 1.1x", hintAlign, hintNTStore, 1.1),
		f.Value("f2-12a-h6-after", "45 M with H6", withHints, hintPad, 45),
		share(f, "f2-12a-h6-frac", "that is 87 % of what the NVM can take", hintPad, withHints, "", nvmWriteMreqs, 87),
		times(f, "f2-12a-h6-ratio", "H6 is 1.3x H5", hintPad, hintAlign, 1.3),
	}
}

func claimsSmallTwoSided(f *figure.Figure) []figure.Claim {
	return []figure.Claim{
		improves(f, "f2-13a-h1", "H1 improves small writes", hintNear),
		improves(f, "f2-13a-h5", "H5 improves small writes", hintAlign),
		f.Value("f2-13a-h7-before", "19 M requests/s before H7", withHints, hintAlign, 19),
		f.Value("f2-13a-h7-after", "35 M with H7", withHints, hintPad, 35),
		times(f, "f2-13a-h7-ratio", "H7 brings 1.8x", hintPad, hintAlign, 1.8),
	}
}

func claimsLargeTwoSided(f *figure.Figure) []figure.Claim {
	return []figure.Claim{
		f.Value("f2-13b-h1-before", "8 or 12.5 Gbps without hints", withHints, hintsNone, 8),
		f.Value("f2-13b-h1-after", "19 Gbps with H1", withHints, hintNear, 19),
		times(f, "f2-13b-h1-ratio", "H1 brings up to 2.4x", hintNear, hintsNone, 2.4),
		improves(f, "f2-13b-h4", "H4, ntstore in place of store, improves large writes", hintNTStore),
		saturates(f, "f2-13b-all"),
	}
}

// Figure 2-14: writes of 2,048 bytes to one DIMM.

const (
	twoOnDIMM = "Two-sided"
	oneOnDIMM = "One-sided WRITE"
)

// oneDIMM has every request on one DIMM of the machine, so what it takes is the
// machine's.
func oneDIMM(scale string) experiment.Knobs {
	k := experiment.Knobs{"workload.dimm": 1, "workload.socket": "first", "workload.payload": 2048, "workload.keys": 20_000,
		"warmup_ns": 1_000_000, "duration_ns": 2_500_000}
	if scale == figure.Paper {
		k["duration_ns"] = 6_000_000
	}
	return k
}

// gbps is the payload's bandwidth.
func gbps(r *result.Result) (y, ci95 float64) {
	y, ci95 = gbpsPerSocket(r)
	return 2 * y, 2 * ci95
}

var dimmFigures = []*figure.Definition{
	{ID: "2-14a", Title: "Two-sided writes to one DIMM", Chapter: 2, Section: "2.3.4.1", Scope: "server",
		X: figure.Axis{Label: "Server threads of the machine", Unit: "threads"}, Y: figure.Axis{Label: "Bandwidth", Unit: "Gbps"},
		Plan: func(scale string) figure.Plan {
			base := figure.With(remote(scale, "micro-write", "two-sided"), oneDIMM(scale), experiment.Knobs{"workload.copy": "ntstore",
				"clients": 2, "client.threads": 20, "coroutines": 1})
			line := figure.PlannedSeries{Name: twoOnDIMM}
			for _, n := range []int{2, 4, 8, 12, 16, 20} {
				line.Points = append(line.Points, figure.PlannedPoint{X: float64(n), Set: experiment.Knobs{"server.threads": n}, Read: gbps})
			}
			return figure.Plan{Base: experiment.Spec{Set: base}, Series: []figure.PlannedSeries{line}, Gap: figure.GapPoint{Series: twoOnDIMM, X: 20}}
		},
		Claims: func(f *figure.Figure) []figure.Claim {
			four, twenty := stepPoint(f, twoOnDIMM, 4), stepPoint(f, twoOnDIMM, 20)
			drop := 100 * (1 - twenty.Y/four.Y)
			c := figure.Claim{ID: "f2-14a-drop", Claim: "20 threads write 37 % less than 4", Reference: "37", Unit: "%", Measured: &drop}
			r := figure.Divide(figure.Pair{Above: "20 threads", Below: "4 threads"}, twenty, four)
			c.Status, c.Why = figure.Near(drop, 100*r.Half, 37), f.Because(r)
			return []figure.Claim{c}
		}},
	{ID: "2-14b", Title: "One-sided WRITEs to one DIMM", Chapter: 2, Section: "2.3.4.1", Scope: "server",
		X: figure.Axis{Label: "Clients, one WRITE each", Unit: "clients", Log: true}, Y: figure.Axis{Label: "Bandwidth", Unit: "Gbps"},
		Plan: func(scale string) figure.Plan {
			base := figure.With(remote(scale, "micro-write", "one-sided"), oneDIMM(scale), experiment.Knobs{"ddio": false, "clients": 1, "coroutines": 1})
			line := figure.PlannedSeries{Name: oneOnDIMM}
			for _, n := range []int{1, 2, 4, 8, 16, 24} { // threads of one machine: two WRITEs are not yet what a DIMM takes
				line.Points = append(line.Points, figure.PlannedPoint{X: float64(n), Set: experiment.Knobs{"client.threads": n}, Read: gbps})
			}
			line.Points = append(line.Points, figure.PlannedPoint{X: 144, Set: experiment.Knobs{"client.threads": 24, "clients": 6}, Read: gbps})
			return figure.Plan{Base: experiment.Spec{Set: base}, Series: []figure.PlannedSeries{line}, Gap: figure.GapPoint{Series: oneOnDIMM, X: 1}}
		},
		Claims: func(f *figure.Figure) []figure.Claim {
			limit := f.Highest("f2-14-dimm-limit", "a DIMM takes about 16 Gbps", oneOnDIMM, func(float64) bool { return true }, 16)
			return []figure.Claim{limit, clientsScale(f)}
		}},
}

// clientsScale looks at each step to more clients: the first must write more, and none of
// the others less. Flat at the limit of the DIMM is not less.
func clientsScale(f *figure.Figure) figure.Claim {
	c := figure.Claim{ID: "f2-14b-order", Claim: "one-sided WRITEs to one DIMM scale with their number", Unit: "x"}
	s := f.Line(oneOnDIMM).Points
	if len(s) < 2 {
		return figure.NoRuns(c)
	}
	step := func(k int) figure.Ratio {
		return figure.Divide(figure.Pair{Above: "with " + f.X.At(s[k].X), Below: "before it"}, s[k], s[k-1])
	}
	first := step(1)
	c = f.Gains(c.ID, c.Claim, first)
	c.Why = f.Because(first)
	for k := 2; k < len(s); k++ {
		r := step(k)
		switch {
		case r.Value+r.Half < 1-figure.Tolerance:
			c.Status = figure.Contradicted
		case r.Value-r.Half < 1-figure.Tolerance:
			c.Status = figure.Worse(c.Status, figure.Undecided)
		default:
			continue
		}
		c.Why = f.Because(r)
	}
	return c
}
