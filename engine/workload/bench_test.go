package workload_test

import (
	"testing"

	"drtmx/engine/history"
	"drtmx/engine/protocol/nowait"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/protocol/twopl"
	"drtmx/engine/sim"
	"drtmx/engine/sim/cputime"
	"drtmx/engine/txn"
	"drtmx/engine/workload/smallbank"
	"drtmx/engine/workload/workloadtest"
)

// BenchmarkSmallBank reports commits per second of wall time on a cluster of 16
// machines with 24 threads of 8 coroutines, and on one of 4 with 8.
func BenchmarkSmallBank(b *testing.B) {
	optimistic, _ := occ.Preset("drtm+h")
	locking := nowait.Default()
	locking.Speculative, locking.Opt[txn.Commit].Passive = true, true
	shared := locking
	shared.Mode = nowait.Shared
	queues := twopl.Default()
	queues.Speculative, queues.Opt[txn.Commit].Passive = true, true
	for _, c := range []struct {
		name     string
		cfg      txn.Config
		machines int
		threads  int
		mode     history.Mode
	}{
		{"sampled", optimistic, 16, 24, history.Sampled}, {"full", optimistic, 16, 24, history.Full},
		{"small-sampled", optimistic, 4, 8, history.Sampled}, {"small-off", optimistic, 4, 8, history.Off},
		{"small-nowait", locking, 4, 8, history.Sampled}, {"small-nowait-shared", shared, 4, 8, history.Sampled},
		{"small-2pl", queues, 4, 8, history.Sampled},
	} {
		b.Run(c.name, func(b *testing.B) {
			w, err := smallbank.New(smallbank.Options{Accounts: 1_000})
			if err != nil {
				b.Fatal(err)
			}
			bed := workloadtest.New(b, workloadtest.Setup{Machines: c.machines, Threads: c.threads, Coroutines: 8, Seed: 1, Txn: c.cfg, Mode: c.mode}, w)
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
