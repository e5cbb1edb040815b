package tpcc

import (
	"bytes"
	"testing"

	"drtmx/engine/protocol/occ"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/wire"
	"drtmx/engine/workload"
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
		cfg, _ := occ.Preset("drtm+h")
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
		if v := value(b.initHistory, historyBytes, b.historyKey(w, h)); wire.Get32(v[hAmount:]) != 0 {
			histories++
			cd := uint64(wire.Get16(v[hCWare:]))*b.districts + uint64(v[hCDistrict])
			paid[b.customerKey(cd, uint64(wire.Get32(v[hCustomer:])))] += int64(wire.Get32(v[hAmount:]))
			byDistrict[uint64(wire.Get16(v[hWare:]))*b.districts+uint64(v[hDistrict])] += int64(wire.Get32(v[hAmount:]))
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
			if wire.Get32(v[cPayments:]) != 1 || wire.Get32(v[cDeliveries:]) != 0 {
				t.Fatalf("customer %d of district %d: %d payments, %d deliveries", c, d, wire.Get32(v[cPayments:]), wire.Get32(v[cDeliveries:]))
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
	next := uint64(wire.Get32(value(b.initDistrict, districtBytes, d)[dNext:])) - 1
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
				charged[uint64(wire.Get32(v[oCustomer:]))] += int64(wire.Get32(l[lAmount:]))
			}
		}
		lines += int(n)
		if n != 0 {
			customers[uint64(wire.Get32(v[oCustomer:]))] = true
		}
	}
	if len(customers) != int(b.customers) || waiting != b.customers-b.initialDelivered() {
		t.Errorf("district %d: %d customers with an order, %d orders wait", d, len(customers), waiting)
	}
	if mean := float64(lines) / float64(b.customers); b.customers >= 1000 && (mean < 9.8 || mean > 10.2) {
		t.Errorf("district %d: an order has %.2f lines", d, mean)
	}
	counted := 0
	b.placed.Entries(d, func(store.Entry) { counted++ })
	if counted != int(b.customers) {
		t.Errorf("district %d: %d orders are in the index of customers", d, counted)
	}
	return charged
}

// TestRanges: clause 4.3.3.1 on the columns that are drawn, of which each has its whole range.
func TestRanges(t *testing.T) {
	cfg, _ := occ.Preset("drtm+h")
	bed, b := workloadtest.Open(t, 0, cfg, New, Options{Warehouses: 2})
	defer bed.Close()
	const rows = 20_000
	u16 := func(b []byte) uint32 { return uint32(wire.Get16(b)) }
	for _, x := range []struct {
		what       string
		init       func(uint64, []byte)
		bytes, at  int
		of         func(b []byte) uint32
		from, to   uint32
		first, end uint64 // keys
	}{
		{"stock quantities", b.initStock, stockBytes, sQuantity, wire.Get32, 10, 100, 0, rows},
		{"prices", b.initItem, itemBytes, iPrice, wire.Get32, 1_00, 100_00, 0, rows},
		{"images", b.initItem, itemBytes, iImage, wire.Get32, 1, 10_000, 0, rows},
		{"discounts", b.initCustomer, customerBytes, cDiscount, u16, 0, 50_00, 0, rows},
		{"taxes of warehouses", b.initWarehouse, warehouseBytes, wTax, u16, 0, 20_00, 0, rows},
		{"taxes of districts", b.initDistrict, districtBytes, dTax, u16, 0, 20_00, 0, rows},
		{"amounts of lines that wait", b.initOrderLine, orderLineBytes, lAmount, wire.Get32, 1, 9_999_99, b.lineKey(b.orderKey(0, 2_100), 0), b.lineKey(b.orderKey(0, 3_000), 0)},
	} {
		const parts = 10
		counts, ones := make([]float64, parts), make([]float64, parts)
		for key := x.first; key < x.end; key++ {
			v := value(x.init, x.bytes, key)
			if x.bytes == orderLineBytes && present(v[lQuantity:][:2]) == 0 {
				continue
			}
			n := x.of(v[x.at:])
			if n < x.from || n > x.to {
				t.Fatalf("%s: row %d has %d, from %d to %d", x.what, key, n, x.from, x.to)
			}
			counts[uint64(n-x.from)*parts/uint64(x.to-x.from+1)]++
		}
		for i := range uint32(parts) { // numbers that fall into each tenth of the range
			first := func(i uint32) uint32 { return (i*(x.to-x.from+1) + parts - 1) / parts }
			ones[i] = float64(first(i+1) - first(i))
		}
		fits(t, x.what, counts, ones)
	}
	bad, original := 0, 0
	for key := range uint64(rows) {
		if c := value(b.initCustomer, customerBytes, key)[cCredit:][:2]; string(c) == "BC" {
			bad++
		} else if string(c) != "GC" {
			t.Fatalf("customer %d has credit %q", key, c)
		}
		if bytes.Contains(value(b.initItem, itemBytes, key)[iData:], []byte("ORIGINAL")) {
			original++
		}
	}
	fits2(t, "bad credit", bad, rows, []float64{10, 90})
	fits2(t, "original items", original, rows, []float64{10, 90})
}

