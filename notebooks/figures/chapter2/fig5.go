package chapter2

import (
	"fmt"

	"drtmx/engine/experiment"
	"drtmx/engine/fabric/profile"
	"drtmx/notebooks/figures/figure"
)

// Figure 2-5: multi-object reads and writes, with the optimisations of §2.2.3
// one on top of the other. A request is ten objects of 64 bytes on random
// machines; the thesis says neither how many nor how many coroutines: 8.43 M
// requests/s beside 86.9 M READs/s are ten, and eight coroutines are enough for
// it (§2.2.3).

const (
	oneSided = "One-sided"
	twoSided = "Two-sided"

	objects           = 10
	coroutinesOfSteps = 8
)

// The steps, one on top of the other.
const (
	stepBase = iota
	stepCO
	stepOR
	stepDB
	stepPA
)

var stepNames = []string{"base", "+ CO", "+ OR", "+ DB", "+ PA"}

// stepKnobs are the knobs of each step.
var stepKnobs = []experiment.Knobs{
	stepBase: {"opt.co": false, "opt.micro.or": false, "opt.micro.db": false},
	stepCO:   {"opt.co": true, "opt.micro.or": false, "opt.micro.db": false},
	stepOR:   {"opt.co": true, "opt.micro.or": true, "opt.micro.db": false},
	stepDB:   {"opt.co": true, "opt.micro.or": true, "opt.micro.db": true},
	stepPA:   {"opt.co": true, "opt.micro.or": true, "opt.micro.db": true, "opt.micro.pa": true},
}

var multiReads = figure.Definition{
	ID: "2-5a", Title: "Multi-object reads", Chapter: 2, Section: "2.2.4",
	Scope:  "machine",
	Form:   figure.FormBars,
	X:      figure.Axis{Label: "Optimisations"},
	Y:      figure.Axis{Label: "Throughput per machine", Unit: "Mreq/s"},
	Plan:   func(scale string) figure.Plan { return planSteps(scale, "micro-read", stepDB) },
	Claims: claimsMultiReads,
}

var multiWrites = figure.Definition{
	ID: "2-5b", Title: "Multi-object writes", Chapter: 2, Section: "2.2.4",
	Scope:  "machine",
	Form:   figure.FormBars,
	X:      figure.Axis{Label: "Optimisations"},
	Y:      figure.Axis{Label: "Throughput per machine", Unit: "Mreq/s"},
	Plan:   func(scale string) figure.Plan { return planSteps(scale, "micro-write", stepPA) },
	Claims: claimsMultiWrites,
}

func planSteps(scale, workload string, last int) figure.Plan {
	base := experiment.Knobs{"workload": workload, "nodes": 16, "threads": 24, "coroutines": coroutinesOfSteps, "workload.payload": 64,
		"workload.objects": objects, "warmup_ns": 100_000, "duration_ns": 400_000}
	if scale == figure.Paper {
		base["warmup_ns"], base["duration_ns"] = 200_000, 600_000
	}
	p := figure.Plan{Base: experiment.Spec{Set: base}, Gap: figure.GapPoint{Series: oneSided, X: stepBase}}
	for _, s := range []struct{ name, primitive string }{{oneSided, "one-sided"}, {twoSided, "two-sided"}} {
		line := figure.PlannedSeries{Name: s.name}
		for step, set := range stepKnobs[:last+1] {
			knobs := experiment.Knobs{"workload.primitive": s.primitive}
			for name, v := range set { // order-free: fills a map
				knobs[name] = v
			}
			if scale == figure.Quick && last == stepPA && (step == stepCO || step == stepOR) { // what is claimed of them is far from its bound
				knobs["duration_ns"] = 200_000
			}
			if scale == figure.Quick && step == stepPA { // passive requests count when posted: send queues have to be full
				knobs["warmup_ns"] = 250_000
			}
			if scale == figure.Quick && last == stepDB && s.primitive == "two-sided" && step >= stepOR { // close to each other
				knobs["duration_ns"] = 800_000
			}
			line.Points = append(line.Points, figure.PlannedPoint{X: float64(step), Name: stepNames[step], Set: knobs, Read: perMachine})
		}
		p.Series = append(p.Series, line)
	}
	return p
}

// stepPoint is a point of a line; every plan has those that are asked for.
func stepPoint(f *figure.Figure, series string, x float64) figure.Point {
	p, ok := f.Line(series).At(x)
	if !ok {
		panic(fmt.Sprintf("figures: %s has no step %g of %s", f.ID, x, series))
	}
	return p
}

