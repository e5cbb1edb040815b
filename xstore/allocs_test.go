package xstore

import (
	"runtime"
	"testing"

	"drtmx/engine/r2"
)

// Requests allocate nothing once buffers have their sizes, whether keys are words or have lengths of their own and share hashes.
func TestRequestsAllocateNothing(t *testing.T) {
	for _, real := range []bool{false, true} {
		b := newBed(t, 1, 1, 1, 1)
		if real {
			b.real = names
		}
		b.open(300, 8, Options{SubModels: 10, HashBits: 7})
		var n [2]float64
		const requests = 2000
		b.run(b.spawn(1, 0, func(c *r2.Co) {
			kv, value := b.x.Client(c), make([]byte, 8)
			for i := range n {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				for k := range uint64(requests) {
					c.Reset()
					key := 10 * (1 + k*7%300)
					for _, call := range []func(uint64, []byte) (bool, error){kv.Get, kv.Update} {
						if ok, err := call(key, value); !ok || err != nil {
							t.Errorf("key %d: %v, %v", key, ok, err)
						}
					}
				}
				runtime.ReadMemStats(&after)
				n[i] = float64(after.Mallocs-before.Mallocs) / requests
			}
		}))
		if n[1] > 0.05 {
			t.Errorf("real keys %v: %.2f allocations for a GET and an UPDATE", real, n[1])
		}
		t.Logf("real keys %v: %.3f allocations for a GET and an UPDATE, %.3f at the start", real, n[1], n[0])
		b.close()
	}
}
