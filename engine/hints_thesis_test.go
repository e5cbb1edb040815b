package engine

import (
	"fmt"
	"testing"

	"drtmx/engine/experiment"
	"drtmx/engine/knob"
	"drtmx/engine/result"
)

// §2.3.4.2 H4: large stores go past the cache, which would let their lines go one by
// one. Ablation: media that write 64 bytes have no use for order.
func TestThesisLargeStores(t *testing.T) {
	gain := func(change map[string]float64) float64 {
		k := experiment.Knobs{"workload.primitive": "two-sided", "workload.copy": "store", "workload.payload": 2048, "workload.keys": 60_000, "opt.micro.db": false}
		stored := remote(t, k, change)
		k["nvm.h4"] = true
		return remote(t, k, change).Throughput / stored.Throughput
	}
	between(t, "ntstore against store", gain(nil), 3, 7)
	between(t, "media of 64 bytes: ntstore against store", gain(map[string]float64{"nvm.xline": 64}), .8, 2)
}

// §2.3.4.2 H5: whole XLines are written without reading the rest. Ablation: media
// that write 64 bytes do not read, and padding costs its bytes.
func TestThesisWholeXLines(t *testing.T) {
	gain := func(change map[string]float64) float64 {
		k := experiment.Knobs{"workload.payload": 64, "ddio": false}
		plain := remote(t, k, change)
		k["nvm.h5"] = true
		return remote(t, k, change).Throughput / plain.Throughput
	}
	narrow := map[string]float64{"nvm.write_bandwidth": 0.8} // so that the media are what limits
	between(t, "256 bytes against 64", gain(narrow), .98, 1.2)
	narrow["nvm.xline"] = 64
	between(t, "media of 64 bytes: 256 bytes against 64", gain(narrow), .2, .4)
}

// §2.3.4.2 H8: atomics read and write. In DRAM they meet a device that does both at
// once. Ablation: none is needed, the memory is the mechanism.
func TestThesisAtomicsInDRAM(t *testing.T) {
	at := func(set experiment.Knobs) *result.Result {
		k := experiment.Knobs{"workload": "micro-atomic", "workload.payload": 8, "client.threads": 1, "coroutines": 1}
		for name, v := range set { // order-free: fills a map
			k[name] = v
		}
		return remote(t, k, nil)
	}
	there, moved := at(nil), at(experiment.Knobs{"nvm.h8": true})
	if there.NVM.ReadReq == 0 || moved.NVM != nil && moved.NVM.ReadReq != 0 {
		t.Errorf("reads of NVM: %+v, with H8 %+v", there.NVM, moved.NVM)
	}
	between(t, "latency with H8 against without", moved.LatencyUS.P50/there.LatencyUS.P50, .5, .97) // of one alone: of many the atomic unit is what limits
}

// Every hint can be switched while the system runs, H8 by words in the other memory.
func TestHintsAreLive(t *testing.T) {
	for n := range 9 {
		if h := fmt.Sprintf("nvm.h%d", n+1); !knob.Find(h).Live {
			t.Errorf("%s is not live", h)
		}
	}
	spec, err := experiment.LoadSpec("nvm")
	if err != nil {
		t.Fatal(err)
	}
	if spec, err = spec.With(experiment.Knobs{"workload": "micro-atomic", "client.threads": 1, "coroutines": 1, "nvm.durability": false}); err != nil {
		t.Fatal(err)
	}
	s, err := Open(spec)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, moved := range []bool{false, true, false} {
		if _, err := s.Set(experiment.Knobs{"nvm.h8": moved}, "test"); err != nil {
			t.Fatal(err)
		}
		s.Advance(50_000)
		s.Mark()
		s.Advance(50_000)
		if r := s.Result(); r.Commits == 0 || (r.NVM != nil && r.NVM.ReadReq != 0) == moved {
			t.Errorf("H8 %v: %d atomics, NVM %+v", moved, r.Commits, r.NVM)
		}
	}
}

// §2.3.4.3 H9: a persistent write takes one round trip, not two.
func TestThesisOneRoundTrip(t *testing.T) {
	k := experiment.Knobs{"workload.payload": 64, "clients": 1, "client.threads": 1, "coroutines": 1, "nvm.h3": true, "nvm.persist": true}
	two := remote(t, k, nil)
	k["nvm.h9"] = true
	one := remote(t, k, nil)
	k["nvm.persist"], k["nvm.h9"] = false, false
	lone := remote(t, k, nil).LatencyUS.Mean
	between(t, "a WRITE and its READ, one behind the other", two.LatencyUS.Mean, lone+1.7, lone+2.4)
	between(t, "in one list", one.LatencyUS.Mean, .65*two.LatencyUS.Mean, .85*two.LatencyUS.Mean)
}
