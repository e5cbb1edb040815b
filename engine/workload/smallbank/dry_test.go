package smallbank

import (
	"encoding/binary"
	"testing"

	"drtmx/engine/history"
	"drtmx/engine/sim"
	"drtmx/engine/txn"
	"drtmx/engine/workload/workloadtest"
)

// TestHotAccountsRunDry: transactions give up more and more, for the money of the hot
// customers comes together with a few of them. Little of it leaves.
func TestHotAccountsRunDry(t *testing.T) {
	b, err := New(Options{Customers: 5_000})
	if err != nil {
		t.Fatal(err)
	}
	cfg, _ := txn.Preset("drtm+h")
	const requests, coroutines, tenth = 1_000, 12, 1_200
	var given, all [10]int // up, in each tenth of the run
	n := 0
	bed := workloadtest.New(t, workloadtest.Setup{Machines: 3, Threads: 1, Coroutines: 4, Seed: 1, Txn: cfg, Mode: history.Off, Requests: requests}, b)
	bed.OnDone = func(o *txn.Outcome) {
		at := min(n/tenth, 9)
		n++
		all[at]++
		if o.RolledBack {
			given[at]++
		}
	}
	money := func() (dry int, cents int64) {
		row := make([]byte, 24)
		for i := range b.hot.Hot() {
			for _, table := range []uint8{Savings, Checking} {
				b.db.Row(table, b.hot.At(i), row)
				x := int64(binary.LittleEndian.Uint64(row[16:]))
				if cents += x; table == Checking && x < payment {
					dry++
				}
			}
		}
		return dry, cents
	}
	dry, before := money()
	if dry != 0 {
		t.Fatalf("%d hot accounts have less than a payment at the start", dry)
	}
	bed.Verdict()
	dry, after := money()
	first, last := float64(given[0])/float64(all[0]), float64(given[9])/float64(all[9])
	if n != requests*coroutines || first > last/2 || last < 0.15 || last > 0.25 {
		t.Errorf("%.3f are given up in the first tenth, %.3f in the last", first, last)
	}
	if share := float64(dry) / float64(b.hot.Hot()); share < 0.5 {
		t.Errorf("%.3f of the hot accounts have less than a payment", share)
	}
	if lost := float64(before-after) / float64(before); lost > 0.05 || lost < -0.05 {
		t.Errorf("the hot accounts lost %.3f of their money", lost)
	}
}

// TestHotInNameOnly: customers that get no more than their share are no more in the caches
// than others, so a location is found as often as a record has a place.
func TestHotInNameOnly(t *testing.T) {
	for _, percent := range []int{1, 4} {
		b, err := New(Options{Customers: 200_000, HotPercent: percent})
		if err != nil {
			t.Fatal(err)
		}
		cfg, _ := txn.Preset("drtm+h")
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
