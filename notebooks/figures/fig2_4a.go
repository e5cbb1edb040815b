package figures

import (
	"drtmx/engine/experiment"
	"drtmx/engine/result"
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

	machines24a = 16
)

var figure24a = definition{
	id: "2-4a", title: "One-sided and two-sided primitives on 16 machines", chapter: 2, section: "2.2.4",
	scope:  "machine",
	x:      Axis{Label: "Payload", Unit: "bytes", Log: true},
	y:      Axis{Label: "Throughput per machine", Unit: "Mreq/s"},
	plan:   plan24a,
	claims: claims24a,
}

// payloads24a is the X axis; the thesis names 64 bytes, where it splits its
// claims, and nothing of the axis' ends.
var payloads24a = []int{8, 32, 64, 128, 256, 512, 1024}

func plan24a(scale string) plan {
	base := experiment.Knobs{"nodes": machines24a, "threads": 24}
	switch scale {
	case Paper:
		base["coroutines"], base["warmup_ns"], base["duration_ns"] = 16, 200_000, 400_000
	default:
		// All requests start at once, and for 20 us the RNICs fetch contexts.
		base["coroutines"], base["warmup_ns"], base["duration_ns"] = 12, 50_000, 40_000
	}
	p := plan{base: experiment.Spec{Set: base}, gap: gapPoint{oneRead, 64}}
	line := func(name, workload, primitive string, payloads ...int) {
		s := plannedSeries{name: name}
		for _, n := range payloads {
			set := experiment.Knobs{"workload": workload, "workload.payload": n, "workload.payload_max": max(n, 256)}
			if primitive != "" {
				set["workload.primitive"] = primitive
			}
			if scale != Paper && n >= 256 { // fewer requests, which take longer
				set["warmup_ns"], set["duration_ns"] = 70_000, 200_000
			}
			s.points = append(s.points, plannedPoint{x: float64(n), set: set, read: perMachine})
		}
		p.series = append(p.series, s)
	}
	line(oneRead, "micro-read", "one-sided", payloads24a...)
	line(oneWrite, "micro-write", "one-sided", payloads24a...)
	line(oneAtom, "micro-atomic", "", 8)
	line(twoRead, "micro-read", "two-sided", payloads24a...)
	line(twoWrite, "micro-write", "two-sided", payloads24a...)
	return p
}

// perMachine is millions of requests per second and machine.
func perMachine(r *result.Result) (y, ci95 float64) {
	nodes, _ := r.Spec["nodes"].(int)
	y = r.Throughput / float64(nodes) / 1e6
	return y, y * r.ThroughputCI95
}

func claims24a(f *Figure) []Claim {
	small := func(x float64) bool { return x < 64 }
	rest := func(x float64) bool { return x >= 64 }
	large := func(x float64) bool { return x > 64 }
	return []Claim{
		f.upTo("f2-4a-read-small", "READ outperforms two-sided reads by up to 1.6x below 64 bytes", oneRead, twoRead, small, 1.6),
		f.upTo("f2-4a-read-large", "READ outperforms two-sided reads by up to 1.37x at 64 bytes and more", oneRead, twoRead, rest, 1.37),
		f.between("f2-4a-write-large", "WRITE outperforms two-sided writes by 1.03x to 1.35x at large payloads", oneWrite, twoWrite, large, 1.03, 1.35),
		f.above("f2-4a-write-vs-read", "WRITE outperforms READ at small payloads", small, pair{oneWrite, oneRead}),
		f.above("f2-4a-order", "READ and WRITE outperform two-sided at all payloads", func(float64) bool { return true },
			pair{oneRead, twoRead}, pair{oneWrite, twoWrite}),
		f.value("f2-4a-read-peak", "READ of 64 bytes reaches 86.9 M requests/s per machine", oneRead, 64, 86.9),
		f.highest("f2-4a-write-peak", "WRITE peaks at 130 M requests/s per machine, up to 64 bytes", oneWrite, func(x float64) bool { return x <= 64 }, 130),
		f.value("f2-4-atomic-peak", "ATOMIC reaches 48 M requests/s per machine", oneAtom, 8, 48),
		f.above("f2-4-atomic-order", "ATOMIC is slower than the other primitives", func(x float64) bool { return x == 8 },
			pair{oneRead, oneAtom}, pair{oneWrite, oneAtom}, pair{twoRead, oneAtom}, pair{twoWrite, oneAtom}),
	}
}
