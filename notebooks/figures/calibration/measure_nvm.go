package calibration

import (
	"drtmx/engine/experiment"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/result"
	"drtmx/rdpma/nvm"
)

// nvmMeasures are the rows of §2.3, on R74V.
func nvmMeasures() []measure {
	toDRAM := experiment.Knobs{"nvm.enabled": false}
	h6 := experiment.Knobs{"workload.payload": 64} // in DRAM the hint is no knob: what it sends is this
	list := []measure{
		{id: "s2-onesided-lat", note: "mean of a lone WRITE and a lone READ of 64 bytes, of which the strawman of a persistent write consists",
			runs: append(loneWrites(experiment.Knobs{}), spec("micro-read", loneClient, experiment.Knobs{"ddio": false})), read: average},
		{id: "s2-dram-read-lat", profile: "r74v", probe: chase(false)},
		{id: "s2-nvm-read-lat", profile: "r74v", probe: chase(true)},
		{id: "f2-10-nvm-ideal", note: "whole XLines, given to the memory controller", profile: "r74v", probe: xlineRate},
		{id: "s2-yang-cross-socket", note: "non-temporal stores, at the best number of cores", profile: "r74v", probe: crossSocket},
		{id: "s2-ddio-two-on", note: "RPCs of 8 bytes", runs: calls(true), read: one(perSocket)},
		{id: "s2-ddio-two-off", note: "RPCs of 8 bytes", runs: calls(false), read: one(perSocket)},
		{id: "s2-ddio-two-drop", note: "RPCs of 8 bytes", runs: calls(true, false), read: drop},
		{id: "s2-h6-dram-penalty", note: "WRITEs of 64 bytes against 16",
			runs: []experiment.Spec{spec("micro-write", remote, small, toDRAM), spec("micro-write", remote, small, toDRAM, h6)}, read: drop},
		{id: "t2-3-pcie", note: "the shortest aligned WRITE that reads nothing before", read: wholeWord,
			runs: loneWrites(experiment.Knobs{"workload.payload": 16}, experiment.Knobs{"workload.payload": 32}, experiment.Knobs{"workload.payload": 64}, experiment.Knobs{"workload.payload": 128})},
		{id: "t2-3-xctrl", note: "bytes of WRITEs for each write request", runs: loneWrites(experiment.Knobs{"workload.payload": 1024}),
			read: one(func(r *result.Result) float64 { return 1024 * float64(r.Commits) / float64(r.NVM.WriteReq) })},
	}
	for _, c := range nvmClaims {
		for _, id := range c.ids {
			list = append(list, measure{id: id, figure: c.figure})
		}
	}
	for _, c := range nvmGiven {
		list = append(list, measure{id: c.id, profile: "r74v", given: c.read})
	}
	return list
}

// nvmClaims are the rows that figures claim.
var nvmClaims = []claimed{
	{"2-8a", []string{"f2-8-read2048-one", "f2-8-read16-order"}},
	{"2-9a", []string{"f2-9-read2048-two", "f2-9-read16-two"}},
	{"2-10a", []string{"f2-10-write16-nvm", "f2-10-write16-frac", "f2-10-write2048-frac", "f2-10-opt16", "f2-10-opt16-frac", "f2-10-dram256", "f2-10-order"}},
	{"2-11a", []string{"f2-11-write2048-frac"}},
	{"2-12a", []string{"f2-12a-h1-before", "f2-12a-h1-after", "f2-12a-h1-ratio", "f2-12a-h5-before", "f2-12a-h5-after", "f2-12a-h5-ratio",
		"f2-12a-h6-after", "f2-12a-h6-frac", "f2-12a-h6-ratio"}},
	{"2-13a", []string{"f2-13a-h7-before", "f2-13a-h7-after", "f2-13a-h7-ratio"}},
	{"2-13b", []string{"f2-13b-h1-before", "f2-13b-h1-after", "f2-13b-h1-ratio"}},
	{"2-14a", []string{"f2-14a-drop"}},
	{"2-14b", []string{"f2-14-dimm-limit", "f2-14b-order"}},
	{"2-16a", []string{"f2-16a-ddio-on", "f2-16a-ddio-off", "f2-16-threshold"}},
	{"2-16b", []string{"f2-16b-amp"}},
	{"2-18a", []string{"f2-18a-limit"}},
	{"2-persist", []string{"s2-pwrite-naive-lat", "s2-pwrite-h9-lat"}},
	{"2-18b", []string{"f2-18b-store", "f2-18b-order"}},
	{"2-19a", []string{"f2-19-opt", "f2-19-h9", "f2-19-order"}},
}

