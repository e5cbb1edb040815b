package tpcc

import (
	"testing"

	"drtmx/engine/kv/ordered"
	"drtmx/engine/txn"
	"drtmx/engine/workload/workloadtest"
)

// value is a row of the population.
func value(init func(uint64, []byte), bytes int, key uint64) []byte {
	v := make([]byte, bytes)
	init(key, v)
	return v
}

// TestPopulation: what a company begins with has the standard's cardinalities (clause
// 4.3.3) and fulfils the twelve conditions, as Check takes for granted.
func TestPopulation(t *testing.T) {
	for _, o := range []Options{tiny(), {Warehouses: 1, Customers: 101, Items: 50}, {Warehouses: 2, Customers: 10, Items: 20, Districts: 1}, {Warehouses: 2, Customers: 40, Items: 20, Districts: MostDistricts, Orders: 5}, {Warehouses: 1}} {
		if testing.Short() && o.Customers == 0 {
			continue
		}
		cfg, _ := txn.Preset("drtm+h")
		bed, b := workloadtest.Open(t, 0, cfg, New, o)
		for w := range uint64(o.Warehouses) { // of the first machine
			populated(t, b, w)
		}
		for _, inv := range b.Check() {
			if !inv.OK {
				t.Errorf("%+v: %s: %s", o, inv.Name, inv.Text)
			}
		}
		bed.Close()
	}
}

// populated holds a warehouse against the twelve conditions.
func populated(t *testing.T, b *Bench, w uint64) {
	t.Helper()
	ytd, histories := int64(0), uint64(0)
	paid, byDistrict := map[uint64]int64{}, map[uint64]int64{}
	for h := range b.payments {
		if v := value(b.initHistory, historyBytes, b.historyKey(w, h)); u32(v[hAmount:]) != 0 {
			histories++
			cd := uint64(u16(v[hCWare:]))*b.districts + uint64(v[hCDistrict])
			paid[b.customerKey(cd, uint64(u32(v[hCustomer:])))] += int64(u32(v[hAmount:]))
			byDistrict[uint64(u16(v[hWare:]))*b.districts+uint64(v[hDistrict])] += int64(u32(v[hAmount:]))
		}
	}
	if histories != b.districts*b.customers {
		t.Errorf("warehouse %d has %d payments for %d customers", w, histories, b.districts*b.customers)
	}
	for d := w * b.districts; d < (w+1)*b.districts; d++ {
		dist := value(b.initDistrict, districtBytes, d)
		if i64(dist[dYTD:]) != byDistrict[d] { // 9
			t.Errorf("district %d has taken %d, its payments are %d", d, i64(dist[dYTD:]), byDistrict[d])
		}
		ytd += i64(dist[dYTD:])
		due := orderedIn(t, b, d)
		for c := range b.customers {
			v := value(b.initCustomer, customerBytes, b.customerKey(d, c))
			charged, balance := due[c], i64(v[cBalance:])
			if p := paid[b.customerKey(d, c)]; balance != charged-p || balance+i48(v[cYTD:]) != charged { // 10, 12
				t.Fatalf("customer %d of district %d has a balance of %d after payments of %d, by the history %d, and deliveries of %d", c, d, balance, i48(v[cYTD:]), p, charged)
			}
			if u32(v[cPayments:]) != 1 || u32(v[cDeliveries:]) != 0 {
				t.Fatalf("customer %d of district %d: %d payments, %d deliveries", c, d, u32(v[cPayments:]), u32(v[cDeliveries:]))
			}
		}
	}
	if v := value(b.initWarehouse, warehouseBytes, w); i48(v[wYTD:]) != ytd { // 1, and with 9 condition 8
		t.Errorf("warehouse %d has taken %d, its districts %d", w, i48(v[wYTD:]), ytd)
	}
}

// orderedIn goes through the orders of a district and returns what each customer has to
// pay for deliveries.
func orderedIn(t *testing.T, b *Bench, d uint64) map[uint64]int64 {
	t.Helper()
	charged, customers := map[uint64]int64{}, map[uint64]bool{}
	waiting, lines := uint64(0), 0
	next := uint64(u32(value(b.initDistrict, districtBytes, d)[dNext:])) - 1
	if next != b.customers { // 2, with the orders below
		t.Errorf("the next order of district %d is %d", d, next+1)
	}
	for o := range b.orders {
		key := b.orderKey(d, o)
		v, waits := value(b.initOrder, orderBytes, key), value(b.initNewOrder, newOrderBytes, key)[nPresent] != 0
		n, done := uint64(v[oLines]), v[oCarrier] != 0
		if exists := n != 0; exists != (o < next) || waits != (exists && !done) || waits != (o >= b.customers*7/10 && o < next) { // 2, 3, 5, 11
			t.Fatalf("order %d of district %d has %d lines, is delivered: %v, waits: %v", o+1, d, n, done, waits)
		}
		if waits {
			waiting++
		}
		if n != 0 && (n < 5 || n > maxLines) {
			t.Fatalf("order %d of district %d has %d lines", o+1, d, n)
		}
		for i := range uint64(maxLines) { // 4, 6, 7
			l := value(b.initOrderLine, b.lineBytes(), b.lineKey(key, i))
			if present(l[lQuantity:][:2]) == 1 != (i < n) || i < n && (i64(l[lDelivery:]) != 0) != done {
				t.Fatalf("line %d of order %d of district %d: %v; the order has %d lines, delivered: %v", i+1, o+1, d, l, n, done)
			}
			if i < n && done {
				charged[uint64(u32(v[oCustomer:]))] += int64(u32(l[lAmount:]))
			}
		}
		lines += int(n)
		if n != 0 {
			customers[uint64(u32(v[oCustomer:]))] = true
		}
	}
	if len(customers) != int(b.customers) || waiting != b.customers-b.initialDelivered() {
		t.Errorf("district %d: %d customers with an order, %d orders wait", d, len(customers), waiting)
	}
	if mean := float64(lines) / float64(b.customers); b.customers >= 1000 && (mean < 9.8 || mean > 10.2) {
		t.Errorf("district %d: an order has %.2f lines", d, mean)
	}
	counted := 0
	b.placed.Entries(d, func(ordered.Entry) { counted++ })
	if counted != int(b.customers) {
		t.Errorf("district %d: %d orders are in the index of customers", d, counted)
	}
	return charged
}

// TestStandardSizes: clause 1.2.1 and 1.3, of one warehouse and the items.
func TestStandardSizes(t *testing.T) {
	cfg, _ := txn.Preset("drtm+h")
	bed, b := workloadtest.Open(t, 0, cfg, New, Options{Warehouses: 1})
	defer bed.Close()
	rows := map[string]uint64{}
	bytes := map[string]int{}
	for _, s := range b.specs() {
		rows[s.Name], bytes[s.Name] = s.rows/3, s.ValueBytes // three machines
	}
	for _, want := range []struct {
		table string
		rows  uint64 // 0: of tables that grow
		bytes int
	}{
		{"warehouse", 1, 89}, {"district", 10, 95}, {"customer", 30_000, 655}, {"history", 0, 46}, {"new-order", 0, 8},
		{"order", 0, 24}, {"order-line", 0, 54}, {"stock", 100_000, 306}, {"item", 100_000, 82},
	} {
		n := bytes[want.table]
		if want.table == "stock" {
			n += bytes["stock-data"] // clause 1.4
		}
		if n != want.bytes || want.rows != 0 && rows[want.table] != want.rows {
			t.Errorf("%s: %d rows of %d bytes, the standard has %d of %d", want.table, rows[want.table], n, want.rows, want.bytes)
		}
	}
}
