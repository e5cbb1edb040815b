package tpcc

import (
	"strings"
	"testing"

	"drtmx/engine/history"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
	"drtmx/engine/workload/workloadtest"
)

// rogue has each machine run nothing but one transaction, which breaks what others keep,
// and returns what does not hold then. An entry of an index that one has added, others cannot add.
func rogue(t *testing.T, o Options, body func(b *Bench, tx *txn.Tx) error) (broken []string, text string) {
	t.Helper()
	cfg, _ := occ.Preset("drtm+h")
	b, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.AddTransaction("rogue", 1, func(tx *txn.Tx) error { return body(b, tx) }); err != nil {
		t.Fatal(err)
	}
	for _, x := range types {
		if err := b.Set("mix."+x.Name, 0); err != nil {
			t.Fatal(err)
		}
	}
	bed := workloadtest.New(t, workloadtest.Setup{Machines: 3, Threads: 1, Coroutines: 1, Txn: cfg, Mode: history.Full, Requests: 1}, b)
	defer bed.Close()
	text = strings.Join(bed.Verdict(), "\n")
	if bed.Commits == 0 {
		t.Errorf("no rogue committed:\n%s", text)
	}
	for _, inv := range b.Check() {
		if inv.Rule == "" || inv.OK != (inv.Text == "") {
			t.Errorf("%s says nothing: %+v", inv.Name, inv)
		}
		if !inv.OK {
			broken = append(broken, strings.TrimPrefix(inv.Name, "tpcc."))
		}
	}
	return broken, text
}