var nvmGiven = []configured{
	// Machines are those of the runs.
	{"t2-1-r74v-nodes", func(*profile.Profile, *profile.NodeType) float64 {
		return float64(remote["servers"].(int) + remote["clients"].(int))
	}},
	{"t2-1-r74v-clients", func(*profile.Profile, *profile.NodeType) float64 { return float64(remote["clients"].(int)) }},
	{"t2-1-r74v-nvm-nodes", func(*profile.Profile, *profile.NodeType) float64 { return float64(remote["servers"].(int)) }},
	{"t2-1-r74v-cores", func(_ *profile.Profile, t *profile.NodeType) float64 { return float64(t.Cores()) }},
	{"t2-1-r74v-dram", func(_ *profile.Profile, t *profile.NodeType) float64 { return t.DRAM.Value }},
	{"t2-1-r74v-nics", func(_ *profile.Profile, t *profile.NodeType) float64 { return t.NICs.Value }},
	{"t2-1-r74v-dimms", func(p *profile.Profile, t *profile.NodeType) float64 { return t.Sockets.Value * p.NVM.DIMMs.Value }},
	{"s2-dimms-per-socket", func(p *profile.Profile, _ *profile.NodeType) float64 { return p.NVM.DIMMs.Value }},
	{"s2-nvm-read-bw", func(p *profile.Profile, _ *profile.NodeType) float64 {
		return 8 * p.NVM.DIMMs.Value * p.NVM.ReadBandwidth.Value
	}},
	{"s2-nvm-write-bw", func(p *profile.Profile, _ *profile.NodeType) float64 {
		return 8 * p.NVM.DIMMs.Value * p.NVM.WriteBandwidth.Value
	}},
	{"s2-dimm-interleave", func(p *profile.Profile, _ *profile.NodeType) float64 { return p.NVM.Interleave.Value }},
	{"t2-3-3dxp", func(p *profile.Profile, _ *profile.NodeType) float64 { return p.NVM.XLine.Value }},
	{"s2-nextgen-nvm-bw", func(*profile.Profile, *profile.NodeType) float64 {
		const first = 1 << 30
		return 100 * (float64(nvm.Config{MediaWriteBytesPerSec: first}.NextGeneration().MediaWriteBytesPerSec)/first - 1)
	}},
}

// remote is the cluster of the remote accesses of §2.3.3 at full load.
var remote = experiment.Knobs{"profile": "r74v", "servers": 1, "clients": 6, "server.threads": 20, "client.threads": 24, "check": "off",
	"warmup_ns": 600_000, "duration_ns": 300_000}

// small is the WRITE of 16 bytes of figure 2-10.
var small = experiment.Knobs{"coroutines": 12, "workload.payload": 16, "workload.keys": 1_000_000}

// calls are RPCs with DDIO on or off, for there the server's cores read what the
// RNIC has written.
func calls(ddio ...bool) []experiment.Spec {
	var out []experiment.Spec
	for _, on := range ddio {
		out = append(out, spec("micro-rpc", remote, experiment.Knobs{"coroutines": 4, "workload.payload": 8, "ddio": on, "opt.micro.db": false}))
	}
	return out
}

// perSocket is millions of requests per second and socket of the server.
func perSocket(r *result.Result) float64 { return r.Throughput / 2 / 1e6 }

// loneClient is one client with one request at a time to NVM.
var loneClient = experiment.Knobs{"profile": "r74v", "servers": 1, "clients": 1, "server.threads": 2, "client.threads": 1, "coroutines": 1,
	"workload.payload": 64, "warmup_ns": 50_000, "duration_ns": 200_000}

// loneWrites are writes past the cache, once for each of the sets.
func loneWrites(sets ...experiment.Knobs) []experiment.Spec {
	var out []experiment.Spec
	for _, set := range sets {
		out = append(out, spec("micro-write", loneClient, experiment.Knobs{"nvm.h1": true, "nvm.h3": true}, set))
	}
	return out
}

// average is the mean latency of runs of equal weight.
func average(rs []*result.Result) float64 {
	sum := 0.0
	for _, r := range rs {
		sum += meanLatency(r)
	}
	return sum / float64(len(rs))
}

// wholeWord is the smallest payload of the runs at which the NVM was not read.
func wholeWord(rs []*result.Result) float64 {
	for _, r := range rs {
		if n, _ := r.Spec["workload.payload"].(int); r.NVM.ReadReq == 0 {
			return float64(n)
		}
	}
	return 0
}
