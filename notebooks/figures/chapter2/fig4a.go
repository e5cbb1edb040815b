package chapter2

import (
	"drtmx/engine/experiment"
	"drtmx/notebooks/figures/figure"
)

// Figure 2-4(a): raw throughput of the primitives on 16 machines, against the
// payload (§2.2.4). Every thread keeps requests to random places of random other
// machines under way; two-sided, the request or the reply carries the payload
// and the server copies nothing.

const (
	oneRead  = "One-sided READ"
	oneWrite = "One-sided WRITE"
	oneAtom  = "One-sided ATOMIC"
	twoRead  = "Two-sided read"
	twoWrite = "Two-sided write"

	machines = 16
)

var primitives = figure.Definition{
	ID: "2-4a", Title: "One-sided and two-sided primitives on 16 machines", Chapter: 2, Section: "2.2.4",
	Scope:  "machine",
	X:      figure.Axis{Label: "Payload", Unit: "bytes", Log: true},
	Y:      figure.Axis{Label: "Throughput per machine", Unit: "Mreq/s"},
	Plan:   planPrimitives,
	Claims: claimsPrimitives,
}

// primitivePayloads is the X axis; the thesis names 64 bytes, where it splits its
// claims, and nothing of the axis' ends.
var primitivePayloads = []int{8, 32, 64, 128, 256, 512, 1024}

func planPrimitives(scale string) figure.Plan {
	base := experiment.Knobs{"nodes": machines, "threads": 24}
	switch scale {
	case figure.Paper:
		base["coroutines"], base["warmup_ns"], base["duration_ns"] = 16, 200_000, 400_000
	default:
		// All requests start at once, and for 20 us the RNICs fetch contexts.
		base["coroutines"], base["warmup_ns"], base["duration_ns"] = 12, 50_000, 40_000
	}
	p := figure.Plan{Base: experiment.Spec{Set: base}, Gap: figure.GapPoint{Series: oneRead, X: 64}}
	line := func(name, workload, primitive string, payloads ...int) {
		s := figure.PlannedSeries{Name: name}
		for _, n := range payloads {
			set := experiment.Knobs{"workload": workload, "workload.payload": n, "workload.payload_max": max(n, 256)}
			if primitive != "" {
				set["workload.primitive"] = primitive
			}
			if scale != figure.Paper && n >= 256 { // fewer requests, which take longer
				set["warmup_ns"], set["duration_ns"] = 70_000, 200_000
			}
			s.Points = append(s.Points, figure.PlannedPoint{X: float64(n), Set: set, Read: perMachine})
		}
		p.Series = append(p.Series, s)
	}
	line(oneRead, "micro-read", "one-sided", primitivePayloads...)
	line(oneWrite, "micro-write", "one-sided", primitivePayloads...)
	line(oneAtom, "micro-atomic", "", 8)
	line(twoRead, "micro-read", "two-sided", primitivePayloads...)
	line(twoWrite, "micro-write", "two-sided", primitivePayloads...)
	return p
}

func claimsPrimitives(f *figure.Figure) []figure.Claim {
	small := func(x float64) bool { return x < 64 }
	rest := func(x float64) bool { return x >= 64 }
	large := func(x float64) bool { return x > 64 }
	return []figure.Claim{
		f.UpTo("f2-4a-read-small", "READ outperforms two-sided reads by up to 1.6x below 64 bytes", oneRead, twoRead, small, 1.6),
		f.UpTo("f2-4a-read-large", "READ outperforms two-sided reads by up to 1.37x at 64 bytes and more", oneRead, twoRead, rest, 1.37),
		f.Between("f2-4a-write-large", "WRITE outperforms two-sided writes by 1.03x to 1.35x at large payloads", oneWrite, twoWrite, large, 1.03, 1.35),
		f.Above("f2-4a-write-vs-read", "WRITE outperforms READ at small payloads", small, figure.Pair{Above: oneWrite, Below: oneRead}),
		f.Above("f2-4a-order", "READ and WRITE outperform two-sided at all payloads", func(float64) bool { return true },
			figure.Pair{Above: oneRead, Below: twoRead}, figure.Pair{Above: oneWrite, Below: twoWrite}),
		f.Value("f2-4a-read-peak", "READ of 64 bytes reaches 86.9 M requests/s per machine", oneRead, 64, 86.9),
		f.Highest("f2-4a-write-peak", "WRITE peaks at 130 M requests/s per machine, up to 64 bytes", oneWrite, func(x float64) bool { return x <= 64 }, 130),
		f.Value("f2-4-atomic-peak", "ATOMIC reaches 48 M requests/s per machine", oneAtom, 8, 48),
		f.Above("f2-4-atomic-order", "ATOMIC is slower than the other primitives", func(x float64) bool { return x == 8 },
			figure.Pair{Above: oneRead, Below: oneAtom}, figure.Pair{Above: oneWrite, Below: oneAtom}, figure.Pair{Above: twoRead, Below: oneAtom}, figure.Pair{Above: twoWrite, Below: oneAtom}),
	}
}
