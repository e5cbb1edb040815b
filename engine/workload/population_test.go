package workload_test

import (
	"bytes"
	"testing"

	"drtmx/engine/history"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/workload"
	"drtmx/engine/workload/tpcc"
	"drtmx/engine/workload/tpce"
	"drtmx/engine/workload/workloadtest"
)

// TestPopulationIsPure: a row that nobody has written is a function of its table, its key
// and the seed of the population: not of the run's seed, nor of what was looked at before.
func TestPopulationIsPure(t *testing.T) {
	for name, x := range map[string]struct {
		make func(seed uint64) (workload.Bench, error)
		rows map[uint8]uint64 // of tables that have more than three
	}{
		"tpcc": {func(seed uint64) (workload.Bench, error) {
			return tpcc.New(tpcc.Options{Warehouses: 1, Customers: 40, Items: 100, Seed: seed})
		}, map[uint8]uint64{tpcc.District: 30, tpcc.Customer: 1_200, tpcc.OrderLine: 2_000, tpcc.Stock: 300, tpcc.Item: 300}},
		"tpce": {func(seed uint64) (workload.Bench, error) {
			return tpce.New(tpce.Options{Customers: 8, Securities: 20, Trades: 10, Seed: seed})
		}, map[uint8]uint64{tpce.Account: 120, tpce.HoldingSummary: 2_000, tpce.Trade: 400, tpce.TradeHistory: 1_200, tpce.LastTrade: 60}},
	} {
		rows := func(run, seed uint64, backwards bool) (all [][]byte) {
			w, err := x.make(seed)
			if err != nil {
				t.Fatal(err)
			}
			cfg, _ := occ.Preset("drtm+h")
			bed := workloadtest.New(t, workloadtest.Setup{Machines: 3, Threads: 1, Coroutines: 1, Seed: run, Txn: cfg, Mode: history.Off, Requests: 1}, w)
			defer bed.Close()
			db := w.DB()
			for i := range 256 {
				id := uint8(i)
				if backwards {
					id = ^id
				}
				tb, n := db.Table(id), max(3, x.rows[id])
				for key := uint64(0); tb != nil && key < n; key++ {
					at := key
					if backwards {
						at = n - 1 - key
					}
					row := make([]byte, tb.RowBytes())
					db.Row(id, at, row)
					all = append(all, row)
				}
			}
			return all
		}
		first, again, other := rows(1, 5, false), rows(2, 5, true), rows(1, 6, false)
		differ := 0
		for i, row := range first {
			if !bytes.Equal(row, again[len(again)-1-i]) {
				t.Errorf("%s: row %d of %d is %x, and %x in another run", name, i, len(first), row, again[len(again)-1-i])
			}
			if !bytes.Equal(row, other[i]) {
				differ++
			}
		}
		if len(first) < 500 || differ < len(first)/4 {
			t.Errorf("%s: %d rows, %d are others with another seed", name, len(first), differ)
		}
	}
}
