package calibration

import (
	"drtmx/engine"
	"drtmx/engine/fabric"
)

// nvmMeasures are the rows of §2.3, on R74V.
func nvmMeasures() []measure {
	list := []measure{
		{id: "f2-8-read16-order", figure: "2-8a", required: true},
		{id: "f2-10-order", figure: "2-10a", required: true},
		{id: "f2-14b-order", figure: "2-14b", required: true},
		{id: "s2-onesided-lat", note: "a lone WRITE of 64 bytes to NVM", spec: loneNVM(nil), read: meanLatency},
		{id: "s2-pwrite-naive-lat", note: "WRITE, then READ", spec: loneNVM(engine.Knobs{"nvm.persist": true}), read: meanLatency},
		{id: "s2-pwrite-h9-lat", note: "WRITE and READ in one list", spec: loneNVM(engine.Knobs{"nvm.persist": true, "nvm.h9": true}), read: meanLatency},
	}
	for _, c := range nvmClaims {
		for _, id := range c.ids {
			list = append(list, measure{id: id, figure: c.figure})
		}
	}
	for _, c := range []struct {
		id   string
		read number
	}{
		{"t2-1-r74v-cores", func(_ *fabric.Profile, t *fabric.NodeType) float64 { return float64(t.Cores()) }},
		{"t2-1-r74v-dram", func(_ *fabric.Profile, t *fabric.NodeType) float64 { return t.DRAM.Value }},
		{"t2-1-r74v-nics", func(_ *fabric.Profile, t *fabric.NodeType) float64 { return t.NICs.Value }},
		{"t2-1-r74v-dimms", func(p *fabric.Profile, t *fabric.NodeType) float64 { return t.Sockets.Value * p.NVM.DIMMs.Value }},
		{"s2-dimms-per-socket", func(p *fabric.Profile, _ *fabric.NodeType) float64 { return p.NVM.DIMMs.Value }},
		{"s2-nvm-read-bw", func(p *fabric.Profile, _ *fabric.NodeType) float64 {
			return 8 * p.NVM.DIMMs.Value * p.NVM.ReadBandwidth.Value
		}},
		{"s2-nvm-write-bw", func(p *fabric.Profile, _ *fabric.NodeType) float64 {
			return 8 * p.NVM.DIMMs.Value * p.NVM.WriteBandwidth.Value
		}},
		{"s2-dimm-interleave", func(p *fabric.Profile, _ *fabric.NodeType) float64 { return p.NVM.Interleave.Value }},
		{"t2-3-3dxp", func(p *fabric.Profile, _ *fabric.NodeType) float64 { return p.NVM.XLine.Value }},
	} {
		list = append(list, measure{id: c.id, required: true, probe: c.read.of("r74v")})
	}
	return list
}

// nvmClaims are the rows that figures claim.
var nvmClaims = []struct {
	figure string
	ids    []string
}{
	{"2-8a", []string{"f2-8-read2048-one"}},
	{"2-9a", []string{"f2-9-read2048-two", "f2-9-read16-two"}},
	{"2-10a", []string{"f2-10-write16-nvm", "f2-10-write16-frac", "f2-10-write2048-frac", "f2-10-opt16", "f2-10-opt16-frac", "f2-10-dram256"}},
	{"2-11a", []string{"f2-11-write2048-frac"}},
	{"2-12a", []string{"f2-12a-h1-before", "f2-12a-h1-after", "f2-12a-h1-ratio", "f2-12a-h5-before", "f2-12a-h5-after", "f2-12a-h5-ratio",
		"f2-12a-h6-after", "f2-12a-h6-frac", "f2-12a-h6-ratio"}},
	{"2-13a", []string{"f2-13a-h7-before", "f2-13a-h7-after", "f2-13a-h7-ratio"}},
	{"2-13b", []string{"f2-13b-h1-before", "f2-13b-h1-after", "f2-13b-h1-ratio"}},
	{"2-14a", []string{"f2-14a-drop"}},
	{"2-14b", []string{"f2-14-dimm-limit"}},
	{"2-16a", []string{"f2-16a-ddio-on", "f2-16a-ddio-off"}},
	{"2-16b", []string{"f2-16b-amp"}},
}

// loneNVM is one client that writes to NVM, past the cache.
func loneNVM(set engine.Knobs) engine.Spec {
	k := engine.Knobs{"profile": "r74v", "servers": 1, "clients": 1, "server.threads": 2, "client.threads": 1, "coroutines": 1,
		"workload.payload": 64, "nvm.h1": true, "nvm.h3": true, "warmup_ns": 50_000, "duration_ns": 200_000}
	for name, v := range set { // order-free: fills a map
		k[name] = v
	}
	return engine.Spec{Workload: "micro-write", Set: k}
}

func meanLatency(r *engine.Result) float64 { return r.LatencyUS.Mean }
