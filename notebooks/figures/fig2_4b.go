package figures

import (
	"fmt"

	"drtmx/engine/experiment"
)

// Figure 2-4(b): figure 2-4(a) with as many RC queue pairs as 80 machines would
// need: 5 to each of 16 machines from every thread, of which each request takes
// one at random (§2.2.4). Their contexts do not fit into the RNIC. Some points
// are repeated with one queue pair per machine, to tell what the others cost.

const (
	real16Read = "One-sided READ, 16 nodes"
	real16Two  = "Two-sided read, 16 nodes"
)

var figure24b = definition{
	id: "2-4b", title: "One-sided and two-sided primitives with the connections of 80 machines", chapter: 2, section: "2.2.4",
	scope:  "machine",
	x:      Axis{Label: "Payload", Unit: "bytes", Log: true},
	y:      Axis{Label: "Throughput per machine", Unit: "Mreq/s"},
	plan:   plan24b,
	claims: claims24b,
}

func plan24b(scale string) plan {
	base := experiment.Knobs{"nodes": machines24a, "threads": 24, "coroutines": 16, "warmup_ns": 30_000, "duration_ns": 60_000}
	reads, writes := []int{8, 56, 64, 128, 256, 1024}, []int{8, 128, 1024}
	calls, calls16 := []int{8, 56, 64, 128, 1024}, []int{8} // RPCs take longest
	if scale == Paper {
		base["warmup_ns"], base["duration_ns"] = 200_000, 200_000
		reads, writes = []int{8, 16, 32, 48, 56, 64, 128, 256, 512, 1024}, []int{8, 32, 64, 128, 256, 512, 1024}
		calls, calls16 = reads, []int{8, 1024}
	}
	p := plan{base: experiment.Spec{Set: base}, gap: gapPoint{oneRead, 64}}
	line := func(name, workload, primitive string, nodes int, payloads ...int) {
		s := plannedSeries{name: name}
		for _, n := range payloads {
			k := experiment.Knobs{"workload": workload, "workload.payload": n, "workload.payload_max": max(n, 256), "workload.primitive": primitive, "emulated_nodes": nodes}
			if n >= 1024 && scale == Quick { // one takes as long as a small one's run
				k["warmup_ns"], k["duration_ns"] = 100_000, 400_000
			}
			s.points = append(s.points, plannedPoint{x: float64(n), set: k, read: perMachine})
		}
		p.series = append(p.series, s)
	}
	line(oneRead, "micro-read", "one-sided", 80, reads...)
	line(oneWrite, "micro-write", "one-sided", 80, writes...)
	line(twoRead, "micro-read", "two-sided", 80, calls...)
	line(real16Read, "micro-read", "one-sided", 0, 8, 64, 128, 256, 1024)
	line(real16Two, "micro-read", "two-sided", 0, calls16...)
	return p
}

func claims24b(f *Figure) []Claim {
	return []Claim{f.crossover24b(), f.knee24b(), f.scale24b()}
}

// crossover24b is the largest payload, of those that are drawn, at which two-sided
// reads are not below READ.
func (f *Figure) crossover24b() Claim {
	c := Claim{ID: "f2-4b-crossover", Claim: "READ outperforms two-sided reads beyond 64 bytes", Reference: "64", Unit: "bytes"}
	rs := f.ratios(pair{oneRead, twoRead}, func(float64) bool { return true })
	if len(rs) == 0 {
		return noRuns(c)
	}
	thesis := "; the thesis says beyond " + f.X.at(64)
	k := len(rs) - 1
	for k >= 0 && rs[k].value > 1 {
		k--
	}
	if k < 0 || k == len(rs)-1 {
		c.Says = "READ is never ahead" + thesis
		if k < 0 {
			c.Says = "READ is ahead from " + f.X.at(rs[0].x) + " on" + thesis
		}
		c.Status, c.Why = Undecided, "no crossover at the payloads that are drawn: "+f.because(rs[max(k, 0)])
		return c
	}
	at := rs[k].x
	c.Measured, c.Status, c.Why = &at, near(at, 0, 64), f.because(rs[k+1])
	c.Says = fmt.Sprintf("READ is ahead from %s on, not yet at %s", f.X.at(rs[k+1].x), f.X.at(at)) + thesis
	if rs[k].value+rs[k].half > 1 || rs[k+1].value-rs[k+1].half <= 1 { // it may be at the next payload
		c.Status = worse(c.Status, Undecided)
		c.Why = f.because(rs[k]) + "; " + c.Why
	}
	return c
}

// knee24b is the largest payload, halving which gains READ less than a tenth.
func (f *Figure) knee24b() Claim {
	c := Claim{ID: "f2-4b-knee", Claim: "READ grows only slowly when payloads shrink below 128 bytes", Reference: "128", Unit: "bytes"}
	s := f.series(oneRead)
	for k := len(s.Points) - 1; k > 0; k-- {
		p := s.Points[k]
		half, ok := s.at(p.X / 2)
		if !ok || half.Y > 1.1*p.Y {
			continue
		}
		c.Measured, c.Status = &p.X, near(p.X, 0, 128)
		c.Says = fmt.Sprintf("grows slowly below %s; the thesis says below %s", f.X.at(p.X), f.X.at(128))
		c.Why = fmt.Sprintf("%.4g %s at %s, %.4g at %s: %s", p.Y, f.Y.Unit, f.X.at(p.X), half.Y, f.X.at(half.X), limit(f.Runs[p.Run]))
		return c
	}
	return noRuns(c)
}

// scale24b compares with the connections of 16 machines.
func (f *Figure) scale24b() Claim {
	c := Claim{ID: "f2-4b-order", Claim: "the number of connections hurts only one-sided primitives with small payloads", Unit: "x", Status: Holds}
	always := func(float64) bool { return true }
	one, two := f.ratios(pair{real16Read, oneRead}, always), f.ratios(pair{real16Two, twoRead}, always)
	if len(one) < 2 || len(two) == 0 {
		return noRuns(c)
	}
	most, least := extremes(append(append([]ratio{}, one...), two...))
	c.ratios(most, least, peaks(one))
	c.Why = f.because(most)
	if most.x != one[0].x || most.above != real16Read || most.value-most.half < 1.05 {
		c.Status = Contradicted
	}
	const unhurt, small = 0.05, 128
	for _, r := range append(one, two...) {
		if (r.above == real16Two || r.x > small) && r.value-r.half > 1+unhurt {
			c.Status, c.Why = Contradicted, "hurt too: "+f.because(r)
		}
	}
	return c
}
