package fabric

import (
	"testing"

	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/sim"
	"drtmx/engine/sim/cputime"
)

// BenchmarkVerbs is 16 nodes x 24 threads x 12 clients, one verb per operation,
// in CPU time: READ 64 B is the model of the speed target.
func BenchmarkVerbs(b *testing.B) {
	full := bedOptions{machines: 16, threads: 24, span: 4 << 20, config: Config{TornReads: true}}
	wide := full
	wide.span = 64 << 20
	small := bedOptions{machines: 2, threads: 4, span: 16 << 10, config: Config{TornReads: true}}
	mid := bedOptions{machines: 2, threads: 24, span: 16 << 10, config: Config{TornReads: true}}
	b.Run("read-mid", func(b *testing.B) { benchmark(b, mid, 12, oneSided(Read, 64, 64)) })
	b.Run("read", func(b *testing.B) { benchmark(b, full, 12, oneSided(Read, 64, 64)) })
	b.Run("read-wide", func(b *testing.B) { benchmark(b, wide, 12, oneSided(Read, 64, 64)) })
	b.Run("read-small", func(b *testing.B) { benchmark(b, small, 4, oneSided(Read, 64, 64)) })
	b.Run("write", func(b *testing.B) { benchmark(b, full, 12, oneSided(Write, 64, 64)) })
	b.Run("atomic", func(b *testing.B) { benchmark(b, full, 12, oneSided(CompareSwap, 8, 64)) })
}

// BenchmarkNVM is WRITEs of 64 B to two machines of R74V: to DRAM, and to NVM that
// takes everything at once, so that what it costs is this package's; with and
// without keeping what a crash would leave.
func BenchmarkNVM(b *testing.B) {
	p, err := profile.Load("r74v")
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name                 string
		nvm, noDDIO, keeping bool
	}{
		{"dram", false, false, false},
		{"nvm", true, false, false}, {"nvm-keeping", true, false, true},
		{"past-cache", true, true, false}, {"past-cache-keeping", true, true, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			bed := newBed(b, bedOptions{machines: 2, threads: 20, span: 4 << 20, config: Config{Profile: p, TornReads: true, NoDDIO: c.noDDIO, Durability: c.keeping,
				NVM: func(int, int, *profile.NodeType) (host.Device, error) { return openDevice{}, nil }}})
			for m := range bed.data {
				if c.nvm {
					var mr host.MR
					bed.data[m], mr = bed.allocNVM(m, 0, 0, bed.span)
					bed.keys[m] = mr.RKey
				}
			}
			bed.measure(b, 12, oneSided(Write, 64, 64))
		})
	}
}

// openDevice takes every line when it comes.
type openDevice struct{}

func (openDevice) Read(now sim.Time, _ uint64) sim.Time  { return now + 200*sim.Nanosecond }
func (openDevice) Write(now sim.Time, _ uint64) sim.Time { return now }
func (openDevice) Room(uint64) sim.Time                  { return 0 }

func benchmark(b *testing.B, o bedOptions, clients int, next func(w *bedWorker, id uint64)) {
	newBed(b, o).measure(b, clients, next)
}

func (bed *bed) measure(b *testing.B, clients int, next func(w *bedWorker, id uint64)) {
	bed.start(clients, next, nil)
	bed.run(50 * sim.Microsecond)
	b.ReportAllocs()
	b.ResetTimer()
	from, events, cpu := bed.done, bed.sim.Events(), cputime.Now()
	for bed.done-from < uint64(b.N) {
		bed.run(1 * sim.Microsecond)
	}
	n := float64(bed.done - from)
	b.ReportMetric(float64((cputime.Now()-cpu).Nanoseconds())/n, "cpu-ns/verb")
	b.ReportMetric(float64(bed.sim.Events()-events)/n, "events/verb")
}
