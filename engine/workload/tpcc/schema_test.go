package tpcc

import (
	"testing"

	"drtmx/engine/workload"
)

// Keys of tables that grow: each row has its own, on the server of its warehouse, and of one machine the orders of the
// same number lie together.
func TestKeysOfTablesThatGrow(t *testing.T) {
	b := &Bench{perServer: 3, warehouses: 6, districts: 4, orders: 7, payments: 11}
	seen := map[uint64]bool{}
	for d := range b.warehouses * b.districts {
		for o := range b.orders {
			key := b.orderKey(d, o)
			if d2, o2 := b.orderOf(key); d2 != d || o2 != o || seen[key] {
				t.Fatalf("order %d of district %d has key %d, which is order %d of district %d, taken: %v", o, d, key, o2, d2, seen[key])
			}
			seen[key] = true
			perServer := b.perServer * b.districts * b.orders // what store.Blocks gives each
			if m := key / perServer; m != b.server(d/b.districts) || key%perServer/(b.perServer*b.districts) != o {
				t.Errorf("order %d of district %d is at place %d of server %d", o, d, key%perServer, m)
			}
		}
	}
	for w := range b.warehouses {
		for h := range b.payments {
			if w2, h2 := b.historyOf(b.historyKey(w, h)); w2 != w || h2 != h {
				t.Errorf("payment %d of warehouse %d became %d of %d", h, w, h2, w2)
			}
		}
	}
}

// Each customer has one order from the start, the one whose customer it is.
func TestInitialOrders(t *testing.T) {
	b := &Bench{customers: 30, shuffle: workload.NewScatter(30)}
	for district := range uint64(20) {
		for o := range b.customers {
			if c := b.initialCustomer(district, o); b.initialOrder(district, c) != o {
				t.Errorf("order %d of district %d is of customer %d, whose order is %d", o, district, c, b.initialOrder(district, c))
			}
		}
	}
}
