package figures

import (
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Figures 2-12 to 2-16: what each hint of Table 2-4 brings (§2.3.4). The hints
// are added one after the other.

const withHints = "Throughput"

// hintSteps are the knobs of each step.
type hintSteps []experiment.Knobs

var oneSteps = hintSteps{
	plainWrite,
	with(plainWrite, experiment.Knobs{"nvm.h1": true}),
	with(plainWrite, experiment.Knobs{"nvm.h1": true, "nvm.h3": true}),
	with(plainWrite, experiment.Knobs{"nvm.h1": true, "nvm.h3": true, "nvm.h5": true}),
	oneHints,
}

var stored = with(plainWrite, experiment.Knobs{"workload.copy": "store"})

var twoSteps = hintSteps{
	stored,
	with(stored, experiment.Knobs{"nvm.h1": true}),
	with(stored, experiment.Knobs{"nvm.h1": true, "nvm.h4": true}),
	with(stored, experiment.Knobs{"nvm.h1": true, "nvm.h4": true, "nvm.h5": true}),
	with(stored, experiment.Knobs{"nvm.h1": true, "nvm.h4": true, "nvm.h5": true, "nvm.h7": true}),
}

func factors(id, title, primitive string, names []string, steps hintSteps, payload int, claims func(f *Figure) []Claim) *definition {
	y, read := Axis{Label: "Throughput per socket", Unit: "Mreq/s"}, perSocket
	if payload >= 256 {
		y, read = Axis{Label: "Bandwidth per socket", Unit: "Gbps"}, gbpsPerSocket
	}
	return &definition{id: id, title: title, chapter: 2, section: "2.3.4", scope: "socket", form: formBars, x: Axis{Label: "Hints"}, y: y, claims: claims,
		plan: func(scale string) plan {
			base := remote(scale, "micro-write", primitive)
			for name, v := range atPayload(scale, payload) { // order-free: fills a map
				base[name] = v
			}
			line := plannedSeries{name: withHints}
			for i, set := range steps {
				line.points = append(line.points, plannedPoint{x: float64(i), name: names[i], set: set, read: read})
			}
			return plan{base: experiment.Spec{Set: base}, series: []plannedSeries{line}, gap: gapPoint{withHints, 0}}
		}}
}

// The steps as the claims count them.
const (
	hintsNone = iota
	hintH1
	hintH3 // of two-sided writes H4
	hintH5
	hintH6 // of two-sided writes H7
)

var (
	oneOrder = []string{"none", "+ H1", "+ H3", "+ H5", "+ H6"}
	twoOrder = []string{"none", "+ H1", "+ H4", "+ H5", "+ H7"}
)

var figures212to13 = []*definition{
	factors("2-12a", "Hints for one-sided writes of 16 bytes", "one-sided", oneOrder, oneSteps, 16, claims212a),
	factors("2-12b", "Hints for one-sided writes of 2,048 bytes", "one-sided", oneOrder, oneSteps, 2048, claims212b),
	factors("2-13a", "Hints for two-sided writes of 16 bytes", "two-sided", twoOrder, twoSteps, 16, claims213a),
	factors("2-13b", "Hints for two-sided writes of 2,048 bytes", "two-sided", twoOrder, twoSteps, 2048, claims213b),
}

// times is a claim that one step is a multiple of another.
func (f *Figure) times(id, text string, step, before float64, reference float64) Claim {
	return f.quotient(id, text, f.step(withHints, step), f.step(withHints, before), "with it", "without", reference)
}

// improves is a claim of Table 2-4, that a hint has a positive effect on a primitive.
func (f *Figure) improves(id, text string, step float64) Claim {
	return f.gains(id, text, f.gain(withHints, step))
}

// saturates is a claim that with all hints large writes come close to what the NVM can take.
func (f *Figure) saturates(id string) Claim {
	return f.share(id, "with all hints, they come close to the NVM's bandwidth", hintH6, withHints, "", nvmWriteGbps, 100)
}

func claims212b(f *Figure) []Claim {
	return []Claim{
		f.improves("f2-12b-h1", "H1 improves large writes", hintH1),
		f.improves("f2-12b-h3", "H3 improves large writes", hintH3),
		f.saturates("f2-12b-all"),
	}
}

func claims212a(f *Figure) []Claim {
	return []Claim{
		f.value("f2-12a-h1-before", "15 M requests/s without hints", withHints, hintsNone, 15),
		f.value("f2-12a-h1-after", "30 M with H1", withHints, hintH1, 30),
		f.times("f2-12a-h1-ratio", "H1 brings up to 2x", hintH1, hintsNone, 2),
		f.value("f2-12a-h5-before", "31 M before H5", withHints, hintH3, 31),
		f.value("f2-12a-h5-after", "34 M with H5", withHints, hintH5, 34),
		f.times("f2-12a-h5-ratio", "H5 brings 1.1x", hintH5, hintH3, 1.1),
		f.value("f2-12a-h6-after", "45 M with H6", withHints, hintH6, 45),
		f.share("f2-12a-h6-frac", "that is 87 % of what the NVM can take", hintH6, withHints, "", nvmWriteMreqs, 87),
		f.times("f2-12a-h6-ratio", "H6 is 1.3x H5", hintH6, hintH5, 1.3),
	}
}

func claims213a(f *Figure) []Claim {
	return []Claim{
		f.improves("f2-13a-h1", "H1 improves small writes", hintH1),
		f.improves("f2-13a-h5", "H5 improves small writes", hintH5),
		f.value("f2-13a-h7-before", "19 M requests/s before H7", withHints, hintH5, 19),
		f.value("f2-13a-h7-after", "35 M with H7", withHints, hintH6, 35),
		f.times("f2-13a-h7-ratio", "H7 brings 1.8x", hintH6, hintH5, 1.8),
	}
}

func claims213b(f *Figure) []Claim {
	return []Claim{
		f.value("f2-13b-h1-before", "8 or 12.5 Gbps without hints", withHints, hintsNone, 8),
		f.value("f2-13b-h1-after", "19 Gbps with H1", withHints, hintH1, 19),
		f.times("f2-13b-h1-ratio", "H1 brings up to 2.4x", hintH1, hintsNone, 2.4),
		f.improves("f2-13b-h4", "H4, ntstore in place of store, improves large writes", hintH3),
		f.saturates("f2-13b-all"),
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
	if scale == Paper {
		k["duration_ns"] = 6_000_000
	}
	return k
}

// gbps is the payload's bandwidth.
func gbps(r *result.Result) (y, ci95 float64) {
	y, ci95 = gbpsPerSocket(r)
	return 2 * y, 2 * ci95
}

var figures214 = []*definition{
	{id: "2-14a", title: "Two-sided writes to one DIMM", chapter: 2, section: "2.3.4.1", scope: "server",
		x: Axis{Label: "Server threads of the machine", Unit: "threads"}, y: Axis{Label: "Bandwidth", Unit: "Gbps"},
		plan: func(scale string) plan {
			base := with(remote(scale, "micro-write", "two-sided"), oneDIMM(scale), experiment.Knobs{"workload.copy": "ntstore",
				"clients": 2, "client.threads": 20, "coroutines": 1})
			line := plannedSeries{name: twoOnDIMM}
			for _, n := range []int{2, 4, 8, 12, 16, 20} {
				line.points = append(line.points, plannedPoint{x: float64(n), set: experiment.Knobs{"server.threads": n}, read: gbps})
			}
			return plan{base: experiment.Spec{Set: base}, series: []plannedSeries{line}, gap: gapPoint{twoOnDIMM, 20}}
		},
		claims: func(f *Figure) []Claim {
			four, twenty := f.step(twoOnDIMM, 4), f.step(twoOnDIMM, 20)
			drop := 100 * (1 - twenty.Y/four.Y)
			c := Claim{ID: "f2-14a-drop", Claim: "20 threads write 37 % less than 4", Reference: "37", Unit: "%", Measured: &drop}
			r := divide(pair{"20 threads", "4 threads"}, twenty, four)
			c.Status, c.Why = near(drop, 100*r.half, 37), f.because(r)
			return []Claim{c}
		}},
	{id: "2-14b", title: "One-sided WRITEs to one DIMM", chapter: 2, section: "2.3.4.1", scope: "server",
		x: Axis{Label: "Clients, one WRITE each", Unit: "clients", Log: true}, y: Axis{Label: "Bandwidth", Unit: "Gbps"},
		plan: func(scale string) plan {
			base := with(remote(scale, "micro-write", "one-sided"), oneDIMM(scale), experiment.Knobs{"ddio": false, "clients": 1, "coroutines": 1})
			line := plannedSeries{name: oneOnDIMM}
			for _, n := range []int{1, 2, 4, 8, 16, 24} { // threads of one machine: two WRITEs are not yet what a DIMM takes
				line.points = append(line.points, plannedPoint{x: float64(n), set: experiment.Knobs{"client.threads": n}, read: gbps})
			}
			line.points = append(line.points, plannedPoint{x: 144, set: experiment.Knobs{"client.threads": 24, "clients": 6}, read: gbps})
			return plan{base: experiment.Spec{Set: base}, series: []plannedSeries{line}, gap: gapPoint{oneOnDIMM, 1}}
		},
		claims: func(f *Figure) []Claim {
			limit := f.highest("f2-14-dimm-limit", "a DIMM takes about 16 Gbps", oneOnDIMM, func(float64) bool { return true }, 16)
			return []Claim{limit, f.scales214()}
		}},
}

// scales214 looks at each step to more clients: the first must write more, and none of
// the others less. Flat at the limit of the DIMM is not less.
func (f *Figure) scales214() Claim {
	c := Claim{ID: "f2-14b-order", Claim: "one-sided WRITEs to one DIMM scale with their number", Unit: "x"}
	s := f.series(oneOnDIMM).Points
	if len(s) < 2 {
		return noRuns(c)
	}
	step := func(k int) ratio {
		return divide(pair{"with " + f.X.at(s[k].X), "before it"}, s[k], s[k-1])
	}
	first := step(1)
	c = f.gains(c.ID, c.Claim, first)
	c.Why = f.because(first)
	for k := 2; k < len(s); k++ {
		r := step(k)
		switch {
		case r.value+r.half < 1-tolerance:
			c.Status = Contradicted
		case r.value-r.half < 1-tolerance:
			c.Status = worse(c.Status, Undecided)
		default:
			continue
		}
		c.Why = f.because(r)
	}
	return c
}
