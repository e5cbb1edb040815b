package workload_test

import (
	"testing"

	"drtmx/engine/history"
	"drtmx/engine/sim"
	"drtmx/engine/txn"
	"drtmx/engine/workload/smallbank"
)

// BenchmarkSmallBank reports commits per second of wall time on a cluster of 16
// machines with 24 threads of 8 coroutines.
func BenchmarkSmallBank(b *testing.B) {
	for _, mode := range []history.Mode{history.Sampled, history.Full} {
		b.Run(string(mode), func(b *testing.B) {
			cfg, _ := txn.Preset("drtm+h")
			w, err := smallbank.New(smallbank.Options{Accounts: 1_000})
			if err != nil {
				b.Fatal(err)
			}
			bed, err := newBed(setup{machines: 16, threads: 24, coroutines: 8, seed: 1, cfg: cfg, mode: mode}, w)
			if err != nil {
				b.Fatal(err)
			}
			defer bed.close()
			if err := bed.run(100 * sim.Microsecond); err != nil {
				b.Fatal(err)
			}
			before, events := bed.commits, bed.s.Events()
			b.ReportAllocs()
			b.ResetTimer()
			start := cpuTime()
			for range b.N {
				if err := bed.run(100 * sim.Microsecond); err != nil {
					b.Fatal(err)
				}
			}
			n := float64(bed.commits - before)
			b.ReportMetric(n/(cpuTime()-start).Seconds(), "commits/cpu-s")
			b.ReportMetric(float64(bed.s.Events()-events)/n, "events/commit")
			b.ReportMetric(n/float64(b.N)*10_000/1e6, "Mcommits/virtual-s")
		})
	}
}
