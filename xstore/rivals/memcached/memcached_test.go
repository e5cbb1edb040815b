package memcached

import (
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/fabric"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/engine/store"
	"drtmx/xstore/kvtest"
)

func with(global bool) kvtest.Make {
	return func(cl *r2.Cluster, s store.KVSpec) (store.KV, error) { return New(cl, s, global) }
}

func TestMap(t *testing.T)             { kvtest.Map(t, with(false), true) }
func TestMapUnderOneLock(t *testing.T) { kvtest.Map(t, with(true), true) }

func TestScatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 1<<40).Draw(t, "n")
		s := newScatter(n, rapid.Uint64().Draw(t, "part"), rapid.Uint64().Draw(t, "from"))
		i := rapid.Uint64Range(0, n-1).Draw(t, "i")
		if x := s.of(i); x >= n || s.inverse(x) != i {
			t.Fatalf("%d becomes %d of %d, and that %d", i, x, n, s.inverse(x))
		}
	})
}

// wrong runs clients on the same keys until something is wrong.
func wrong(t *testing.T, seeds uint64) string {
	return kvtest.Catch(t, func(t testing.TB) string {
		for seed := uint64(1); seed <= seeds; seed++ {
			for _, h := range []kvtest.History{{Keys: 5, Operations: 50, Bytes: 8, NoScan: true}, {Keys: 4, Operations: 50, Bytes: 100, NoScan: true}} {
				if w := h.Linear(t, with(seed%4 == 0), seed); w != "" {
					return w
				}
			}
		}
		return ""
	})
}

func TestLinearizablePerKey(t *testing.T) {
	if w := wrong(t, 12); w != "" {
		t.Error(w)
	}
}

// Without locks values are mixed up, items lost, or chains and lists torn.
func TestOperationsWithoutLocksAreCaught(t *testing.T) {
	take, give := lock, unlock
	defer func() { lock, unlock = take, give }()
	lock, unlock = func(*r2.Co, r2.Addr) {}, func(*r2.Co, r2.Addr) {}
	w := wrong(t, 40)
	if w == "" {
		t.Fatal("no seed shows that nothing is locked")
	}
	t.Log(w)
}

// A lock limits an instance: with six times the threads, clients get less than twice as much done.
func TestLocksSaturate(t *testing.T) {
	for _, global := range []bool{false, true} {
		done := func(threads int) uint64 {
			size := kvtest.Size{Machines: 3, Threads: threads, Coroutines: 8, Servers: 1}
			b := kvtest.NewBed(t, with(global), 1, size, fabric.Config{Machines: 3}, store.KVSpec{Name: "saturated", Keys: kvtest.Even{N: 1 << 20, Step: 1}, ValueBytes: 8})
			defer b.Close()
			n := uint64(0)
			for k := range 2 * threads * 8 {
				b.Spawn(1+k%2, k/2%threads, func(c *r2.Co, kv store.KVClient) {
					value := make([]byte, 8)
					for c.Now() < 200*sim.Microsecond {
						c.Reset()
						if found, err := kv.Get(c.Rand().Uint64n(1<<20), value); !found || err != nil {
							t.Error(found, err)
						}
						n++
					}
				})
			}
			b.Run()
			return n
		}
		few, many := done(4), done(24)
		t.Logf("one lock %v: %d and %d GETs", global, few, many)
		if many > 2*few {
			t.Errorf("%d GETs by 4 threads, %d by 24: the lock does not limit them", few, many)
		}
	}
}

func BenchmarkGet(b *testing.B) { kvtest.BenchGets(b, with(false)) }
