package kvtest

import (
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/r2"
	"drtmx/engine/store"
)

// BenchGets is a GET of a random one of a million keys, with eight of them under way.
func BenchGets(b *testing.B, mk Make) {
	const keys = 1 << 20
	s := Size{Machines: 2, Threads: 2, Coroutines: 4, Servers: 1}
	bed := NewBed(b, mk, 1, s, fabric.Config{Machines: 2}, store.KVSpec{Name: "bench", Keys: Even{N: keys, Step: 1}, ValueBytes: 8})
	defer bed.Close()
	left := b.N
	for k := range s.Threads * s.Coroutines {
		bed.Spawn(1, k%s.Threads, func(c *r2.Co, kv store.KVClient) {
			value := make([]byte, 8)
			for ; left > 0; left-- {
				c.Reset()
				if _, err := kv.Get(c.Rand().Uint64n(keys), value); err != nil {
					b.Error(err)
				}
			}
		})
	}
	b.ReportAllocs()
	b.ResetTimer()
	bed.Run()
}
