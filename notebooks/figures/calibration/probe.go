package calibration

import (
	"fmt"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/engine/testbed"
)

// Experiments that ask the hardware model itself, without a workload.

// ask measures something on machines of its own, all of the profile's first type.
func ask(p *profile.Profile, machines int, what func(s *sim.Sim, f *fabric.Fabric) (float64, error)) (x float64, err error) {
	s := sim.New(sim.Options{Seed: 1})
	defer s.Close()
	f, err := fabric.New(s, fabric.Config{Profile: p, Machines: machines, NVM: testbed.NVMDevices(p)})
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

// classes counts what a transport supports of SEND/RECV, WRITE, READ/ATOMIC.
func classes(t fabric.Transport) func(*profile.Profile) (float64, error) {
	return func(*profile.Profile) (float64, error) {
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

// atomicBytes is how many bytes a FETCH-AND-ADD that asks for 64 moves.
func atomicBytes(p *profile.Profile) (float64, error) {
	return ask(p, 2, func(s *sim.Sim, f *fabric.Fabric) (float64, error) {
		var ends [2]*fabric.QP
		var words [2]host.MR
		cq := f.Machine(0).NICs[0].CreateCQ(1)
		for m := range ends {
			mem := f.Machine(m).Mem
			a, err := mem.Alloc(host.Alloc{Name: "word", Bytes: 64})
			if err != nil {
				return 0, fmt.Errorf("memory for an atomic: %w", err)
			}
			words[m] = mem.Register(a, 64, host.LocalWrite|host.RemoteAtomic)
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
func connections(p *profile.Profile) (float64, error) {
	return ask(p, nodes, func(s *sim.Sim, f *fabric.Fabric) (float64, error) {
		cl, err := r2.New(s, f, r2.Config{Threads: threads, EmulatedNodes: 80})
		if err != nil {
			return 0, err
		}
		return float64(cl.Connections(0, 0)), nil
	})
}
