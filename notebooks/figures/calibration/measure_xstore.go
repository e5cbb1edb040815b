package calibration

import (
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// The motivation of chapter 3 (§3.2): 100 million keys on one server of VAL, read by up to 15 clients. S-RKV is the tree by RPC,
// C-RKV the tree by READs: without a cache, with Cell's, and with one of the whole index.
func xstoreMeasures() []measure {
	const cores = 24
	rate := func(r *result.Result) float64 { return r.Throughput / 1e6 }
	serverCPU := func(r *result.Result) float64 { return cores * r.Nodes[0].Utilization["cpu"] }
	serverLink := func(r *result.Result) float64 { return 100 * r.Nodes[0].Utilization["link"] }
	ratio := func(r []*result.Result) float64 { return r[0].Throughput / r[1].Throughput }
	changed := motivation("ycsb-d", 15, threads, 2, []experiment.Knobs{wholeIndex})
	for name, x := range thousandth { // order-free: fills a map
		changed[0].Set[name] = x
	}
	computes := func(r *result.Result) float64 { return 100 * r.Phases["index"].ComputeUS / r.LatencyUS.Mean }
	more := func(r []*result.Result) float64 { return 100 * (r[0].LatencyUS.P50/r[1].LatencyUS.P50 - 1) }
	return []measure{
		{id: "f3-2a-srkv-cores", runs: many(treeByRPC), read: one(serverCPU), note: "cores that are busy"},
		{id: "f3-2b-srkv-net", runs: many(treeByRPC), read: one(serverLink), note: "of the server's busiest link direction"},
		{id: "f3-3a-srkv", runs: many(treeByRPC), read: one(rate)},
		{id: "f3-3a-crkv", runs: many(noCache), read: one(rate)},
		{id: "f3-3a-cell", runs: many(cellCache), read: one(rate)},
		{id: "f3-3a-optimal", runs: many(wholeIndex), read: one(rate)},
		{id: "f3-3a-optimal-ratio", runs: many(wholeIndex, treeByRPC), read: ratio},
		{id: "f3-3a-slowdown", runs: many(wholeIndex, noCache), read: ratio},
		{id: "f3-3b-lat", runs: few(wholeIndex, treeByRPC), read: more, note: "one client"},
		{id: "f3-3b-cpuidx", runs: few(wholeIndex), read: one(computes), note: "one client: the cores' share of lookups in the cached index"},
		{id: "f3-2-order", figure: "3-2a"},
		{id: "f3-3c-optimal", runs: changed, read: one(rate), note: "keys and time a thousandth of 60 s, after half of it"},
	}
}

var (
	treeByRPC  = experiment.Knobs{"store.ordered": "drtm-tree"}
	noCache    = experiment.Knobs{"store.ordered": "xstore", "xstore.cache": "none"}
	cellCache  = experiment.Knobs{"store.ordered": "xstore", "xstore.cache": "tree4"}
	wholeIndex = experiment.Knobs{"store.ordered": "xstore", "xstore.cache": "tree"}
)

// thousandth shrinks keys and time alike, so that a leaf takes in as many keys: without that it would be long before one splits.
var thousandth = experiment.Knobs{"workload.scale": 0.001, "warmup_ns": 30_000_000, "duration_ns": 10_000_000}

// many are runs of each system under full load.
func many(systems ...experiment.Knobs) []experiment.Spec {
	return motivation("ycsb-c", 15, threads, 4, systems)
}

// few are runs with one request at a time.
func few(systems ...experiment.Knobs) []experiment.Spec {
	return motivation("ycsb-c", 1, 1, 1, systems)
}

func motivation(workload string, clients, each, coroutines int, systems []experiment.Knobs) (list []experiment.Spec) {
	for _, s := range systems {
		list = append(list, spec(workload, experiment.Knobs{
			"servers": 1, "clients": clients, "server.threads": threads, "client.threads": each, "coroutines": coroutines,
			"workload.keys": 100_000_000, "workload.scale": 1, "check": "off", "warmup_ns": 200_000, "duration_ns": 300_000,
		}, s))
	}
	return list
}
