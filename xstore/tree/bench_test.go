package tree

import (
	"testing"

	"drtmx/engine/r2"
)

// bench runs an operation b.N times on the server, on a tree of a million keys that has been looked up before.
func bench(b *testing.B, spare uint64, op func(tr *Tree, c *r2.Co, i uint64, value []byte)) {
	const keys = 1_000_000
	bed := newBed(b, 1, 1, 1)
	tr := bed.tree(Options{Keys: steps{keys, 1000}, ValueBytes: 8, Spare: spare})
	done := false
	bed.cl.Spawn(0, 0, func(c *r2.Co) {
		value := make([]byte, 8)
		for i := uint64(0); i < keys; i += 8 {
			tr.Get(c, (i+1)*1000, value)
		}
		b.ReportAllocs()
		b.ResetTimer()
		for i := range uint64(b.N) {
			op(tr, c, i*2654435761%keys, value)
		}
		b.StopTimer()
		done = true
	})
	for !done {
		if err := bed.s.Run(bed.s.Now() + 1_000_000_000); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	bench(b, 0, func(tr *Tree, c *r2.Co, i uint64, value []byte) { tr.Get(c, (i+1)*1000, value) })
}

func BenchmarkUpdate(b *testing.B) {
	bench(b, 0, func(tr *Tree, c *r2.Co, i uint64, value []byte) { tr.Update(c, (i+1)*1000, value) })
}

func BenchmarkInsert(b *testing.B) {
	n := uint64(0)
	bench(b, uint64(b.N), func(tr *Tree, c *r2.Co, i uint64, value []byte) {
		n++
		tr.Insert(c, (i+1)*1000+1+n%900, value)
	})
}

// BenchmarkFill is the making of a leaf and what is above it: what the first touch costs the host.
func BenchmarkFill(b *testing.B) {
	bed := newBed(b, 1, 1, 1)
	tr := bed.tree(Options{Keys: steps{100_000_000, 10}, ValueBytes: 8})
	block := make([]byte, blockBytes)
	b.ReportAllocs()
	for i := range uint64(b.N) {
		tr.fill(tr.leaves-tr.base+i%10_000_000*blockBytes, block)
	}
}
