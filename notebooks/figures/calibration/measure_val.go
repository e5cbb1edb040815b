package calibration

import (
	"drtmx/engine/experiment"
	"drtmx/engine/fabric"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/result"
)

// The system of the peaks: VAL as in the thesis.
const (
	nodes   = 16
	threads = 24
)

// valMeasures are the rows of §2.2, and of the hardware VAL.
func valMeasures() []measure {
	list := []measure{
		peak("f2-4a-read-peak", "micro-read", 64),
		peak("f2-4a-write-peak", "micro-write", 8), // at most 64: the smallest is the fastest
		peak("f2-4-atomic-peak", "micro-atomic", 8),
		peak("f2-2b-ud-rpc-peak", "micro-rpc", 8),
		{id: "s2-rdma-lat", note: "a lone READ of 64 bytes", runs: lone(), read: one(meanLatency)},
		{id: "s2-pcie-lat", note: "all crossings of a lone READ", runs: lone(), read: one(func(r *result.Result) float64 {
			return 1000 * r.LatencyUS.Mean * (r.Milestones["doorbell"].Share + r.Milestones["pcie"].Share)
		})},
		{id: "f2-4-atomic-payload", profile: "val", probe: atomicBytes},
		{id: "f2-4b-qps-per-nic", profile: "val", probe: connections},
		{id: "t2-2-rc", profile: "val", probe: classes(fabric.RC)},
		{id: "t2-2-uc", profile: "val", probe: classes(fabric.UC)},
		{id: "t2-2-ud", profile: "val", probe: classes(fabric.UD)},
		{id: "t2-3-cpu", profile: "val", probe: lineBytes},
		{id: "s3-core-random-reads", profile: "val", probe: randomReads, note: "of addresses that the core knows 64 at a time"},
	}
	for _, c := range valClaims {
		for _, id := range c.ids {
			list = append(list, measure{id: id, figure: c.figure})
		}
	}
	for _, c := range valGiven {
		list = append(list, measure{id: c.id, profile: "val", given: c.read})
	}
	return list
}

// claimed are the rows that a figure claims.
type claimed struct {
	figure string
	ids    []string
}

var valClaims = []claimed{
	{"2-2a", []string{"f2-2a-shared-drop", "f2-2a-order"}},
	{"2-2b", []string{"s2-rpc-write-peak", "f2-2b-order"}},
	{"2-4a", []string{"f2-4a-read-small", "f2-4a-read-large", "f2-4a-write-large", "f2-4a-write-vs-read", "f2-4a-order"}},
	{"2-4b", []string{"f2-4b-crossover", "f2-4b-knee", "f2-4b-order"}},
	{"2-5a", []string{"s2-mmio-order", "f2-5-co-one", "f2-5-co-two", "f2-5-or-order", "f2-5-db-order", "f2-5a-reads-peak"}},
	{"2-5b", []string{"f2-5b-pa-one", "f2-5b-pa-two", "f2-5b-pa-order"}},
}

// configured are constants that the model was given.
type configured struct {
	id   string
	read number
}

var valGiven = []configured{
	{"f2-2a-mlx4-dedicated", func(p *profile.Profile, _ *profile.NodeType) float64 { return p.NIC.MMIODedicated.Value }},
	{"f2-2a-mlx4-shared", func(p *profile.Profile, _ *profile.NodeType) float64 { return p.NIC.MMIOShared.Value }},
	{"f2-2a-ctx-limit", func(p *profile.Profile, _ *profile.NodeType) float64 {
		return p.NIC.MMIODedicated.Value + p.NIC.MMIOShared.Value
	}},
	{"t2-1-val-nodes", func(*profile.Profile, *profile.NodeType) float64 { return nodes }}, // of the runs of these rows
	{"t2-1-val-cores", func(_ *profile.Profile, t *profile.NodeType) float64 { return float64(t.Cores()) }},
	{"t2-1-val-dram", func(_ *profile.Profile, t *profile.NodeType) float64 { return t.DRAM.Value }},
	{"t2-1-val-nics", func(_ *profile.Profile, t *profile.NodeType) float64 { return t.NICs.Value }},
	{"t2-1-val-nic-bw", func(p *profile.Profile, _ *profile.NodeType) float64 { return 8 * p.Wire.Bandwidth.Value }},
	{"s2-rdma-bw", func(p *profile.Profile, _ *profile.NodeType) float64 { return 8 * p.Wire.Bandwidth.Value }},
}

// peak is a row of millions of requests per second and machine, when every
// thread of the cluster keeps sixteen under way.
func peak(id, workload string, payload int) measure {
	return measure{id: id, runs: []experiment.Spec{spec(workload, experiment.Knobs{
		"nodes": nodes, "threads": threads, "coroutines": 16, "workload.payload": payload,
		"warmup_ns": 50_000, "duration_ns": 60_000,
	})}, read: one(func(r *result.Result) float64 { return r.Throughput / nodes / 1e6 })}
}

// lone is one client that reads, with no other.
func lone() []experiment.Spec {
	return []experiment.Spec{spec("micro-read", experiment.Knobs{
		"nodes": 2, "threads": 1, "coroutines": 1, "workload.payload": 64,
		"warmup_ns": 50_000, "duration_ns": 100_000,
	})}
}
