package chapter2

import (
	"math"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
)

// Figure 2-2: (a) what a driver context that all threads share costs, (b) RPC
// by datagrams against RPC by WRITEs (§2.2.2).

const (
	ownContexts   = "Dedicated context per thread"
	sharedContext = "Shared context"

	udRPC     = "UD SEND/RECV"
	writeRPC  = "WRITE-based"
	hybridRPC = "Hybrid"

	// writesUnderWay is how many WRITEs a thread has under way: as few as let 24
	// threads reach the peak of one RNIC.
	writesUnderWay = 4

	// unsharedPairs is how many queue pairs of a context have a buffer to themselves: seven by right, and
	// the eighth because no other thread is in the shared one yet.
	unsharedPairs = 8
)

var contexts = figure.Definition{
	ID: "2-2a", Title: "WRITE with different queue-pair creation strategies", Chapter: 2, Section: "2.2.2",
	Scope:  "nic",
	X:      figure.Axis{Label: "Threads", Unit: "threads"},
	Y:      figure.Axis{Label: "Throughput per RNIC", Unit: "Mreq/s"},
	Plan:   planContexts,
	Claims: claimsContexts,
}

// planContexts has one RNIC per machine, for a context belongs to one, and two
// machines, so that every thread uses exactly one queue pair. Each WRITE rings a
// doorbell of its own.
func planContexts(scale string) figure.Plan {
	base := experiment.Knobs{"workload": "micro-write", "nodes": 2, "nics": 1, "workload.payload": 64, "coroutines": writesUnderWay,
		"opt.micro.db": false, "warmup_ns": 100_000, "duration_ns": 800_000}
	threads := []int{1, 4, 7, 8, 12, 16, 20, 24}
	if scale == figure.Paper {
		base["duration_ns"] = 1_000_000
		threads = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 22, 24}
	}
	p := figure.Plan{Base: experiment.Spec{Set: base}, Gap: figure.GapPoint{Series: sharedContext, X: 24}}
	for _, s := range []struct{ name, context string }{{ownContexts, "thread"}, {sharedContext, "shared"}} {
		line := figure.PlannedSeries{Name: s.name}
		for _, n := range threads {
			line.Points = append(line.Points, figure.PlannedPoint{X: float64(n), Set: experiment.Knobs{"threads": n, "nic.context": s.context}, Read: perMachine})
		}
		p.Series = append(p.Series, line)
	}
	return p
}

func claimsContexts(f *figure.Figure) []figure.Claim {
	all := f.Ratios(figure.Pair{Above: ownContexts, Below: sharedContext}, func(float64) bool { return true })
	drop := figure.Claim{ID: "f2-2a-shared-drop", Claim: "a shared context costs up to 63 % of the throughput as threads increase", Reference: "63", Unit: "%"}
	order := figure.Claim{ID: "f2-2a-order", Claim: "a context per thread outperforms a shared one beyond eight queue pairs, by more the more threads there are", Unit: "x"}
	if len(all) == 0 {
		return []figure.Claim{figure.NoRuns(drop), figure.NoRuns(order)}
	}
	most, least := figure.Extremes(all)
	lost := 100 * (1 - 1/most.Value)
	drop.Measured = &lost
	drop.Status = figure.Near(lost, 100*most.Half/(most.Value*most.Value), 63)
	drop.Why = f.Because(most)

	order.SetRatios(most, least, figure.PeakRatio(all))
	order.Status, order.Why = figure.Holds, "largest: "+f.Because(most)
	before := 1.0
	for _, r := range all {
		switch {
		case r.X <= unsharedPairs:
			if math.Abs(r.Value-1) > r.Half+figure.Tolerance {
				order.Status, order.Why = figure.Contradicted, "they should be equal: "+f.Because(r)
			}
			continue
		case r.Value+r.Half < before:
			order.Status, order.Why = figure.Contradicted, "the gap does not grow: "+f.Because(r)
		case r.Value-r.Half <= 1:
			order.Status, order.Why = figure.Worse(order.Status, figure.Undecided), "too close: "+f.Because(r)
		}
		before = r.Value
	}
	return []figure.Claim{drop, order}
}

var rpcs = figure.Definition{
	ID: "2-2b", Title: "RPC implementations over RDMA", Chapter: 2, Section: "2.2.2",
	Scope:  "machine",
	X:      figure.Axis{Label: "Payload of request and reply", Unit: "bytes"},
	Y:      figure.Axis{Label: "Throughput per machine", Unit: "Mreq/s"},
	Plan:   planRPCs,
	Claims: claimsRPCs,
}

func planRPCs(scale string) figure.Plan {
	base := experiment.Knobs{"workload": "micro-rpc", "nodes": 16, "threads": 24, "coroutines": 16, "warmup_ns": 40_000, "duration_ns": 60_000}
	if scale == figure.Paper {
		base["warmup_ns"], base["duration_ns"] = 100_000, 200_000
	}
	p := figure.Plan{Base: experiment.Spec{Set: base}, Gap: figure.GapPoint{Series: writeRPC, X: 8}}
	for _, s := range []struct{ name, transport string }{{udRPC, "ud"}, {writeRPC, "write"}, {hybridRPC, "hybrid"}} {
		line := figure.PlannedSeries{Name: s.name}
		for _, n := range []int{8, 32, 56} { // with the header of 8 bytes all are inlined
			line.Points = append(line.Points, figure.PlannedPoint{X: float64(n), Set: experiment.Knobs{"workload.transport": s.transport, "workload.payload": n, "workload.payload_max": max(n, 256)}, Read: perMachine})
		}
		p.Series = append(p.Series, line)
	}
	return p
}

func claimsRPCs(f *figure.Figure) []figure.Claim {
	always := func(float64) bool { return true }
	return []figure.Claim{
		f.Highest("f2-2b-ud-rpc-peak", "RPC by SEND/RECV over UD peaks at 79 M requests/s per machine", udRPC, always, 79),
		f.Highest("s2-rpc-write-peak", "RPC by WRITEs peaks at about 65 M requests/s per machine, for each takes two", writeRPC, always, 65),
		f.Above("f2-2b-order", "SEND/RECV over UD outperforms the other implementations in a symmetric setting", always,
			figure.Pair{Above: udRPC, Below: writeRPC}, figure.Pair{Above: udRPC, Below: hybridRPC}),
	}
}

// perMachine is millions of requests per second and machine.
func perMachine(r *result.Result) (y, ci95 float64) {
	nodes, _ := r.Spec["nodes"].(int)
	y = r.Throughput / float64(nodes) / 1e6
	return y, y * r.ThroughputCI95
}
