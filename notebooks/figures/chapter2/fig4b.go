package chapter2

import (
	"fmt"

	"drtmx/engine/experiment"
	"drtmx/notebooks/figures/figure"
)

// Figure 2-4(b): figure 2-4(a) with as many RC queue pairs as 80 machines would
// need: 5 to each of 16 machines from every thread, of which each request takes
// one at random (§2.2.4). Their contexts do not fit into the RNIC. Some points
// are repeated with one queue pair per machine, to tell what the others cost.

const (
	readOfFewNodes     = "One-sided READ, 16 nodes"
	twoSidedOfFewNodes = "Two-sided read, 16 nodes"
)

var connections = figure.Definition{
	ID: "2-4b", Title: "One-sided and two-sided primitives with the connections of 80 machines", Chapter: 2, Section: "2.2.4",
	Scope:  "machine",
	X:      figure.Axis{Label: "Payload", Unit: "bytes", Log: true},
	Y:      figure.Axis{Label: "Throughput per machine", Unit: "Mreq/s"},
	Plan:   planConnections,
	Claims: claimsConnections,
}

func planConnections(scale string) figure.Plan {
	base := experiment.Knobs{"nodes": machines, "threads": 24, "coroutines": 16, "warmup_ns": 30_000, "duration_ns": 60_000}
	reads, writes := []int{8, 56, 64, 128, 256, 1024}, []int{8, 128, 1024}
	calls, calls16 := []int{8, 56, 64, 128, 1024}, []int{8} // RPCs take longest
	if scale == figure.Paper {
		base["warmup_ns"], base["duration_ns"] = 200_000, 200_000
		reads, writes = []int{8, 16, 32, 48, 56, 64, 128, 256, 512, 1024}, []int{8, 32, 64, 128, 256, 512, 1024}
		calls, calls16 = reads, []int{8, 1024}
	}
	p := figure.Plan{Base: experiment.Spec{Set: base}, Gap: figure.GapPoint{Series: oneRead, X: 64}}
	line := func(name, workload, primitive string, nodes int, payloads ...int) {
		s := figure.PlannedSeries{Name: name}
		for _, n := range payloads {
			k := experiment.Knobs{"workload": workload, "workload.payload": n, "workload.payload_max": max(n, 256), "workload.primitive": primitive, "emulated_nodes": nodes}
			if n >= 1024 && scale == figure.Quick { // one takes as long as a small one's run
				k["warmup_ns"], k["duration_ns"] = 100_000, 400_000
			}
			s.Points = append(s.Points, figure.PlannedPoint{X: float64(n), Set: k, Read: perMachine})
		}
		p.Series = append(p.Series, s)
	}
	line(oneRead, "micro-read", "one-sided", 80, reads...)
	line(oneWrite, "micro-write", "one-sided", 80, writes...)
	line(twoRead, "micro-read", "two-sided", 80, calls...)
	line(readOfFewNodes, "micro-read", "one-sided", 0, 8, 64, 128, 256, 1024)
	line(twoSidedOfFewNodes, "micro-read", "two-sided", 0, calls16...)
	return p
}

func claimsConnections(f *figure.Figure) []figure.Claim {
	return []figure.Claim{crossover(f), knee(f), fewNodesClaim(f)}
}

// crossover is the largest payload, of those that are drawn, at which two-sided
// reads are not below READ.
func crossover(f *figure.Figure) figure.Claim {
	c := figure.Claim{ID: "f2-4b-crossover", Claim: "READ outperforms two-sided reads beyond 64 bytes", Reference: "64", Unit: "bytes"}
	rs := f.Ratios(figure.Pair{Above: oneRead, Below: twoRead}, func(float64) bool { return true })
	if len(rs) == 0 {
		return figure.NoRuns(c)
	}
	thesis := "; the thesis says beyond " + f.X.At(64)
	k := len(rs) - 1
	for k >= 0 && rs[k].Value > 1 {
		k--
	}
	if k < 0 || k == len(rs)-1 {
		c.Says = "READ is never ahead" + thesis
		if k < 0 {
			c.Says = "READ is ahead from " + f.X.At(rs[0].X) + " on" + thesis
		}
		c.Status, c.Why = figure.Undecided, "no crossover at the payloads that are drawn: "+f.Because(rs[max(k, 0)])
		return c
	}
	at := rs[k].X
	c.Measured, c.Status, c.Why = &at, figure.Near(at, 0, 64), f.Because(rs[k+1])
	c.Says = fmt.Sprintf("READ is ahead from %s on, not yet at %s", f.X.At(rs[k+1].X), f.X.At(at)) + thesis
	if rs[k].Value+rs[k].Half > 1 || rs[k+1].Value-rs[k+1].Half <= 1 { // it may be at the next payload
		c.Status = figure.Worse(c.Status, figure.Undecided)
		c.Why = f.Because(rs[k]) + "; " + c.Why
	}
	return c
}

// knee is the largest payload, halving which gains READ less than a tenth.
func knee(f *figure.Figure) figure.Claim {
	c := figure.Claim{ID: "f2-4b-knee", Claim: "READ grows only slowly when payloads shrink below 128 bytes", Reference: "128", Unit: "bytes"}
	s := f.Line(oneRead)
	for k := len(s.Points) - 1; k > 0; k-- {
		p := s.Points[k]
		half, ok := s.At(p.X / 2)
		if !ok || half.Y > 1.1*p.Y {
			continue
		}
		c.Measured, c.Status = &p.X, figure.Near(p.X, 0, 128)
		c.Says = fmt.Sprintf("grows slowly below %s; the thesis says below %s", f.X.At(p.X), f.X.At(128))
		c.Why = fmt.Sprintf("%.4g %s at %s, %.4g at %s: %s", p.Y, f.Y.Unit, f.X.At(p.X), half.Y, f.X.At(half.X), figure.LimitOf(f.Runs[p.Run]))
		return c
	}
	return figure.NoRuns(c)
}

// fewNodesClaim compares with the connections of 16 machines.
func fewNodesClaim(f *figure.Figure) figure.Claim {
	c := figure.Claim{ID: "f2-4b-order", Claim: "the number of connections hurts only one-sided primitives with small payloads", Unit: "x", Status: figure.Holds}
	always := func(float64) bool { return true }
	one, two := f.Ratios(figure.Pair{Above: readOfFewNodes, Below: oneRead}, always), f.Ratios(figure.Pair{Above: twoSidedOfFewNodes, Below: twoRead}, always)
	if len(one) < 2 || len(two) == 0 {
		return figure.NoRuns(c)
	}
	most, least := figure.Extremes(append(append([]figure.Ratio{}, one...), two...))
	c.SetRatios(most, least, figure.PeakRatio(one))
	c.Why = f.Because(most)
	if most.X != one[0].X || most.Above != readOfFewNodes || most.Value-most.Half < 1.05 {
		c.Status = figure.Contradicted
	}
	const unhurt, small = 0.05, 128
	for _, r := range append(one, two...) {
		if (r.Above == twoSidedOfFewNodes || r.X > small) && r.Value-r.Half > 1+unhurt {
			c.Status, c.Why = figure.Contradicted, "hurt too: "+f.Because(r)
		}
	}
	return c
}
