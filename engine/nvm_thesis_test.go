package engine

import (
	"context"
	"fmt"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/result"
	"drtmx/rdpma/nvm"
)

// remote runs a micro-benchmark on the NVM of R74V, on hardware that a test may
// change: what an effect needs is taken away and the effect has to go.
func remote(t *testing.T, set experiment.Knobs, change map[string]float64) *result.Result {
	t.Helper()
	spec, err := experiment.LoadSpec("nvm")
	if err != nil {
		t.Fatal(err)
	}
	k := experiment.Knobs{"check": "off", "warmup_ns": 500_000, "duration_ns": 100_000, "nvm.durability": false}
	for name, x := range set { // order-free: fills a map
		k[name] = x
	}
	if w, ok := k["workload"]; ok {
		spec.Workload = w.(string)
		delete(k, "workload")
	}
	if spec, err = spec.With(k); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load("r74v")
	if err != nil {
		t.Fatal(err)
	}
	left := len(change)
	p.Each(func(name string, n *profile.Number) {
		if x, ok := change[name]; ok {
			n.Value = x
			left--
		}
	})
	if left != 0 {
		t.Fatalf("%v: not all in the profile", change)
	}
	r, err := Run(context.Background(), spec.On(p), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// perSocket is millions of requests per second on each of the server's sockets.
func perSocket(r *result.Result) float64 { return r.Throughput / 2e6 }

func between(t *testing.T, what string, x, low, high float64) {
	t.Helper()
	if x < low || x > high {
		t.Errorf("%s is %.3g, not in %.3g .. %.3g", what, x, low, high)
	}
}

// §2.3.2.1: random requests of 64 bytes write 256 each, requests of 256 do not.
// Ablation: media that write 64 bytes.
func TestThesisAmplificationByPayload(t *testing.T) {
	small := experiment.Knobs{"workload.payload": 64, "ddio": false}
	between(t, "64 B: amplification", remote(t, small, nil).NVM.WriteAmplification, 3.9, 4.05)
	large := experiment.Knobs{"workload.payload": 256, "ddio": false, "workload.keys": 200_000}
	between(t, "256 B: amplification", remote(t, large, nil).NVM.WriteAmplification, .95, 1.05)
	between(t, "64 B, media of 64: amplification", remote(t, small, map[string]float64{"nvm.xline": 64}).NVM.WriteAmplification, .95, 1.05)
}

// §2.3.4.1 H3, figure 2-16: with DDIO the cache turns a sequence of writes into
// disorder. Ablation: media that write 64 bytes have no use for order.
func TestThesisDDIO(t *testing.T) {
	bulk := experiment.Knobs{"workload.pattern": "sequential", "workload.payload": 4096, "workload.keys": 40_000,
		"clients": 1, "client.threads": 2, "coroutines": 16, "warmup_ns": 1_500_000}
	off := experiment.Knobs{"ddio": false}
	for name, x := range bulk { // order-free: fills a map
		off[name] = x
	}
	on, without := remote(t, bulk, nil), remote(t, off, nil)
	between(t, "DDIO on: amplification", on.NVM.WriteAmplification, 1.7, 2.7)
	between(t, "DDIO off: amplification", without.NVM.WriteAmplification, .98, 1.02)
	between(t, "bandwidth with DDIO against without", on.Throughput/without.Throughput, .25, .6)
	lines := map[string]float64{"nvm.xline": 64}
	between(t, "media of 64 bytes: bandwidth with DDIO against without", remote(t, bulk, lines).Throughput/remote(t, off, lines).Throughput, .9, 1.1)
}

// §2.3.4.1 H2, figure 2-14: many cores that write to one DIMM get less out of it
// than few; RNICs do not care. Ablation: an XBuffer that holds all open XLines.
func TestThesisOneDIMM(t *testing.T) {
	write := func(threads int, change map[string]float64) float64 {
		return remote(t, experiment.Knobs{"workload.primitive": "two-sided", "workload.copy": "ntstore", "workload.payload": 2048, "workload.keys": 20_000,
			"workload.dimm": 1, "workload.socket": "first", "clients": 2, "client.threads": 20, "coroutines": 1, "server.threads": threads, "duration_ns": 400_000}, change).Throughput
	}
	between(t, "two-sided, 20 threads against 4", write(20, nil)/write(4, nil), .4, .8)
	large := map[string]float64{"nvm.xbuffer": 4096}
	between(t, "the same with a large XBuffer", write(20, large)/write(4, large), .95, 1.2)
	direct := func(clients int) float64 {
		return remote(t, experiment.Knobs{"workload.payload": 2048, "workload.keys": 20_000, "workload.dimm": 1, "workload.socket": "first", "ddio": false, "client.threads": clients, "coroutines": 2}, nil).Throughput
	}
	few, some, many := direct(1), direct(2), direct(8)
	between(t, "one-sided, 2 threads per client against 1", some/few, .98, 2.1)
	between(t, "one-sided, 8 threads per client against 2", many/some, .97, 2.1)
}

// §2.3.4.2 H6, figure 2-17: a write of less than 64 bytes reads first, and that
// costs throughput. Ablation: a root complex that merges any number at once.
func TestThesisPartialWrites(t *testing.T) {
	whole := remote(t, experiment.Knobs{"workload.payload": 64, "ddio": false}, nil)
	partial := remote(t, experiment.Knobs{"workload.payload": 16, "ddio": false}, nil)
	between(t, "reads per whole line", float64(whole.NVM.ReadReq)/float64(whole.Commits), 0, .001)
	between(t, "reads per partial line", float64(partial.NVM.ReadReq)/float64(partial.Commits), .98, 1.02)
	between(t, "whole lines: M/s per socket", perSocket(whole), 42, 54)
	between(t, "partial lines: M/s per socket", perSocket(partial), 27, 38)
	many := remote(t, experiment.Knobs{"workload.payload": 16, "ddio": false}, map[string]float64{"nvm.partial_writes": 1024})
	between(t, "any number at once: share of whole lines", many.Throughput/whole.Throughput, .9, 1.05)
}

// §2.3.4.2 H6, figure 2-18a: what begins and ends with a PCIe data word reads
// nothing, everything else reads its parts. Ablation: a root complex that never
// merges, as if memory took parts of lines.
func TestThesisAlignAndPad(t *testing.T) {
	reads := func(payload, align, pad int, change map[string]float64) float64 {
		r := remote(t, experiment.Knobs{"workload.payload": payload, "workload.align": align, "workload.pad": pad, "ddio": false,
			"workload.keys": 1_000_000 * 64 / max(payload, 64)}, change)
		return float64(r.NVM.ReadReq) / float64(r.NVM.WriteReq)
	}
	none := map[string]float64{"nvm.partial_writes": 0}
	for _, x := range []struct {
		payload, align, pad int
		want                float64 // partial lines among those that a write touches
	}{
		{16, 1, 1, 1}, {16, 64, 1, 1}, {16, 64, 64, 0},
		{64, 1, 1, 126. / 127}, {64, 64, 1, 0},
		{96, 1, 1, 126. / 158}, {96, 64, 1, .5}, {96, 64, 64, 0},
		{256, 1, 1, 126. / 319}, {256, 64, 1, 0},
	} {
		got := reads(x.payload, x.align, x.pad, nil)
		between(t, fmt.Sprintf("%+v: reads per write", x), got, x.want-.015, x.want+.015)
		if x.want > 0 {
			between(t, fmt.Sprintf("%+v, nothing merged: reads per write", x), reads(x.payload, x.align, x.pad, none), 0, 1e-9)
		}
	}
}

// §2.3.4.2 H7, figure 2-18: a core that stores reads every line first, whatever its
// size; non-temporal stores of whole lines read nothing.
func TestThesisStoresRead(t *testing.T) {
	for _, x := range []struct {
		copy        string
		payload     int
		least, most float64
	}{{"store", 16, .7, 1.05}, {"store", 256, 2.8, 4.1}, {"ntstore", 64, 0, .001}, {"ntstore", 16, .95, 1.05}} {
		r := remote(t, experiment.Knobs{"workload.primitive": "two-sided", "workload.copy": x.copy, "workload.payload": x.payload,
			"workload.keys": 1_000_000 * 64 / max(x.payload, 64)}, nil)
		between(t, x.copy+": reads per request", float64(r.NVM.ReadReq)/float64(r.Commits), x.least, x.most)
	}
}

// §2.3.4.1 H1: memory of the other socket is slower to write. Ablation: without
// the directory in memory nothing is written twice, and the rest is latency.
func TestThesisCrossSocket(t *testing.T) {
	at := func(socket string, change map[string]float64) *result.Result {
		return remote(t, experiment.Knobs{"workload.payload": 16, "workload.socket": socket, "warmup_ns": 3_000_000}, change)
	}
	own, other := at("own", nil), at("other", nil)
	between(t, "other socket against own", other.Throughput/own.Throughput, .4, .8)
	between(t, "other socket: writes per request", float64(other.NVM.WriteReq)/float64(other.Commits), 1.7, 2.05)
	plain := map[string]float64{"nvm.directory": 0}
	bare := at("other", plain)
	between(t, "no directory: writes per request", float64(bare.NVM.WriteReq)/float64(bare.Commits), .8, 1.02)
	none := map[string]float64{"nvm.directory": 0, "memory.cross_socket": 0, "nvm.interconnect": 100_000}
	between(t, "no way between sockets: other against own", at("other", none).Throughput/at("own", none).Throughput, .97, 1.03)
}

// §2.3.3, figures 2-8 and 2-9: RNICs read NVM as fast as DRAM, cores that read
// little at a time do not.
func TestThesisReads(t *testing.T) {
	ratio := func(primitive string, payload int) float64 {
		k := experiment.Knobs{"workload": "micro-read", "workload.primitive": primitive, "workload.copy": "store", "workload.payload": payload,
			"workload.keys": 4_000_000 * 16 / max(payload, 64), "client.threads": 16, "opt.micro.db": false, "warmup_ns": 100_000}
		there := remote(t, k, nil)
		k["nvm.enabled"] = false
		return there.Throughput / remote(t, k, nil).Throughput
	}
	between(t, "one-sided, 2 KB", ratio("one-sided", 2048), .95, 1.01)
	between(t, "one-sided, 16 B", ratio("one-sided", 16), .9, 1.01)
	between(t, "two-sided, 2 KB", ratio("two-sided", 2048), .8, 1.01)
	between(t, "two-sided, 16 B", ratio("two-sided", 16), .5, .7)
}

// §2.3.4.1: without DDIO the server's cores fetch completions and messages from
// memory.
func TestThesisDDIOTwoSided(t *testing.T) {
	k := experiment.Knobs{"workload.primitive": "two-sided", "workload.payload": 16, "client.threads": 16, "warmup_ns": 100_000}
	on := remote(t, k, nil)
	k["ddio"] = false
	between(t, "two-sided without DDIO against with", remote(t, k, nil).Throughput/on.Throughput, .35, .65)
}

// The digest of a run on NVM depends on its spec alone, and live knobs act.
func TestNVMKnobsAreLive(t *testing.T) {
	run := func() string {
		spec, err := experiment.LoadSpec("nvm")
		if err != nil {
			t.Fatal(err)
		}
		if spec, err = spec.With(experiment.Knobs{"nvm.durability": false}); err != nil {
			t.Fatal(err)
		}
		s, err := Open(spec)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, k := range []experiment.Knobs{{"workload.payload": 256}, {"nvm.ddio": false}, {"workload.dimm": 3}, {"workload.socket": "any"},
			{"workload.pattern": "sequential"}, {"nvm.enabled": false}, {"nvm.enabled": true, "workload.dimm": 0, "workload.payload": 8}} {
			if _, err := s.Set(k, "test"); err != nil {
				t.Fatal(k, err)
			}
			s.Mark()
			if err := s.Advance(50_000); err != nil {
				t.Fatal(k, err)
			}
			r := s.Result()
			if r.Commits < 100 {
				t.Errorf("%v: %d requests", k, r.Commits)
			}
			if on := s.Values()["nvm.enabled"].(bool); on && r.NVM.WriteReq == 0 {
				t.Errorf("%v: nothing written", k)
			}
		}
		if n := s.fab.OutOfOrder(); n != 0 {
			t.Errorf("%d arrivals out of order", n)
		}
		s.eachDevice(func(m, k int, d *nvm.Device) {
			if n, worst := d.OutOfOrder(); n != 0 {
				t.Errorf("device %d of machine %d: %d calls out of order, by up to %d ps", k, m, n, worst)
			}
		})
		if _, err := s.Set(experiment.Knobs{"ddio": true, "nvm.ddio": false}, ""); err == nil {
			t.Error("a knob that is given twice is accepted")
		}
		if err := s.Drain(); err != nil {
			t.Fatal(err)
		}
		return s.Digest()
	}
	if a, b := run(), run(); a != b {
		t.Errorf("digests %s and %s", a, b)
	}
}
