package figures

import (
	"fmt"

	"drtmx/engine/experiment"
	"drtmx/engine/fabric/profile"
)

// Figure 2-5: multi-object reads and writes, with the optimisations of §2.2.3
// one on top of the other. A request is ten objects of 64 bytes on random
// machines; the thesis says neither how many nor how many coroutines: 8.43 M
// requests/s beside 86.9 M READs/s are ten, and eight coroutines are enough for
// it (§2.2.3).

const (
	oneSided = "One-sided"
	twoSided = "Two-sided"

	objects25    = 10
	coroutines25 = 8
)

// The steps, one on top of the other.
const (
	stepBase = iota
	stepCO
	stepOR
	stepDB
	stepPA
)

var names25 = []string{"base", "+ CO", "+ OR", "+ DB", "+ PA"}

// steps25 are the knobs of each step.
var steps25 = []experiment.Knobs{
	stepBase: {"opt.co": false, "opt.micro.or": false, "opt.micro.db": false},
	stepCO:   {"opt.co": true, "opt.micro.or": false, "opt.micro.db": false},
	stepOR:   {"opt.co": true, "opt.micro.or": true, "opt.micro.db": false},
	stepDB:   {"opt.co": true, "opt.micro.or": true, "opt.micro.db": true},
	stepPA:   {"opt.co": true, "opt.micro.or": true, "opt.micro.db": true, "opt.micro.pa": true},
}

var figure25a = definition{
	id: "2-5a", title: "Multi-object reads", chapter: 2, section: "2.2.4",
	scope:  "machine",
	form:   formBars,
	x:      Axis{Label: "Optimisations"},
	y:      Axis{Label: "Throughput per machine", Unit: "Mreq/s"},
	plan:   func(scale string) plan { return plan25(scale, "micro-read", stepDB) },
	claims: claims25a,
}

var figure25b = definition{
	id: "2-5b", title: "Multi-object writes", chapter: 2, section: "2.2.4",
	scope:  "machine",
	form:   formBars,
	x:      Axis{Label: "Optimisations"},
	y:      Axis{Label: "Throughput per machine", Unit: "Mreq/s"},
	plan:   func(scale string) plan { return plan25(scale, "micro-write", stepPA) },
	claims: claims25b,
}

func plan25(scale, workload string, last int) plan {
	base := experiment.Knobs{"workload": workload, "nodes": 16, "threads": 24, "coroutines": coroutines25, "workload.payload": 64,
		"workload.objects": objects25, "warmup_ns": 100_000, "duration_ns": 400_000}
	if scale == Paper {
		base["warmup_ns"], base["duration_ns"] = 200_000, 600_000
	}
	p := plan{base: experiment.Spec{Set: base}, gap: gapPoint{oneSided, stepBase}}
	for _, s := range []struct{ name, primitive string }{{oneSided, "one-sided"}, {twoSided, "two-sided"}} {
		line := plannedSeries{name: s.name}
		for step, set := range steps25[:last+1] {
			knobs := experiment.Knobs{"workload.primitive": s.primitive}
			for name, v := range set { // order-free: fills a map
				knobs[name] = v
			}
			if scale == Quick && last == stepPA && (step == stepCO || step == stepOR) { // what is claimed of them is far from its bound
				knobs["duration_ns"] = 200_000
			}
			if scale == Quick && step == stepPA { // passive requests count when posted: send queues have to be full
				knobs["warmup_ns"] = 250_000
			}
			if scale == Quick && last == stepDB && s.primitive == "two-sided" && step >= stepOR { // close to each other
				knobs["duration_ns"] = 800_000
			}
			line.points = append(line.points, plannedPoint{x: float64(step), name: names25[step], set: knobs, read: perMachine})
		}
		p.series = append(p.series, line)
	}
	return p
}

// step is a point of a line; every plan has those that are asked for.
func (f *Figure) step(series string, x float64) Point {
	p, ok := f.series(series).at(x)
	if !ok {
		panic(fmt.Sprintf("figures: %s has no step %g of %s", f.ID, x, series))
	}
	return p
}

