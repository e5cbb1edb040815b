package tpcc

import (
	"strings"
	"testing"

	"drtmx/engine/protocol/occ"
	"drtmx/engine/workload/workloadtest"
)

// tiny is a company with few customers and items, so that transactions meet.
func tiny() Options {
	return Options{Warehouses: 1, Customers: 30, Items: 400, Orders: 4_000, Remotes: true, RemoteLine: 300, RemotePayment: 400, Rollbacks: 20}
}

// TestMix: all five transactions.
func TestMix(t *testing.T) {
	commits := workloadtest.Effort(uint64(2_500), 1_200)
	if testing.Short() {
		commits = 400
	}
	for i, preset := range occ.PresetNames() {
		t.Run(preset, func(t *testing.T) {
			cfg, _ := occ.Preset(preset)
			b, _ := workloadtest.Open(t, i, cfg, New, tiny())
			if bad := b.Stress(commits); len(bad) > 0 {
				t.Fatal(strings.Join(bad, "\n"))
			}
			t.Logf("%d attempts, %d commits by type %v, %d rollbacks", b.Attempts, b.Commits, b.ByType, b.Rollbacks)
			for typ, n := range b.ByType[:len(types)] {
				if n == 0 {
					t.Errorf("no %s", types[typ].Name)
				}
			}
		})
	}
}

// TestDistricts: more and fewer than the standard's.
func TestDistricts(t *testing.T) {
	cfg, _ := occ.Preset("drtm+h")
	for _, n := range []int{1, 3, 25} {
		o := tiny()
		o.Districts = n
		bed, b := workloadtest.Open(t, 0, cfg, New, o)
		if bad := bed.Stress(300); len(bad) > 0 {
			t.Errorf("%d districts: %s", n, strings.Join(bad, "\n"))
		}
		seen := map[uint64]bool{}
		b.db.EachTouched(District, func(d uint64) { seen[d] = true })
		if all := int(b.warehouses) * n; len(seen) > all || len(seen) < all/2 {
			t.Errorf("%d districts of %d in %d warehouses were written", len(seen), all, b.warehouses)
		}
		bed.Close()
	}
	for _, n := range []int{-1, MostDistricts + 1} {
		if _, err := New(Options{Districts: n}); err == nil || !strings.Contains(err.Error(), "districts") {
			t.Errorf("%d districts: %v", n, err)
		}
	}
}

// TestStockDistricts: stock-levels over so many districts that they go to other machines, under all presets; and over more than
// there are.
func TestStockDistricts(t *testing.T) {
	for i, preset := range occ.PresetNames() {
		for _, n := range []int{6, MostStockDistricts} {
			cfg, _ := occ.Preset(preset)
			o := tiny()
			o.StockDistricts, o.Districts = n, 4
			bed, b := workloadtest.Open(t, i, cfg, New, o)
			if err := b.Set("mix.stock-level", 20); err != nil {
				t.Fatal(err)
			}
			if bad := bed.Stress(60); len(bad) > 0 {
				t.Errorf("%s, %d districts: %s", preset, n, strings.Join(bad, "\n"))
			}
			if bed.ByType[stockLevel] == 0 {
				t.Errorf("%s, %d districts: no stock-level", preset, n)
			}
			t.Logf("%s, %d districts: %d attempts, %d commits by type %v", preset, n, bed.Attempts, bed.Commits, bed.ByType)
			bed.Close()
		}
	}
	for _, n := range []int{-1, MostStockDistricts + 1} {
		if _, err := New(Options{StockDistricts: n}); err == nil || !strings.Contains(err.Error(), "stock districts") {
			t.Errorf("%d districts of a stock-level: %v", n, err)
		}
	}
}

// TestNewOrderOnly: TPC-C/no under contention, with torn reads and lost
// datagrams, is strictly serialisable and consistent under every preset.
func TestNewOrderOnly(t *testing.T) {
	commits := workloadtest.Effort(uint64(3_000), 1_200)
	if testing.Short() {
		commits = 300
	}
	for _, preset := range occ.PresetNames() {
		t.Run(preset, func(t *testing.T) {
			cfg, _ := occ.Preset(preset)
			o := tiny()
			o.NewOrderOnly = true
			b, _ := workloadtest.Open(t, 0, cfg, New, o)
			if bad := b.Stress(commits); len(bad) > 0 {
				t.Fatal(strings.Join(bad, "\n"))
			}
			t.Logf("%d attempts, %d commits, %d rollbacks", b.Attempts, b.Commits, b.Rollbacks)
			if b.Attempts == b.Commits+b.Rollbacks || b.Rollbacks == 0 {
				t.Error("no attempt was aborted, or no order rolled back")
			}
		})
	}
}

// TestHashTables: with hash tables in the place of B+trees, and with customers that are looked up elsewhere each time because
// there is no location cache.
func TestHashTables(t *testing.T) {
	for _, x := range []struct {
		hash, cache bool
	}{{true, true}, {true, false}, {false, false}} {
		for i, preset := range []string{"drtm+r", "farm"} {
			cfg, _ := occ.Preset(preset)
			cfg.CacheEnabled = x.cache
			o := tiny()
			o.HashTables = x.hash
			bed, _ := workloadtest.Open(t, 2*i, cfg, New, o)
			if bad := bed.Stress(300); len(bad) > 0 {
				t.Errorf("%s, %+v: %s", preset, x, strings.Join(bad, "\n"))
			}
			bed.Close()
		}
	}
}

// TestByPart: a part's rows follow each other, and those that a server has from the start are numbered in that order.
func TestByPart(t *testing.T) {
	const parts, each, from, n, rows = 3, 2, 1, 4, 7
	o, seen := byPart(parts, each, from, n, rows), map[uint64]bool{}
	for server := range 2 {
		for i := range uint64(parts * each * n) {
			key := o.Key(server, i)
			at := o.Of(key)
			part, row := at/each/rows, at/each%rows
			if seen[key] || part/parts != uint64(server) || row < from || row >= from+n || i > 0 && o.Of(o.Key(server, i-1)) >= at {
				t.Errorf("entry %d of server %d: key %d stands at %d", i, server, key, at)
			}
			seen[key] = true
		}
	}
}
