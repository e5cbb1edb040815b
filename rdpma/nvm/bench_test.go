package nvm

import (
	"testing"

	"drtmx/engine/sim"
)

// bench runs one kind of request at a pace that the device can follow.
func bench(b *testing.B, every sim.Time, write bool, line func(i int) uint64) {
	d := newDevice(b, optane())
	lines := make([]uint64, 1<<16)
	for i := range lines {
		lines[i] = line(i)
	}
	var at sim.Time
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		at += every
		if l := lines[i&(1<<16-1)]; write {
			at = d.Write(at, l)
		} else {
			d.Read(at, l)
		}
	}
}

func BenchmarkWriteRandom(b *testing.B)      { bench(b, 20_000, true, randomLine()) }
func BenchmarkWriteRandomXLine(b *testing.B) { bench(b, 5_000, true, randomXLine()) }
func BenchmarkWriteSequential(b *testing.B)  { bench(b, 5_000, true, sequential) }
func BenchmarkReadRandom(b *testing.B)       { bench(b, 7_000, false, randomLine()) }
func BenchmarkReadSequential(b *testing.B)   { bench(b, 2_000, false, sequential) }
func BenchmarkReadHit(b *testing.B) {
	bench(b, 2_000, false, func(i int) uint64 { return uint64(i % 64) })
}
