package figures

import (
	"fmt"
	"math"

	"drtmx/engine/experiment"
)

// Figure 2-2: (a) what a driver context that all threads share costs, (b) RPC
// by datagrams against RPC by WRITEs (§2.2.2).

const (
	ownContexts   = "Dedicated context per thread"
	sharedContext = "Shared context"

	udRPC     = "UD SEND/RECV"
	writeRPC  = "WRITE-based"
	hybridRPC = "Hybrid"

	// outstanding22a is how many WRITEs a thread has under way: as few as let 24
	// threads reach the peak of one RNIC.
	outstanding22a = 4

	// alone22a is how many queue pairs of a context have a buffer to themselves: seven by right, and
	// the eighth because nobody else is in the shared one yet.
	alone22a = 8
)

var figure22a = definition{
	id: "2-2a", title: "WRITE with different queue-pair creation strategies", chapter: 2, section: "2.2.2",
	scope:  "nic",
	x:      Axis{Label: "Threads", Unit: "threads"},
	y:      Axis{Label: "Throughput per RNIC", Unit: "Mreq/s"},
	plan:   plan22a,
	claims: claims22a,
}

// plan22a has one RNIC per machine, for a context belongs to one, and two
// machines, so that every thread uses exactly one queue pair. Each WRITE rings a
// doorbell of its own.
func plan22a(scale string) plan {
	base := experiment.Knobs{"workload": "micro-write", "nodes": 2, "nics": 1, "workload.payload": 64, "coroutines": outstanding22a,
		"opt.micro.db": false, "warmup_ns": 100_000, "duration_ns": 800_000}
	threads := []int{1, 4, 7, 8, 12, 16, 20, 24}
	if scale == Paper {
		base["duration_ns"] = 1_000_000
		threads = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 22, 24}
	}
	p := plan{base: experiment.Spec{Set: base}, gap: gapPoint{sharedContext, 24}}
	for _, s := range []struct{ name, context string }{{ownContexts, "thread"}, {sharedContext, "shared"}} {
		line := plannedSeries{name: s.name}
		for _, n := range threads {
			line.points = append(line.points, plannedPoint{x: float64(n), set: experiment.Knobs{"threads": n, "nic.context": s.context}, read: perMachine})
		}
		p.series = append(p.series, line)
	}
	return p
}

func claims22a(f *Figure) []Claim {
	all := f.ratios(pair{ownContexts, sharedContext}, func(float64) bool { return true })
	drop := Claim{ID: "f2-2a-shared-drop", Claim: "a shared context costs up to 63 % of the throughput as threads increase", Reference: "63", Unit: "%"}
	order := Claim{ID: "f2-2a-order", Claim: "a context per thread outperforms a shared one beyond eight queue pairs, by more the more threads there are", Unit: "x"}
	if len(all) == 0 {
		return []Claim{noRuns(drop), noRuns(order)}
	}
	most, least := extremes(all)
	lost := 100 * (1 - 1/most.value)
	drop.Measured = &lost
	drop.Status = near(lost, 100*most.half/(most.value*most.value), 63)
	drop.Why = f.because(most)

	order.ratios(most, least, peaks(all))
	order.Status, order.Why = Holds, "largest: "+f.because(most)
	before := 1.0
	for _, r := range all {
		switch {
		case r.x <= alone22a:
			if math.Abs(r.value-1) > r.half+tolerance {
				order.Status, order.Why = Contradicted, "they should be equal: "+f.because(r)
			}
			continue
		case r.value+r.half < before:
			order.Status, order.Why = Contradicted, "the gap does not grow: "+f.because(r)
		case r.value-r.half <= 1:
			order.Status, order.Why = worse(order.Status, Undecided), "too close: "+f.because(r)
		}
		before = r.value
	}
	return []Claim{drop, order}
}

var figure22b = definition{
	id: "2-2b", title: "RPC implementations over RDMA", chapter: 2, section: "2.2.2",
	scope:  "machine",
	x:      Axis{Label: "Payload of request and reply", Unit: "bytes"},
	y:      Axis{Label: "Throughput per machine", Unit: "Mreq/s"},
	plan:   plan22b,
	claims: claims22b,
}

func plan22b(scale string) plan {
	base := experiment.Knobs{"workload": "micro-rpc", "nodes": 16, "threads": 24, "coroutines": 16, "warmup_ns": 40_000, "duration_ns": 60_000}
	if scale == Paper {
		base["warmup_ns"], base["duration_ns"] = 100_000, 200_000
	}
	p := plan{base: experiment.Spec{Set: base}, gap: gapPoint{writeRPC, 8}}
	for _, s := range []struct{ name, transport string }{{udRPC, "ud"}, {writeRPC, "write"}, {hybridRPC, "hybrid"}} {
		line := plannedSeries{name: s.name}
		for _, n := range []int{8, 32, 56} { // with the header of 8 bytes all are inlined
			line.points = append(line.points, plannedPoint{x: float64(n), set: experiment.Knobs{"workload.transport": s.transport, "workload.payload": n, "workload.payload_max": max(n, 256)}, read: perMachine})
		}
		p.series = append(p.series, line)
	}
	return p
}

func claims22b(f *Figure) []Claim {
	always := func(float64) bool { return true }
	return []Claim{
		f.highest("f2-2b-ud-rpc-peak", "RPC by SEND/RECV over UD peaks at 79 M requests/s per machine", udRPC, always, 79),
		f.highest("s2-rpc-write-peak", "RPC by WRITEs peaks at about 65 M requests/s per machine, for each takes two", writeRPC, always, 65),
		f.above("f2-2b-order", "SEND/RECV over UD outperforms the other implementations in a symmetric setting", always,
			pair{udRPC, writeRPC}, pair{udRPC, hybridRPC}),
	}
}

// quotient is a claim about the ratio of two points.
func (f *Figure) quotient(id, text string, a, b Point, nameA, nameB string, reference float64) Claim {
	c := Claim{ID: id, Claim: text, Reference: fmt.Sprint(reference), Unit: "x"}
	r := divide(pair{nameA, nameB}, a, b)
	c.Measured, c.Status, c.Why = &r.value, gain(r.value, r.half, reference), f.because(r)
	return c
}

func divide(p pair, a, b Point) ratio {
	v := a.Y / b.Y
	return ratio{p, a.X, v, v * math.Hypot(a.CI95/a.Y, b.CI95/b.Y), a, b}
}
