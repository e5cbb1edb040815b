package tandem_test

import (
	"math"
	"testing"

	"drtmx/engine/sim/peers/tandem"
)

// Every style must be the same network: its throughput is known exactly.
func TestThroughput(t *testing.T) {
	for _, style := range tandem.Styles {
		for _, size := range []struct{ n, k int }{{64, 8}, {4, 8}, {1, 3}, {7, 1}} {
			m := style.Make(size.n, size.k)
			m.Run(uint64(20 * size.n * size.k))
			r := m.Run(400_000)
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			want := tandem.Theory(size.n, size.k)
			// The standard error of 400,000 exponential services is 0.16 %, a
			// little more in a network; 1 % is beyond five of it.
			if got := r.Throughput(); math.Abs(got/want-1) > 0.01 {
				t.Errorf("%s with %d jobs and %d stations: throughput %.4f, theory %.4f", style.Name, size.n, size.k, got, want)
			}
			m.Close()
		}
	}
}
