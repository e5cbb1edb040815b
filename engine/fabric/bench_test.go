package fabric

import (
	"testing"

	"drtmx/engine/sim"
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

func benchmark(b *testing.B, o bedOptions, clients int, next func(w *bedWorker, id uint64)) {
	bed := newBed(b, o)
	bed.start(clients, next, nil)
	bed.run(50 * sim.Microsecond)
	b.ReportAllocs()
	b.ResetTimer()
	from, events, cpu := bed.done, bed.sim.Events(), cpuTime()
	for bed.done-from < uint64(b.N) {
		bed.run(1 * sim.Microsecond)
	}
	n := float64(bed.done - from)
	b.ReportMetric(float64((cpuTime()-cpu).Nanoseconds())/n, "cpu-ns/verb")
	b.ReportMetric(float64(bed.sim.Events()-events)/n, "events/verb")
}
