package fabric

import (
	"testing"

	"drtmx/engine/sim"
)

// BenchmarkRead is the READ 64 B model: 16 nodes x 24 threads x 12 clients. An
// operation is one verb.
func BenchmarkRead(b *testing.B) { benchmark(b, 12, oneSided(Read, 64, 64)) }

func BenchmarkWrite(b *testing.B)  { benchmark(b, 12, oneSided(Write, 64, 64)) }
func BenchmarkAtomic(b *testing.B) { benchmark(b, 12, oneSided(CompareSwap, 8, 64)) }

func benchmark(b *testing.B, clients int, next func(w *bedWorker, id uint64)) {
	bed := newBed(b, bedOptions{machines: 16, threads: 24, span: 64 << 20, config: Config{TornReads: true}})
	bed.start(clients, next, nil)
	bed.run(50 * sim.Microsecond)
	b.ReportAllocs()
	b.ResetTimer()
	from, events := bed.done, bed.sim.Events()
	for bed.done-from < uint64(b.N) {
		bed.run(1 * sim.Microsecond)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(bed.done-from), "ns/verb")
	b.ReportMetric(float64(bed.sim.Events()-events)/float64(bed.done-from), "events/verb")
}
