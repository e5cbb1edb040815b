package store

import "testing"

// every are the multiples of step below n*step.
type every struct{ n, step uint64 }

func (e every) Len() uint64         { return e.n }
func (e every) Key(i uint64) uint64 { return i * e.step }
func (e every) Rank(key uint64) (uint64, bool) {
	return min((key+e.step-1)/e.step, e.n), key%e.step == 0 && key/e.step < e.n
}

func TestRanges(t *testing.T) {
	equal := 0
	for _, bounds := range [][]uint64{nil, nil, nil, {}, {0}, {300}, {300, 300, 995}, {1000, 2000}, {1 << 40}} {
		servers := len(bounds) + 1
		if bounds == nil {
			equal++
			servers = equal * equal
		}
		r := RangesOf(&KVSpec{Servers: servers, Bounds: bounds, Keys: every{100, 10}})
		total, next := uint64(0), uint64(0)
		for m := range servers {
			low, high := r.Range(m)
			if low != next {
				t.Errorf("%d servers: server %d begins at %d, the one before ended at %d", servers, m, low, next-1)
			}
			next = high + 1
			keys := r.Keys(m)
			for i := range keys.Len() {
				k := keys.Key(i)
				if rank, ok := keys.Rank(k); rank != i || !ok || k < low || k > high || r.Server(k) != m {
					t.Errorf("%d servers: key %d of server %d (%d..%d) has rank %d, %v, and server %d", servers, k, m, low, high, rank, ok, r.Server(k))
				}
			}
			if rank, ok := keys.Rank(low + 1); ok || rank > 1 && bounds == nil {
				t.Errorf("%d servers: absent key %d has rank %d, %v on server %d", servers, low+1, rank, ok, m)
			}
			total += keys.Len()
		}
		if total != 100 || next != 0 {
			t.Errorf("%d servers: %d keys, and the last range ends at %d", servers, total, next-1)
		}
	}
}