// TestConditions: each condition of clause 3.3.2 notices a transaction that breaks it,
// and those that still hold say nothing.
func TestConditions(t *testing.T) {
	const d, c = 13, 4 // a district, of another warehouse than the first, and a customer of it
	waits := func(b *Bench) uint64 { return b.initialDelivered() + 2 }
	order := func(b *Bench) uint64 { return b.orderKey(d, waits(b)) }
	line := func(b *Bench) uint64 { return b.lineKey(order(b), 1) }
	for _, x := range []struct {
		what   string
		broken string
		body   func(b *Bench, tx *txn.Tx) error
	}{
		{"a warehouse takes a cent", "1 8", func(b *Bench, tx *txn.Tx) error {
			return change(tx, Warehouse, d/b.districts, func(v []byte) { put48(v[wYTD:], i48(v[wYTD:])+1) })
		}},
		{"a district takes a cent", "1 9", func(b *Bench, tx *txn.Tx) error {
			return change(tx, District, d, func(v []byte) { putI64(v[dYTD:], i64(v[dYTD:])+1) })
		}},
		{"both do", "8 9", func(b *Bench, tx *txn.Tx) error {
			if err := change(tx, Warehouse, d/b.districts, func(v []byte) { put48(v[wYTD:], i48(v[wYTD:])+1) }); err != nil {
				return err
			}
			return change(tx, District, d, func(v []byte) { putI64(v[dYTD:], i64(v[dYTD:])+1) })
		}},
		{"a number is skipped", "2", func(b *Bench, tx *txn.Tx) error {
			return change(tx, District, d, func(v []byte) { wire.Put32(v[dNext:], uint32(b.customers)+2) })
		}},
		{"an order waits no longer, others before it do", "3 5 11", func(b *Bench, tx *txn.Tx) error {
			return tx.Delete(NewOrder, order(b))
		}},
		{"the last order waits no longer", "2 5 11", func(b *Bench, tx *txn.Tx) error {
			return tx.Delete(NewOrder, b.orderKey(d, b.customers-1))
		}},
		{"a delivered order waits again", "3 5 11", func(b *Bench, tx *txn.Tx) error {
			v, err := tx.Insert(NewOrder, b.orderKey(d, 0))
			if err == nil {
				b.setNewOrder(v, d, 0)
			}
			return err
		}},
		{"an order has another number of lines", "4 6", func(b *Bench, tx *txn.Tx) error {
			return change(tx, Order, order(b), func(v []byte) { v[oLines] = 4 })
		}},
		{"a line is gone", "4 6", func(b *Bench, tx *txn.Tx) error {
			return change(tx, OrderLine, line(b), func(v []byte) { wire.Put16(v[lQuantity:], 0) })
		}},
		{"a line moves to another order", "6", func(b *Bench, tx *txn.Tx) error {
			if err := change(tx, OrderLine, line(b), func(v []byte) { wire.Put16(v[lQuantity:], 0) }); err != nil {
				return err
			}
			return change(tx, OrderLine, b.lineKey(order(b), maxLines-1), func(v []byte) { wire.Put16(v[lQuantity:], 1) })
		}},
		{"an order has a carrier and its lines no date", "5 7", func(b *Bench, tx *txn.Tx) error {
			return change(tx, Order, order(b), func(v []byte) { v[oCarrier] = 1 })
		}},
		{"a line is delivered alone", "7 10 12", func(b *Bench, tx *txn.Tx) error {
			return change(tx, OrderLine, line(b), func(v []byte) { putI64(v[lDelivery:], loadDate) })
		}},
		{"a delivered line costs more", "10 12", func(b *Bench, tx *txn.Tx) error {
			return change(tx, OrderLine, b.lineKey(b.orderKey(d, 0), 1), func(v []byte) { wire.Put32(v[lAmount:], 100) })
		}},
		{"a payment was more", "8 9 10", func(b *Bench, tx *txn.Tx) error {
			return change(tx, History, b.historyKey(d/b.districts, 5), func(v []byte) { wire.Put32(v[hAmount:], initialPayment+1) })
		}},
		{"a payment was another customer's", "10", func(b *Bench, tx *txn.Tx) error {
			return change(tx, History, b.historyKey(d/b.districts, 5), func(v []byte) { wire.Put32(v[hCustomer:], wire.Get32(v[hCustomer:])^1) })
		}},
		{"a payment was another district's", "8 9", func(b *Bench, tx *txn.Tx) error { // and another warehouse's
			return change(tx, History, b.historyKey(d/b.districts, 5), func(v []byte) { wire.Put16(v[hWare:], 0) })
		}},
		{"a customer has a cent more", "10 12", func(b *Bench, tx *txn.Tx) error {
			return change(tx, Customer, b.customerKey(d, c), func(v []byte) { putI64(v[cBalance:], i64(v[cBalance:])+1) })
		}},
		{"a customer has paid a cent that nobody got", "10", func(b *Bench, tx *txn.Tx) error {
			return change(tx, Customer, b.customerKey(d, c), func(v []byte) {
				putI64(v[cBalance:], i64(v[cBalance:])-1)
				put48(v[cYTD:], i48(v[cYTD:])+1)
			})
		}},
		{"a customer counts a cent paid", "12", func(b *Bench, tx *txn.Tx) error {
			return change(tx, Customer, b.customerKey(d, c), func(v []byte) { put48(v[cYTD:], i48(v[cYTD:])+1) })
		}},
		{"a customer counts a delivery", "11", func(b *Bench, tx *txn.Tx) error {
			return change(tx, Customer, b.customerKey(d, c), func(v []byte) { add32(v[cDeliveries:], 1) })
		}},
		{"an index has an order that nobody placed", "indexes", func(b *Bench, tx *txn.Tx) error {
			tx.AddEntry(b.placed, d, placedKey(c, b.orders-1), b.orders-1)
			return change(tx, Stock, 0, func(v []byte) {})
		}},
		{"a queue has an order that is delivered", "indexes", func(b *Bench, tx *txn.Tx) error {
			tx.AddEntry(b.queue, d, 0, 0)
			return change(tx, Stock, 0, func(v []byte) {})
		}},
		{"an index counts lines of an order that nobody placed", "indexes", func(b *Bench, tx *txn.Tx) error {
			tx.AddEntry(b.lines, d, b.orders-1, 7)
			return change(tx, Stock, 0, func(v []byte) {})
		}},
		{"nothing", "", func(b *Bench, tx *txn.Tx) error { return change(tx, District, d, func(v []byte) {}) }},
	} {
		for _, n := range []int{StandardDistricts, 3} {
			o := tiny()
			o.Warehouses, o.Districts = 2, n
			if broken, text := rogue(t, o, x.body); strings.Join(broken, " ") != x.broken {
				t.Errorf("%s, %d districts: broken are conditions %v, want %s:\n%s", x.what, n, broken, x.broken, text)
			}
		}
	}
}

// change updates a row.
func change(tx *txn.Tx, table uint8, key uint64, f func(v []byte)) error {
	v, err := tx.Update(table, key)
	if err == nil {
		f(v)
	}
	return err
}