// gain is what a step brings over the one before it.
func (f *Figure) gain(series string, step float64) ratio {
	return divide(pair{series, series + " before it"}, f.step(series, step), f.step(series, step-1))
}

func claims25a(f *Figure) []Claim {
	co := func(id, series string, reference float64) Claim {
		return f.quotient(id, fmt.Sprintf("coroutines improve %s requests by %gx", series, reference),
			f.step(series, stepCO), f.step(series, stepBase), series+" +CO", series+" base", reference)
	}
	return []Claim{
		co("f2-5-co-one", oneSided, 7), co("f2-5-co-two", twoSided, 6.46),
		f.gains("f2-5-or-order", "outstanding requests improve both further", f.gain(oneSided, stepOR), f.gain(twoSided, stepOR)),
		f.batching25("f2-5-db-order"), f.scattered25("f2-5-db-one"),
		f.value("f2-5a-reads-peak", "one-sided multi-object reads peak at about 8.43 M requests/s per machine", oneSided, stepDB, 8.43),
		f.mmio25(),
	}
}

// batching25 is what doorbell batching brings where all requests take one queue pair.
func (f *Figure) batching25(id string) Claim {
	return f.gains(id, "doorbell batching always improves two-sided requests", f.gain(twoSided, stepDB))
}

// scattered25 is the other half of that sentence: one-sided requests go to the queue pair
// of their machine, where there are few to batch. That it does not always improve them is
// not for one panel to contradict; that it brings them less is.
func (f *Figure) scattered25(id string) Claim {
	two, one := f.gain(twoSided, stepDB), f.gain(oneSided, stepDB)
	v, half := two.over(one)
	c := Claim{ID: id, Claim: "of one-sided requests it brings less, for they take many queue pairs", Unit: "x", Measured: &v, Status: exceedsOne(v, half)}
	c.Why = fmt.Sprintf("%.3gx ± %.2g; two-sided %s; one-sided %s", v, half, f.because(two), f.because(one))
	return c
}

// mmio25 is about cores, not throughput: what they spend with and without
// doorbell batching, and on one MMIO.
func (f *Figure) mmio25() Claim {
	c := Claim{ID: "s2-mmio-order", Claim: "an MMIO costs hundreds of cycles, and doorbell batching saves them", Unit: "x", Status: Holds}
	p, err := profile.Load("val")
	if err != nil {
		return noRuns(c)
	}
	cycles := p.CPU.MMIO.Value * p.NodeTypes[0].Frequency.Value / 1000
	spent := func(step float64) float64 { // cores' time per request
		pt := f.step(twoSided, step)
		return f.Runs[pt.Run].Utilization["cpu"].Mean / pt.Y
	}
	less := spent(stepOR) / spent(stepDB)
	c.Measured = &less
	if less <= 1 || cycles < 100 || cycles >= 1000 {
		c.Status = Contradicted
	}
	c.Why = fmt.Sprintf("an MMIO is %.0f cycles; without batching a two-sided request takes %.2fx the core time", cycles, less)
	return c
}

func claims25b(f *Figure) []Claim {
	pa := func(id, series string, reference float64) Claim {
		return f.quotient(id, fmt.Sprintf("passive ACK improves %s writes by %gx", series, reference),
			f.step(series, stepPA), f.step(series, stepDB), series+" +PA", series+" without", reference)
	}
	order := f.above("f2-5b-pa-order", "two-sided writes outperform one-sided ones with passive ACK, and only then",
		func(x float64) bool { return x < stepPA }, pair{oneSided, twoSided})
	last := divide(pair{twoSided, oneSided}, f.step(twoSided, stepPA), f.step(oneSided, stepPA))
	order.Status = worse(order.Status, exceedsOne(last.value, last.half))
	order.Why = "with passive ACK " + f.because(last) + "; without, " + order.Why
	return []Claim{
		f.gains("f2-5b-or-order", "outstanding requests improve both, beyond coroutines", f.gain(oneSided, stepOR), f.gain(twoSided, stepOR)),
		f.batching25("f2-5b-db-order"), f.scattered25("f2-5b-db-one"),
		pa("f2-5b-pa-one", oneSided, 1.13), pa("f2-5b-pa-two", twoSided, 1.96), order,
	}
}
