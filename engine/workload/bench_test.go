package workload_test

import (
	"testing"

	"drtmx/engine/history"
	"drtmx/engine/occ"
	"drtmx/engine/sim"
	"drtmx/engine/sim/cputime"
	"drtmx/engine/workload/smallbank"
	"drtmx/engine/workload/workloadtest"
)

// BenchmarkSmallBank reports commits per second of wall time on a cluster of 16
// machines with 24 threads of 8 coroutines, and on one of 4 with 8.
func BenchmarkSmallBank(b *testing.B) {
	for _, c := range []struct {
		name     string
		machines int
		threads  int
		mode     history.Mode
	}{
		{"sampled", 16, 24, history.Sampled}, {"full", 16, 24, history.Full},
		{"small-sampled", 4, 8, history.Sampled}, {"small-off", 4, 8, history.Off},
	} {
		b.Run(c.name, func(b *testing.B) {
			cfg, _ := occ.Preset("drtm+h")
			w, err := smallbank.New(smallbank.Options{Accounts: 1_000})
			if err != nil {
				b.Fatal(err)
			}
			bed := workloadtest.New(b, workloadtest.Setup{Machines: c.machines, Threads: c.threads, Coroutines: 8, Seed: 1, Txn: cfg, Mode: c.mode}, w)
			defer bed.Close()
			if err := bed.Run(100 * sim.Microsecond); err != nil {
				b.Fatal(err)
			}
			before, events := bed.Commits, bed.Sim.Events()
			b.ReportAllocs()
			b.ResetTimer()
			start := cputime.Now()
			for range b.N {
				if err := bed.Run(100 * sim.Microsecond); err != nil {
					b.Fatal(err)
				}
			}
			n := float64(bed.Commits - before)
			b.ReportMetric(n/(cputime.Now()-start).Seconds(), "commits/cpu-s")
			b.ReportMetric(float64(bed.Sim.Events()-events)/n, "events/commit")
			b.ReportMetric(n/float64(b.N)*10_000/1e6, "Mcommits/virtual-s")
		})
	}
}