// gain is what a step brings over the one before it.
func gain(f *figure.Figure, series string, step float64) figure.Ratio {
	return figure.Divide(figure.Pair{Above: series, Below: series + " before it"}, stepPoint(f, series, step), stepPoint(f, series, step-1))
}

func claimsMultiReads(f *figure.Figure) []figure.Claim {
	co := func(id, series string, reference float64) figure.Claim {
		return f.Quotient(id, fmt.Sprintf("coroutines improve %s requests by %gx", series, reference),
			stepPoint(f, series, stepCO), stepPoint(f, series, stepBase), series+" +CO", series+" base", reference)
	}
	return []figure.Claim{
		co("f2-5-co-one", oneSided, 7), co("f2-5-co-two", twoSided, 6.46),
		f.Gains("f2-5-or-order", "outstanding requests improve both further", gain(f, oneSided, stepOR), gain(f, twoSided, stepOR)),
		batching(f, "f2-5-db-order"), scattered(f, "f2-5-db-one"),
		f.Value("f2-5a-reads-peak", "one-sided multi-object reads peak at about 8.43 M requests/s per machine", oneSided, stepDB, 8.43),
		mmio(f),
	}
}

// batching is what doorbell batching brings where all requests take one queue pair.
func batching(f *figure.Figure, id string) figure.Claim {
	return f.Gains(id, "doorbell batching always improves two-sided requests", gain(f, twoSided, stepDB))
}

// scattered is the other half of that sentence: one-sided requests go to the queue pair
// of their machine, where there are few to batch. That it does not always improve them is
// not for one panel to contradict; that it brings them less is.
func scattered(f *figure.Figure, id string) figure.Claim {
	two, one := gain(f, twoSided, stepDB), gain(f, oneSided, stepDB)
	v, half := two.Over(one)
	c := figure.Claim{ID: id, Claim: "of one-sided requests it brings less, for they take many queue pairs", Unit: "x", Measured: &v, Status: figure.ExceedsOne(v, half)}
	c.Why = fmt.Sprintf("%.3gx ± %.2g; two-sided %s; one-sided %s", v, half, f.Because(two), f.Because(one))
	return c
}

// mmio is about cores, not throughput: what they spend with and without
// doorbell batching, and on one MMIO.
func mmio(f *figure.Figure) figure.Claim {
	c := figure.Claim{ID: "s2-mmio-order", Claim: "an MMIO costs hundreds of cycles, and doorbell batching saves them", Unit: "x", Status: figure.Holds}
	p, err := profile.Load("val")
	if err != nil {
		return figure.NoRuns(c)
	}
	cycles := p.CPU.MMIO.Value * p.NodeTypes[0].Frequency.Value / 1000
	spent := func(step float64) float64 { // cores' time per request
		pt := stepPoint(f, twoSided, step)
		return f.Runs[pt.Run].Utilization["cpu"].Mean / pt.Y
	}
	less := spent(stepOR) / spent(stepDB)
	c.Measured = &less
	if less <= 1 || cycles < 100 || cycles >= 1000 {
		c.Status = figure.Contradicted
	}
	c.Why = fmt.Sprintf("an MMIO is %.0f cycles; without batching a two-sided request takes %.2fx the core time", cycles, less)
	return c
}

func claimsMultiWrites(f *figure.Figure) []figure.Claim {
	pa := func(id, series string, reference float64) figure.Claim {
		return f.Quotient(id, fmt.Sprintf("passive ACK improves %s writes by %gx", series, reference),
			stepPoint(f, series, stepPA), stepPoint(f, series, stepDB), series+" +PA", series+" without", reference)
	}
	order := f.Above("f2-5b-pa-order", "two-sided writes outperform one-sided ones with passive ACK, and only then",
		func(x float64) bool { return x < stepPA }, figure.Pair{Above: oneSided, Below: twoSided})
	last := figure.Divide(figure.Pair{Above: twoSided, Below: oneSided}, stepPoint(f, twoSided, stepPA), stepPoint(f, oneSided, stepPA))
	order.Status = figure.Worse(order.Status, figure.ExceedsOne(last.Value, last.Half))
	order.Why = "with passive ACK " + f.Because(last) + "; without, " + order.Why
	return []figure.Claim{
		f.Gains("f2-5b-or-order", "outstanding requests improve both, beyond coroutines", gain(f, oneSided, stepOR), gain(f, twoSided, stepOR)),
		batching(f, "f2-5b-db-order"), scattered(f, "f2-5b-db-one"),
		pa("f2-5b-pa-one", oneSided, 1.13), pa("f2-5b-pa-two", twoSided, 1.96), order,
	}
}
