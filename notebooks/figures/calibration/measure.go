package calibration

import (
	"fmt"

	"drtmx/engine"
	"drtmx/engine/fabric"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
)

// measure is how a row is measured: by one of its fields.
type measure struct {
	id       string
	required bool
	note     string

	// A run, and the number read from its result.
	spec engine.Spec
	read func(r *engine.Result) float64

	// A figure that claims it.
	figure string

	// The hardware model itself.
	probe func() (float64, error)
}

// The system of the peaks: VAL as in the thesis.
const (
	nodes   = 16
	threads = 24
)

// measures are the rows that exist in this version.
func measures() []measure {
	return append(valMeasures(), nvmMeasures()...)
}

// valMeasures are the rows of §2.2, on VAL.
func valMeasures() []measure {
	return []measure{
		peak("f2-4a-read-peak", "micro-read", 64),
		peak("f2-4a-write-peak", "micro-write", 64),
		peak("f2-4-atomic-peak", "micro-atomic", 8),
		peak("f2-2b-ud-rpc-peak", "micro-rpc", 8),
		{id: "s2-rdma-lat", required: true, note: "a lone READ of 64 bytes", spec: lone(), read: func(r *engine.Result) float64 { return r.LatencyUS.Mean }},
		{id: "s2-pcie-lat", note: "all crossings of a lone READ", spec: lone(), read: func(r *engine.Result) float64 {
			return 1000 * r.LatencyUS.Mean * (r.Milestones["doorbell"].Share + r.Milestones["pcie"].Share)
		}},
		{id: "s2-dram-read-lat", note: "on VAL; measured on R74V", probe: dramLatency},
		{id: "f2-4a-read-small", figure: "2-4a"},
		{id: "f2-4a-read-large", figure: "2-4a"},
		{id: "f2-4a-write-large", figure: "2-4a"},
		{id: "f2-4a-write-vs-read", figure: "2-4a", required: true},
		{id: "f2-4a-order", figure: "2-4a", required: true},
		{id: "f2-2a-shared-drop", figure: "2-2a"},
		{id: "f2-2a-order", figure: "2-2a", required: true},
		{id: "f2-2a-mlx4-dedicated", required: true, probe: val(func(p *fabric.Profile, _ *fabric.NodeType) float64 { return p.NIC.MMIODedicated.Value })},
		{id: "f2-2a-mlx4-shared", required: true, probe: val(func(p *fabric.Profile, _ *fabric.NodeType) float64 { return p.NIC.MMIOShared.Value })},
		{id: "f2-2a-ctx-limit", required: true, probe: val(func(p *fabric.Profile, _ *fabric.NodeType) float64 {
			return p.NIC.MMIODedicated.Value + p.NIC.MMIOShared.Value
		})},
		{id: "s2-rpc-write-peak", figure: "2-2b", required: true},
		{id: "f2-2b-order", figure: "2-2b", required: true},
		{id: "s2-mmio-order", figure: "2-5a", required: true},
		{id: "f2-4-atomic-payload", required: true, probe: atomicBytes},
		{id: "f2-4b-crossover", figure: "2-4b", required: true},
		{id: "f2-4b-knee", figure: "2-4b", required: true},
		{id: "f2-4b-order", figure: "2-4b", required: true},
		{id: "f2-4b-qps-per-nic", required: true, probe: connections},
		{id: "f2-5-co-one", figure: "2-5a", required: true},
		{id: "f2-5-co-two", figure: "2-5a", required: true},
		{id: "f2-5-or-order", figure: "2-5a", required: true},
		{id: "f2-5-db-order", figure: "2-5a"},
		{id: "f2-5a-reads-peak", figure: "2-5a", required: true},
		{id: "f2-5b-pa-one", figure: "2-5b"},
		{id: "f2-5b-pa-two", figure: "2-5b"},
		{id: "f2-5b-pa-order", figure: "2-5b"},
		{id: "t2-1-val-nodes", required: true, note: "of the runs of these rows", probe: func() (float64, error) { return nodes, nil }},
		{id: "t2-1-val-cores", required: true, probe: val(func(_ *fabric.Profile, t *fabric.NodeType) float64 { return float64(t.Cores()) })},
		{id: "t2-1-val-dram", required: true, probe: val(func(_ *fabric.Profile, t *fabric.NodeType) float64 { return t.DRAM.Value })},
		{id: "t2-1-val-nics", required: true, probe: val(func(_ *fabric.Profile, t *fabric.NodeType) float64 { return t.NICs.Value })},
		{id: "t2-1-val-nic-bw", required: true, probe: val(func(p *fabric.Profile, _ *fabric.NodeType) float64 { return 8 * p.Wire.Bandwidth.Value })},
		{id: "s2-rdma-bw", required: true, probe: val(func(p *fabric.Profile, _ *fabric.NodeType) float64 { return 8 * p.Wire.Bandwidth.Value })},
		{id: "t2-2-rc", required: true, probe: classes(fabric.RC)},
		{id: "t2-2-uc", required: true, probe: classes(fabric.UC)},
		{id: "t2-2-ud", required: true, probe: classes(fabric.UD)},
	}
}

