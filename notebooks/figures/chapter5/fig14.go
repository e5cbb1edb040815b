package chapter5

import (
	"fmt"
	"slices"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
)

// Figure 5-14: Rococo over kernel TCP, alone and with snapshots of DST, on TPC-C's mix by the requests that each server has at a
// time (§5.5.3). There is no replication, as in Rococo's own evaluation. What a request takes of a server is assumed (host.scale).
//
// Clients are closed loops, and a stock-level that others keep in the way of is tried again until it commits, as with retry: 0 in the
// configuration that Rococo's authors publish. So under many requests the clients end up at stock-levels one after the other,
// until so few are left for the rest that stock-levels commit as fast as they come. Only then is a run steady.

const (
	labelRococo    = "Rococo"
	labelRococoDST = "Rococo+DST"

	manyRequests = 100 // requests per server of which the thesis tells
	halfRequests = 50
)

var rococoFigures = []*figure.Definition{
	{ID: "5-14a", Title: "New-orders on Rococo", Chapter: 5, Section: "5.5.3", Scope: "cluster", Costs: rococoCosts, X: requestsAxis, Y: figure.Axis{Label: "New-orders", Unit: "K/s"},
		Plan: func(scale string) figure.Plan { return planRococo(scale, newOrders) }, Claims: newOrderClaims},
	{ID: "5-14b", Title: "Stock-levels on Rococo", Chapter: 5, Section: "5.5.3", Scope: "cluster", Costs: rococoCosts, X: requestsAxis, Y: figure.Axis{Label: "Median latency", Unit: "ms", Log: true},
		Plan: func(scale string) figure.Plan { return planRococo(scale, stockLevels) }, Claims: stockLevelClaims},
}

var (
	requestsAxis = figure.Axis{Label: "Requests per server", Unit: "requests"}
	rococoCosts  = append([]figure.Cost{figure.Assumed("host.scale", "what requests take of a server")}, tcpCosts...)
)

// clientThreads share the requests of a server.
const clientThreads = 4

func planRococo(scale string, read func(r *result.Result) (float64, float64)) figure.Plan {
	set := experiment.Knobs{"cc": "rococo", "replicas": 1, "threads": clientThreads}
	per, servers := []int{1, 2, 5, 8, 12, 18, 25}, vale.machines
	if scale == figure.Quick {
		per, servers = []int{1, 5, 12, 25}, 4
		set["nodes"], set[queuesKnob] = servers, 8 // the threads are as many at both scales, and so are the queues of a NIC
	}
	p := figure.Plan{Base: vale.base(scale, "tpcc", set), Note: fmt.Sprintf("%s with %d of %d machines, of which each has %d of %d threads", vale.name, servers, vale.machines, clientThreads, vale.threads)}
	for _, l := range []figure.Setting{{Name: labelRococo, Set: nil}, {Name: labelRococoDST, Set: experiment.Knobs{"ts.scheme": "dst"}}} {
		s := figure.PlannedSeries{Name: l.Name}
		for _, n := range per {
			s.Points = append(s.Points, figure.PlannedPoint{X: float64(n * clientThreads), Set: figure.With(l.Set, rococoInterval(n, l.Set == nil)), Read: read})
		}
		p.Series = append(p.Series, s)
	}
	return p
}

// rococoInterval is long enough for so many requests of each thread. Where the servers are busy a transaction takes about 20 us for
// each request of its server, and every 25th of a client is a stock-level: so the clients that stock-levels keep come to be as
// many as stay after some times half a millisecond for each request. How many they are varies the more slowly the longer
// stock-levels take, which is about a millisecond for each request, and the more the fewer are left. Snapshots keep no client.
func rococoInterval(coroutines int, kept bool) experiment.Knobs {
	const ms = 1_000_000
	requests := coroutines * clientThreads
	warmup, duration := 15*ms, 30*ms+requests*ms/2
	if kept {
		warmup, duration = 15*ms+2*requests*ms, 60*ms+requests*requests*ms/14
	}
	return experiment.Knobs{"coroutines": coroutines, "warmup_ns": warmup, "duration_ns": duration}
}

func newOrders(r *result.Result) (v, ci95 float64) {
	v = float64(r.ByType["new-order"].Commits) / float64(r.VirtualNS) * 1e6
	return v, v * r.ThroughputCI95
}

func stockLevels(r *result.Result) (v, ci95 float64) {
	v = r.ByType["stock-level"].LatencyUS.P50 / 1e3
	return v, v * r.ThroughputCI95
}

func newOrderClaims(f *figure.Figure) (out []figure.Claim) {
	return slices.Concat(faster(f, "f5-14a-dst", "100 requests per server: new-orders with DST by those without", labelRococoDST, labelRococo, onlyAt(manyRequests)), stockLevelsCommit(f))
}

// stockLevelsCommit is how many attempts of stock-level commit, under more than 50 requests.
func stockLevelsCommit(f *figure.Figure) []figure.Claim {
	for _, p := range f.Line(labelRococo).Points {
		if p.X < halfRequests-2 { // the nearest to 50 that the threads share evenly is 48
			continue
		}
		t := f.Runs[p.Run].ByType["stock-level"]
		if n := t.Commits + t.Aborts; n > 0 {
			return []figure.Claim{figure.Measured("f5-14a-commit", "about 50 requests per server: attempts of stock-levels that commit", "%", 100*float64(t.Commits)/float64(n), 0, figure.LimitOf(f.Runs[p.Run]))}
		}
	}
	return nil
}

func stockLevelClaims(f *figure.Figure) []figure.Claim {
	return []figure.Claim{f.Above("f5-14b-order", "with DST a stock-level takes much shorter", figure.Everywhere, figure.Pair{Above: labelRococo, Below: labelRococoDST})}
}
