package calibration

import (
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// tsMeasures are the rows of §5.1.3 on what a timestamp oracle is good for: checked, never fitted.
func tsMeasures() []measure {
	list := []measure{
		{id: "f5-6a-globalcnt", note: "24 threads that take numbers from one counter", runs: alone("gts"), read: one(perMachine)},
		{id: "f5-6a-vts-local", note: "24 threads that each publish numbers of their own", runs: alone("vts"), read: one(perMachine)},
		{id: "f5-6a-oracle-gts", note: "transactions of two round trips, to draw and to install", runs: asked("gts"), read: one(millions)},
		{id: "f5-6a-oracle-vts", note: "transactions of one round trip, to install", runs: asked("vts"), read: one(millions)},
	}
	for _, c := range tsClaims {
		for _, id := range c.ids {
			list = append(list, measure{id: id, figure: c.figure})
		}
	}
	return list
}

// tsClaims are the rows that figures claim.
var tsClaims = []claimed{
	{"5-6a", []string{"f5-6a-order"}},
	{"5-6b", []string{"f5-6b-vts-overhead", "f5-6b-drop-tpcc", "f5-6b-gts-half"}},
	{"5-6c", []string{"f5-6c-gts-slow", "f5-6c-order"}},
}

// oracleMachines are those of the cluster of Figure 5-6 beside the oracle.
const oracleMachines = 15

// alone has the threads of each of two machines work on an oracle of their machine's, without messages or stable timestamps.
func alone(scheme string) []experiment.Spec {
	return []experiment.Spec{spec("ts-oracle", experiment.Knobs{
		"profile": "vale", "preset": "fasst", "nodes": 2, "threads": threads, "coroutines": 1,
		"workload.oracle": scheme, "workload.oracle_op": "count", "warmup_ns": 100_000, "duration_ns": 300_000,
	})}
}

// asked has four clients per thread ask the oracle, which is more than it serves. The interval begins when the softirq
// work of queues that are full has come to its limit (tcp.softirq_limit).
func asked(scheme string) []experiment.Spec {
	return []experiment.Spec{spec("ts-oracle", experiment.Knobs{
		"profile": "vale", "preset": "fasst", "nodes": oracleMachines, "oracle": true, "threads": threads, "coroutines": 4,
		"workload.oracle": scheme, "workload.oracle_op": "network", "warmup_ns": 4_000_000, "duration_ns": 2_000_000,
	})}
}

func millions(r *result.Result) float64   { return r.Throughput / 1e6 }
func perMachine(r *result.Result) float64 { return r.Throughput / 1e6 / 2 }
