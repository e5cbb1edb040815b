package figures

import (
	"fmt"
	"slices"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Figure 5-14: Rococo over kernel TCP, alone and with snapshots of DST, on TPC-C's mix by the requests that each server has at a
// time (§5.5.3). There is no replication, as in Rococo's own evaluation. What a request takes of a server is assumed (host.scale).
//
// Clients are closed loops, and a stock-level that others keep in the way of is tried again until it commits, as with retry: 0 in the
// configuration that Rococo's authors publish. So under many requests the clients end up at stock-levels one after the other,
// until so few are left for the rest that stock-levels commit as fast as they come. Only then is a run steady.

const (
	rococo5    = "Rococo"
	rococoDST5 = "Rococo+DST"

	many514 = 100 // requests per server of which the thesis tells
	half514 = 50
)

var figures514 = []*definition{
	{id: "5-14a", title: "New-orders on Rococo", chapter: 5, section: "5.5.3", scope: "cluster", costs: costs514, x: axis514, y: Axis{Label: "New-orders", Unit: "K/s"},
		plan: func(scale string) plan { return plan514(scale, newOrders514) }, claims: claims514a},
	{id: "5-14b", title: "Stock-levels on Rococo", chapter: 5, section: "5.5.3", scope: "cluster", costs: costs514, x: axis514, y: Axis{Label: "Median latency", Unit: "ms", Log: true},
		plan: func(scale string) plan { return plan514(scale, stockLevels514) }, claims: claims514b},
}

var (
	axis514  = Axis{Label: "Requests per server", Unit: "requests"}
	costs514 = append([]cost{assumed("host.scale", "what requests take of a server")}, tcpCosts...)
)

// threads514 share the requests of a server.
const threads514 = 4

func plan514(scale string, read func(r *result.Result) (float64, float64)) plan {
	set := experiment.Knobs{"cc": "rococo", "replicas": 1, "threads": threads514}
	per, servers := []int{1, 2, 5, 8, 12, 18, 25}, vale5.machines
	if scale == Quick {
		per, servers = []int{1, 5, 12, 25}, 4
		set["nodes"], set[queues5] = servers, 8 // the threads are as many at both scales, and so are the queues of a NIC
	}
	p := plan{base: vale5.base(scale, "tpcc", set), note: fmt.Sprintf("%s with %d of %d machines, of which each has %d of %d threads", vale5.name, servers, vale5.machines, threads514, vale5.threads)}
	for _, l := range []line4{{rococo5, nil}, {rococoDST5, experiment.Knobs{"ts.scheme": "dst"}}} {
		s := plannedSeries{name: l.name}
		for _, n := range per {
			s.points = append(s.points, plannedPoint{x: float64(n * threads514), set: with(l.set, interval514(n, l.set == nil)), read: read})
		}
		p.series = append(p.series, s)
	}
	return p
}

// interval514 is long enough for so many requests of each thread. Where the servers are busy a transaction takes about 20 us for
// each request of its server, and every 25th of a client is a stock-level: so the clients that stock-levels keep come to be as
// many as stay after some times half a millisecond for each request. How many they are varies the more slowly the longer
// stock-levels take, which is about a millisecond for each request, and the more the fewer are left. Snapshots keep no client.
func interval514(coroutines int, kept bool) experiment.Knobs {
	const ms = 1_000_000
	requests := coroutines * threads514
	warmup, duration := 15*ms, 30*ms+requests*ms/2
	if kept {
		warmup, duration = 15*ms+2*requests*ms, 60*ms+requests*requests*ms/14
	}
	return experiment.Knobs{"coroutines": coroutines, "warmup_ns": warmup, "duration_ns": duration}
}

func newOrders514(r *result.Result) (v, ci95 float64) {
	v = float64(r.ByType["new-order"].Commits) / float64(r.VirtualNS) * 1e6
	return v, v * r.ThroughputCI95
}

func stockLevels514(r *result.Result) (v, ci95 float64) {
	v = r.ByType["stock-level"].LatencyUS.P50 / 1e3
	return v, v * r.ThroughputCI95
}

func claims514a(f *Figure) (out []Claim) {
	return slices.Concat(f.predictGain("f5-14a-dst", "100 requests per server: what DST adds to the new-orders", many514, pair{rococoDST5, rococo5}), f.commits514())
}

// commits514 is how many attempts of stock-level commit, under more than 50 requests.
func (f *Figure) commits514() []Claim {
	for _, p := range f.series(rococo5).Points {
		if p.X < half514-2 { // the nearest to 50 that the threads share evenly is 48
			continue
		}
		t := f.Runs[p.Run].ByType["stock-level"]
		if n := t.Commits + t.Aborts; n > 0 {
			return []Claim{withheld("f5-14a-commit", "about 50 requests per server: attempts of stock-levels that commit", "%", 100*float64(t.Commits)/float64(n), limit(f.Runs[p.Run]))}
		}
	}
	return nil
}

func claims514b(f *Figure) []Claim {
	return []Claim{f.above("f5-14b-order", "with DST a stock-level takes much shorter", everywhere, pair{rococo5, rococoDST5})}
}