// TestHomes: the threads of a machine serve its warehouses, each one at least, and each
// warehouse is somebody's; clients without warehouses share those of all machines.
func TestHomes(t *testing.T) {
	for _, x := range []struct{ machines, servers, threads, warehouses int }{{3, 0, 2, 5}, {3, 0, 4, 4}, {2, 0, 3, 2}, {4, 3, 2, 3}, {5, 2, 4, 1}} {
		cfg, _ := occ.Preset("drtm+h")
		cfg.Replicas = 2
		b, err := New(Options{Warehouses: x.warehouses, Customers: 10, Items: 20})
		if err != nil {
			t.Fatal(err)
		}
		served := map[uint64]int{}
		seen := &homesOf{Bench: b, of: func(c *r2.Co, list []uint64) {
			if len(list) == 0 {
				t.Errorf("%+v: thread %d of machine %d serves nothing", x, c.Thread(), c.Machine())
			}
			for _, w := range list {
				served[w]++
				if x.servers == 0 && b.server(w) != uint64(c.Machine()) {
					t.Errorf("%+v: machine %d serves warehouse %d", x, c.Machine(), w)
				}
			}
		}}
		bed := workloadtest.New(t, workloadtest.Setup{Machines: x.machines, Servers: x.servers, Threads: x.threads, Coroutines: 1, Txn: cfg, Requests: 1}, seen)
		if bad := bed.Verdict(); len(bad) > 0 {
			t.Error(bad)
		}
		bed.Close()
		servers, threads := x.servers, x.threads*x.machines
		if servers == 0 {
			servers = x.machines
		} else {
			threads = x.threads * (x.machines - x.servers)
		}
		least, most := threads/(servers*x.warehouses), (threads+servers*x.warehouses-1)/(servers*x.warehouses)
		for w := range uint64(servers * x.warehouses) {
			if n := served[w]; n < max(1, least) || n > max(1, most) {
				t.Errorf("%+v: %d threads serve warehouse %d", x, n, w)
			}
		}
	}
}

// homesOf tells what each client serves.
type homesOf struct {
	*Bench
	of func(c *r2.Co, list []uint64)
}

func (h *homesOf) Runner(c *r2.Co) workload.Runner {
	r := h.Bench.Runner(c).(*runner)
	h.of(c, r.homes)
	return r
}

// TestStandardSizes: clause 1.2.1 and 1.3, of one warehouse and the items.
func TestStandardSizes(t *testing.T) {
	cfg, _ := occ.Preset("drtm+h")
	bed, b := workloadtest.Open(t, 0, cfg, New, Options{Warehouses: 1})
	defer bed.Close()
	rows := map[string]uint64{}
	bytes := map[string]int{}
	for _, s := range b.specs() {
		rows[s.Name], bytes[s.Name] = s.rows.Count(0), s.ValueBytes
	}
	for _, want := range []struct {
		table string
		rows  uint64 // 0: it depends
		bytes int
	}{
		{"warehouse", 1, 89}, {"district", 10, 95}, {"customer", 30_000, 655}, {"history", 30_000, 46}, {"new-order", 9_000, 8},
		{"order", 30_000, 24}, {"order-line", 0, 54}, {"stock", 100_000, 306}, {"item", 100_000, 82},
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