// peak is a row of millions of requests per second and machine, when every
// thread of the cluster keeps sixteen under way.
func peak(id, workload string, payload int) measure {
	return measure{id: id, required: true, spec: engine.Spec{Workload: workload, Set: engine.Knobs{
		"nodes": nodes, "threads": threads, "coroutines": 16, "workload.payload": payload,
		"warmup_ns": 50_000, "duration_ns": 60_000,
	}}, read: func(r *engine.Result) float64 { return r.Throughput / nodes / 1e6 }}
}

// lone is one client that reads and nobody else.
func lone() engine.Spec {
	return engine.Spec{Workload: "micro-read", Set: engine.Knobs{
		"nodes": 2, "threads": 1, "coroutines": 1, "workload.payload": 64,
		"warmup_ns": 50_000, "duration_ns": 100_000,
	}}
}

// number is read from a profile and the node type of the same name.
type number func(p *fabric.Profile, t *fabric.NodeType) float64

func val(read number) func() (float64, error) { return read.of("val") }

func (read number) of(name string) func() (float64, error) {
	return func() (float64, error) {
		p, err := fabric.LoadProfile(name)
		if err != nil {
			return 0, err
		}
		t, err := p.NodeType(name)
		if err != nil {
			return 0, err
		}
		return read(p, t), nil
	}
}

// classes counts what a transport supports of SEND/RECV, WRITE, READ/ATOMIC.
func classes(t fabric.Transport) func() (float64, error) {
	return func() (float64, error) {
		n := 0.0
		for _, class := range [][]fabric.Opcode{{fabric.Send}, {fabric.Write}, {fabric.Read, fabric.CompareSwap, fabric.FetchAdd}} {
			all := true
			for _, op := range class {
				all = all && t.Allows(op)
			}
			if all {
				n++
			}
		}
		return n, nil
	}
}

// ask measures something on machines of its own.
func ask(machines int, what func(s *sim.Sim, f *fabric.Fabric) (float64, error)) (x float64, err error) {
	s := sim.New(sim.Options{Seed: 1})
	defer s.Close()
	f, err := fabric.New(s, fabric.Config{Machines: machines})
	if err != nil {
		return 0, err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	return what(s, f)
}

// atomicBytes is how many bytes a FETCH-AND-ADD that asks for 64 moves.
func atomicBytes() (float64, error) {
	return ask(2, func(s *sim.Sim, f *fabric.Fabric) (float64, error) {
		var ends [2]*fabric.QP
		var words [2]fabric.MR
		cq := f.Machine(0).NICs[0].CreateCQ(1)
		for m := range ends {
			mem := f.Machine(m).Mem
			a, err := mem.Alloc(fabric.Alloc{Name: "word", Bytes: 64})
			if err != nil {
				return 0, fmt.Errorf("memory for an atomic: %w", err)
			}
			words[m] = mem.Register(a, 64, fabric.LocalWrite|fabric.RemoteAtomic)
			if ends[m], err = f.Machine(m).NICs[0].CreateQP(fabric.QPConfig{Transport: fabric.RC, SendCQ: cq}); err != nil {
				return 0, err
			}
		}
		if err := fabric.Connect(ends[0], ends[1]); err != nil {
			return 0, err
		}
		if err := ends[0].PostSend(0, []fabric.SendWR{{Op: fabric.FetchAdd, Signaled: true, Local: words[0].Addr, LKey: words[0].LKey, Len: 64,
			Remote: words[1].Addr, RKey: words[1].RKey, Swap: 1}}); err != nil {
			return 0, err
		}
		if err := s.Run(10 * sim.Microsecond); err != nil {
			return 0, err
		}
		var out [1]fabric.CQE
		if cq.Poll(out[:]) != 1 || out[0].Status != fabric.Success {
			return 0, fmt.Errorf("an atomic did not complete: %v", out[0].Status)
		}
		return float64(out[0].Bytes), nil
	})
}

// connections is the number of RC queue pairs of an RNIC in the emulated cluster
// of 80 machines.
func connections() (float64, error) {
	return ask(nodes, func(s *sim.Sim, f *fabric.Fabric) (float64, error) {
		cl, err := r2.New(s, f, r2.Config{Threads: threads, EmulatedNodes: 80})
		if err != nil {
			return 0, err
		}
		return float64(cl.Connections(0, 0)), nil
	})
}

// dramLatency is the mean time in nanoseconds of a core's loads that miss the
// LLC, with warm translations, from its own socket's memory, one after the other.
func dramLatency() (float64, error) {
	const region, stride, loads = 128 << 20, 4096 + 64, 10_000
	return ask(1, func(s *sim.Sim, f *fabric.Fabric) (float64, error) {
		m := f.Machine(0)
		base, err := m.Mem.Alloc(fabric.Alloc{Name: "chase", Bytes: region})
		if err != nil {
			return 0, fmt.Errorf("memory for loads: %w", err)
		}
		for page := fabric.Addr(0); page < region; page += 2 << 20 {
			m.Access(0, s.Now(), base+page, 8, fabric.Load)
		}
		now := s.Now()
		for i := range fabric.Addr(loads) {
			if err := s.Run(now); err != nil {
				return 0, err
			}
			now += m.Access(0, now, base+64+i*stride%(region-stride), 8, fabric.Load)
		}
		return float64(now) / loads / float64(sim.Nanosecond), nil
	})
}
