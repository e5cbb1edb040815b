package workload_test

import (
	"fmt"
	"testing"

	"drtmx/engine/knob"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/timestamp"
	"drtmx/engine/workload"
	"drtmx/engine/workload/workloadtest"
)

// timestamped is OCC with timestamps of a scheme, whose switches are as said.
func timestamped(scheme string, set knob.Values) occ.Config {
	cfg, _ := occ.Preset("fasst")
	v := knob.Values{"ts.batching": false, "ts.compression": false, "ts.fetch_thread": false, "ts.stable": true, "ts.readers": false, "ts.fetch_ns": 10_000, "ts.staleness_ns": 0,
		"nodes": 4, "servers": 0, "clients": 0, "threads": 2, "oracle": true, "oracle.threads": 0}
	for name, x := range set { // order-free: fills a map
		v[name] = x
	}
	cfg.Timestamps = timestamp.Options{Scheme: scheme, DriftNS: 20_000, VersionBytes: 16 << 20, GCNS: 200_000, Values: v}
	return cfg
}

// schemes are those with an oracle, and their switches.
var schemes = []struct {
	scheme string
	set    knob.Values
}{
	{"gts", nil}, {"gts", knob.Values{"ts.batching": true}}, {"gts", knob.Values{"ts.fetch_thread": true, "ts.batching": true}}, {"gts", knob.Values{"ts.stable": false}},
	{"vts", nil}, {"vts", knob.Values{"ts.batching": true, "ts.compression": true}}, {"vts", knob.Values{"ts.fetch_thread": true}}, {"vts", knob.Values{"ts.stable": false}},
	{"vts", knob.Values{"ts.stable": false, "ts.compression": true, "ts.fetch_thread": true}}, {"truetime", nil}, {"dst", nil},
	{"vts", knob.Values{"ts.readers": true}}, {"vts", knob.Values{"ts.readers": true, "ts.batching": true, "ts.compression": true}}, {"vts", knob.Values{"ts.readers": true, "ts.fetch_thread": true}},
}

// withOracle is a small deployment, with an oracle and a thread to fetch.
func withOracle(k int) func(*workloadtest.Setup) {
	return func(s *workloadtest.Setup) {
		shapes[k%len(shapes)](s)
		s.Oracle, s.Threads, s.Emulated = true, max(s.Threads, 2), 0
	}
}

// TestSchemesAreCorrect: under contention, with losses and torn reads, histories are what each scheme claims. Vectors without readers know
// of no version that is put over what was read, so snapshots of theirs may close a cycle of two such: G2.
func TestSchemesAreCorrect(t *testing.T) {
	for i, x := range schemes {
		t.Run(fmt.Sprint(x.scheme, x.set), func(t *testing.T) {
			for k, bench := range []func(testing.TB) workload.Bench{cells, bank, ring, wide, slots} {
				w := bench(t)
				_, bad := stress(t, timestamped(x.scheme, x.set), withOracle(i+k), uint64(i+k+1), workloadtest.Effort(uint64(1000), 500), w)
				for _, text := range bad {
					t.Errorf("%s: %s", w.Name(), text)
				}
			}
		})
	}
}
