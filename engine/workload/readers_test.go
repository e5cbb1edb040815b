package workload_test

import (
	"fmt"
	"strings"
	"testing"

	"drtmx/dst/oracle"
	"drtmx/engine/knob"
	"drtmx/engine/protocol/twopl"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
	"drtmx/engine/workload/registers"
	"drtmx/engine/workload/workloadtest"
)

// readersHosts are the hosts of VTS, with switches.
var readersHosts = map[string]func(set knob.Values) txn.Config{
	"occ": func(set knob.Values) txn.Config { return timestamped("vts", set) },
	"2pl": func(set knob.Values) txn.Config {
		c := twopl.Default()
		c.Deadlock, c.ReadNS, c.WriteNS = twopl.WaitDie, 0, 500
		c.Timestamps = timestamped("vts", set).Timestamps
		return c
	},
}

// skew is registers of which a transaction reads some and writes one, as is needed for write skew.
func skew(t testing.TB) workload.Bench {
	return registersOf(t, registers.Options{Keys: 30, Reads: 3, Writes: 1})
}

// TestReadersMakeVectorsSerialisable: where those who overwrite depend on those who have read, histories are serialisable, whatever
// is lost on the way; where they do not, though Figure 5-4 says no more, the checker finds snapshots that close cycles of anti-dependencies.
func TestReadersMakeVectorsSerialisable(t *testing.T) {
	as := oracle.VTS
	as.ClaimOf = nil
	for host, config := range readersHosts { // order-free: each is a system of its own
		for _, readers := range []bool{true, false} {
			t.Run(fmt.Sprint(host, " readers=", readers), func(t *testing.T) {
				found := false
				for seed := uint64(0); seed < workloadtest.Effort(uint64(8), 4) && !found; seed++ {
					loss := uint32(20_000 * (seed % 3))
					_, bad := stress(t, config(knob.Values{"ts.readers": readers}), func(s *workloadtest.Setup) {
						withOracle(int(seed))(s)
						s.LossPPM, s.Schemes = loss, timestamp.Kinds{as}
					}, seed+1, 1500, skew(t))
					if found = strings.Contains(strings.Join(bad, "\n"), "G2"); len(bad) > 0 && (!found || readers) {
						t.Errorf("seed %d: %s", seed+1, bad[0])
					}
				}
				if !readers && !found {
					t.Error("no cycle was found")
				}
			})
		}
	}
}

// Records that come and go, and gaps, have readers too.
func TestReadersOfGaps(t *testing.T) {
	for host, config := range readersHosts { // order-free: each is a system of its own
		for k, bench := range []func(testing.TB) workload.Bench{slots, longSlots, bank} {
			w := bench(t)
			for seed := range uint64(3) {
				_, bad := stress(t, config(knob.Values{"ts.readers": true, "ts.compression": seed == 1}), withOracle(int(seed)+k), seed+1, 1500, w)
				if len(bad) > 0 {
					t.Errorf("%s, %s, seed %d: %s", host, w.Name(), seed+1, bad[0])
				}
				w = bench(t)
			}
		}
	}
}
