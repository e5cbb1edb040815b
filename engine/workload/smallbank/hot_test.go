package smallbank

import (
	"testing"

	"drtmx/engine/history"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/sim"
	"drtmx/engine/workload/workloadtest"
)

// TestHotInNameOnly: customers that get no more than their share are no more in the caches
// than others, so a location is found as often as a record has a place.
func TestHotInNameOnly(t *testing.T) {
	for _, percent := range []int{1, 4} {
		b, err := New(Options{Customers: 200_000, HotPercent: percent})
		if err != nil {
			t.Fatal(err)
		}
		cfg, _ := occ.Preset("drtm+h")
		cfg.CacheBytes = 250_000
		bed := workloadtest.New(t, workloadtest.Setup{Machines: 3, Threads: 2, Coroutines: 4, Seed: 1, Txn: cfg, Mode: history.Off}, b)
		if err := bed.Run(3 * sim.Millisecond); err != nil {
			t.Fatal(err)
		}
		remote := 2 * float64(b.Customers()) * 2 / 3
		var hits, all, places float64
		for m := range 3 {
			x := b.db.Cache(m).Stats()
			hits, all, places = hits+float64(x.Hits), all+float64(x.Hits+x.Misses), float64(x.Capacity)/remote
		}
		if found := hits / all; all < 3_000 || found < 0.8*places || found > 1.2*places {
			t.Errorf("%d %%: %.3f of %g locations are found, there are places for %.3f of them", percent, found, all, places)
		}
	}
}
