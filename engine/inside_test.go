package engine

import (
	"math"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/measure"
)

// What is told of the inside of machines agrees with what is counted elsewhere: the utilisation of
// units, the bytes that leave and arrive, the requests of the NVM.
func TestInsideAgreesWithTheResult(t *testing.T) {
	for name, spec := range map[string]experiment.Spec{
		"smallbank": small(nil),
		"nvm":       {Set: experiment.Knobs{"workload": "micro-write", "profile": "r74v", "servers": 1, "clients": 2, "threads": 4, "coroutines": 2, "workload.payload": 1024}},
	} {
		s := open(t, spec)
		advance(t, s, 200_000)
		s.Mark()
		advance(t, s, 400_000)
		r := s.Result()
		if len(r.Inside) != len(r.Nodes) {
			t.Fatalf("%s: %d of %d machines", name, len(r.Inside), len(r.Nodes))
		}
		near := func(what string, got, want float64) {
			t.Helper()
			if math.Abs(got-want) > 1e-9+0.001*want {
				t.Errorf("%s: %s is %g, want %g", name, what, got, want)
			}
		}
		out, in, nvmWrites, writes := 0.0, 0.0, 0.0, 0.0
		for m, n := range r.Inside {
			u := r.Nodes[m].Utilization
			var tx, pcie, link, dram, cpu float64
			threads := 0
			for _, x := range n.NICs {
				tx, link = max(tx, x.Send.Busy), max(link, x.Out.Busy, x.In.Busy)
				pcie = max(pcie, x.WritesToHost.Busy, x.ReadsFromHost.Busy)
				out, in, writes = out+x.Out.BytesPerSec, in+x.In.BytesPerSec, writes+x.WritesToHost.OpsPerSec
				if x.Out.BytesPerSec > 0 && x.Out.BytesPerSec/x.Out.OpsPerSec < 20 {
					t.Errorf("%s: messages of %g bytes", name, x.Out.BytesPerSec/x.Out.OpsPerSec)
				}
			}
			for _, k := range n.Sockets {
				dram = max(dram, k.DRAM.Busy)
				for _, b := range k.Threads {
					cpu += b
					threads++
				}
				if k.NVM != nil {
					nvmWrites += k.NVM.WritesPerSec
				}
			}
			near("nic_tx", tx, u["nic_tx"])
			near("link", link, u["link"])
			near("pcie", pcie, u["pcie"])
			near("memory", dram, u["memory"])
			near("cpu", cpu/float64(max(threads, 1)), u["cpu"])
		}
		if out == 0 || math.Abs(out-in) > 0.02*out {
			t.Errorf("%s: %g bytes/s leave and %g arrive", name, out, in)
		}
		if r.NVM != nil {
			near("requests of the NVM", nvmWrites, measure.PerSecond(r.NVM.WriteReq, 1000*r.VirtualNS))
		}
		if writes == 0 {
			t.Errorf("%s: no DMA writes", name)
		}
	}
}

// The inside follows the knobs: after a change it is that of windows behind it. Looking changes nothing.
func TestInsideIsOfTheLatestWindows(t *testing.T) {
	s, other := open(t, small(nil)), open(t, small(nil))
	if s.Inside() != nil {
		t.Error("something before the first window")
	}
	look := func(d int64, of int) {
		t.Helper()
		advance(t, s, d)
		advance(t, other, d)
		if n := s.Inside()[0]; n.ToNS != s.NowNS() || n.ToNS-n.FromNS != int64(of)*20_000 {
			t.Errorf("from %d to %d, at %d", n.FromNS, n.ToNS, s.NowNS())
		}
	}
	look(60_000, 3)
	look(300_000, measure.InsideOver)
	if !s.Inside()[0].Sockets[0].DDIO {
		t.Error("DDIO is off")
	}
	for _, x := range []*System{s, other} {
		if _, err := x.Set(experiment.Knobs{"ddio": false}, ""); err != nil {
			t.Fatal(err)
		}
	}
	look(80_000, 3) // of four windows: the change came before the first had begun to count
	if k := s.Inside()[0].Sockets[0]; k.DDIO || k.DDIOHits+k.DDIOMisses > 0 {
		t.Errorf("%+v", k)
	}
	if s.Digest() != other.Digest() {
		t.Error("looking inside gives another digest")
	}
}
