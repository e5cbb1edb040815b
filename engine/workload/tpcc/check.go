package tpcc

import (
	"fmt"

	"drtmx/engine/kv"
	"drtmx/engine/kv/ordered"
	"drtmx/engine/record"
	"drtmx/engine/workload"
)

// The twelve consistency conditions of clause 3.3.2 after a drain. The population
// fulfils them, so only what transactions wanted to write is looked at: each sum
// is compared with what it was plus what changed.

// audit is one look at all tables.
type audit struct {
	b        *Bench
	row, was map[uint8][]byte // by table
	init     map[uint8]func(key uint64, v []byte)
	touched  []bool // by district
	bad      [numConditions]string

	paid      []int64 // by district, in the run
	orders    []int64 // by district, more than in the population
	open      []int64 // new-order rows likewise
	lines     []int64 // order lines likewise
	counted   []int64 // lines as the orders count them
	delivered []int64 // as customers count them
	charged   map[uint64]int64
	payments  map[uint64]int64
}

const numConditions = 12

// Check looks at the consistency conditions. It makes sense after a drain.
func (b *Bench) Check() []workload.Invariant {
	n := b.warehouses * districts
	a := &audit{
		b: b, row: map[uint8][]byte{}, was: map[uint8][]byte{}, init: map[uint8]func(uint64, []byte){},
		touched: make([]bool, n), paid: make([]int64, n), orders: make([]int64, n), open: make([]int64, n), lines: make([]int64, n),
		counted: make([]int64, n), delivered: make([]int64, n), charged: map[uint64]int64{}, payments: map[uint64]int64{},
	}
	for _, t := range b.specs() {
		a.prepare(t.Spec)
	}
	a.histories()
	a.orderLines()
	a.allOrders()
	a.customers()
	for d, touched := range a.touched {
		if touched {
			a.district(uint64(d))
		}
	}
	a.warehouses()
	list := make([]workload.Invariant, numConditions)
	for i, text := range a.bad {
		list[i] = workload.Invariant{Name: fmt.Sprintf("tpcc.%d", i+1), OK: text == "", Text: text}
	}
	text := a.indexes()
	return append(list, workload.Invariant{Name: "tpcc.indexes", OK: text == "", Text: text})
}

// indexes compares those that somebody used with the records that they have to
// point to; the others are as they were.
func (a *audit) indexes() (bad string) {
	b := a.b
	for d := range b.warehouses * districts {
		if b.lines != nil && b.lines.Used(d) {
			bad = a.lineIndex(d, bad)
		}
		if !b.placed.Used(d) && !b.queue.Used(d) {
			continue
		}
		placed, waiting := uint64(0), uint64(0)
		b.placed.Entries(d, func(e ordered.Entry) {
			o := a.now(Order, b.orderKey(d, min(e.Value, b.orders-1)))
			if o[oLines] == 0 || placedKey(uint64(u32(o[oCustomer:])), e.Value) != e.Key {
				bad = fmt.Sprintf("order %d of district %d is not that of customer %d, as its index says", e.Value+1, d, e.Key>>orderBits)
			}
			placed++
		})
		b.queue.Entries(d, func(e ordered.Entry) {
			if a.now(NewOrder, b.orderKey(d, min(e.Key, b.orders-1)))[nPresent] == 0 {
				bad = fmt.Sprintf("order %d of district %d is in the queue and not a new order", e.Key+1, d)
			}
			waiting++
		})
		wantPlaced, wantWaiting := b.customers+uint64(a.orders[d]), b.customers-b.initialDelivered()+uint64(a.open[d])
		if placed != wantPlaced || waiting != wantWaiting {
			bad = fmt.Sprintf("the indexes of district %d have %d orders, %d in the queue; there are %d, %d new", d, placed, waiting, wantPlaced, wantWaiting)
		}
	}
	return bad
}

// lineIndex compares the index of the orders' lines with the orders.
func (a *audit) lineIndex(d uint64, bad string) string {
	b, n := a.b, uint64(0)
	b.lines.Entries(d, func(e ordered.Entry) {
		if o := a.now(Order, b.orderKey(d, min(e.Key, b.orders-1))); uint64(o[oLines]) != e.Value {
			bad = fmt.Sprintf("order %d of district %d has %d lines, its index says %d", e.Key+1, d, o[oLines], e.Value)
		}
		n++
	})
	if want := b.customers + uint64(a.orders[d]); n != want {
		bad = fmt.Sprintf("the index of the lines of district %d has %d orders; there are %d", d, n, want)
	}
	return bad
}

func (a *audit) prepare(s kv.Spec) {
	a.row[s.ID] = make([]byte, record.HeaderBytes+s.ValueBytes)
	a.was[s.ID] = make([]byte, s.ValueBytes)
	a.init[s.ID] = s.Init
}

// fail notes the first violation of a condition.
func (a *audit) fail(condition int, format string, args ...any) {
	if a.bad[condition-1] == "" {
		a.bad[condition-1] = fmt.Sprintf(format, args...)
	}
}

// now is a value as it is, valid until the table's next.
func (a *audit) now(table uint8, key uint64) []byte {
	row := a.row[table]
	a.b.db.Row(table, key, row)
	return record.Value(row)
}

// before is a value of the population, valid until the table's next.
func (a *audit) before(table uint8, key uint64) []byte {
	v := a.was[table]
	clear(v)
	a.init[table](key, v)
	return v
}

// each calls f with the rows of a table that may have changed.
func (a *audit) each(table uint8, f func(key uint64, now, before []byte)) {
	a.b.db.EachTouched(table, func(key uint64) { f(key, a.now(table, key), a.before(table, key)) })
}

// histories sums up the payments.
func (a *audit) histories() {
	a.each(History, func(key uint64, now, before []byte) {
		amount := int64(u32(now[hAmount:])) - int64(u32(before[hAmount:]))
		if amount == 0 {
			return
		}
		d := uint64(u16(now[hWare:]))*districts + uint64(now[hDistrict])
		cd := uint64(u16(now[hCWare:]))*districts + uint64(now[hCDistrict])
		a.touched[d] = true
		a.paid[d] += amount
		a.payments[a.b.customerKey(cd, uint64(u32(now[hCustomer:])))] += amount
	})
}

// orderLines counts lines and sums up what customers have to pay for deliveries.
func (a *audit) orderLines() {
	b := a.b
	a.each(OrderLine, func(key uint64, now, before []byte) {
		order := key / maxLines
		d, o := b.orderOf(order)
		a.touched[d] = true
		a.lines[d] += present(now[lQuantity:][:2]) - present(before[lQuantity:][:2])
		of := a.now(Order, order)
		if is, n := present(now[lQuantity:][:2]) == 1, uint64(of[oLines]); is != (key%maxLines < n) {
			a.fail(6, "order %d of district %d has %d lines by its count, line %d exists: %v", o+1, d, n, key%maxLines+1, is)
		}
		if present(now[lQuantity:][:2]) == 0 {
			return
		}
		if date := i64(now[lDelivery:]); (date != 0) != (of[oCarrier] != 0) {
			a.fail(7, "line %d of order %d of district %d has delivery date %d, the order has carrier %d", key%maxLines+1, o+1, d, date, of[oCarrier])
		} else if date != 0 && i64(before[lDelivery:]) == 0 {
			a.charged[b.customerKey(d, uint64(u32(of[oCustomer:])))] += int64(u32(now[lAmount:]))
		}
	})
}

// present is 1 for a mark that is set.
func present(mark []byte) int64 {
	for _, x := range mark {
		if x != 0 {
			return 1
		}
	}
	return 0
}

// allOrders goes through the orders and the queue of those not delivered.
func (a *audit) allOrders() {
	b := a.b
	a.each(Order, func(key uint64, now, before []byte) {
		d, o := b.orderOf(key)
		a.touched[d] = true
		a.orders[d] += present(now[oLines:][:1]) - present(before[oLines:][:1])
		a.counted[d] += int64(now[oLines]) - int64(before[oLines])
		for n := range uint64(now[oLines]) {
			l := a.now(OrderLine, b.lineKey(key, n))
			if present(l[lQuantity:][:2]) == 0 {
				a.fail(6, "order %d of district %d has %d lines by its count, line %d does not exist", o+1, d, now[oLines], n+1)
			}
			if date := i64(l[lDelivery:]); (date != 0) != (now[oCarrier] != 0) {
				a.fail(7, "line %d of order %d of district %d has delivery date %d, the order has carrier %d", n+1, o+1, d, date, now[oCarrier])
			}
		}
		a.queued(key, now)
	})
	a.each(NewOrder, func(key uint64, now, before []byte) {
		d, _ := b.orderOf(key)
		a.touched[d] = true
		a.open[d] += int64(now[nPresent]) - int64(before[nPresent])
		a.queued(key, a.now(Order, key))
	})
}

// queued is condition 5 of one order.
func (a *audit) queued(key uint64, order []byte) {
	waits := a.now(NewOrder, key)[nPresent] != 0
	if exists := order[oLines] != 0; waits != (exists && order[oCarrier] == 0) {
		d, o := a.b.orderOf(key)
		a.fail(5, "order %d of district %d exists: %v, has carrier %d, is among the new orders: %v", o+1, d, exists, order[oCarrier], waits)
	}
}

// customers compares balances.
func (a *audit) customers() {
	seen := 0
	a.each(Customer, func(key uint64, now, before []byte) {
		for _, m := range []map[uint64]int64{a.charged, a.payments} {
			if _, ok := m[key]; ok {
				seen++
			}
		}
		d := key / a.b.customers
		a.touched[d] = true
		a.delivered[d] += int64(u32(now[cDeliveries:])) - int64(u32(before[cDeliveries:]))
		balance := i64(now[cBalance:]) - i64(before[cBalance:])
		if want := a.charged[key] - a.payments[key]; balance != want {
			a.fail(10, "the balance of customer %d of district %d changed by %d, deliveries less payments by %d", key%a.b.customers, d, balance, want)
		}
		if paid := i48(now[cYTD:]) - i48(before[cYTD:]); balance+paid != a.charged[key] {
			a.fail(12, "balance and payments of customer %d of district %d changed by %d, deliveries by %d", key%a.b.customers, d, balance+paid, a.charged[key])
		}
	})
	if seen != len(a.charged)+len(a.payments) {
		a.fail(10, "%d customers paid or had deliveries, %d of them have not changed", len(a.charged)+len(a.payments), len(a.charged)+len(a.payments)-seen)
	}
}

// district checks the conditions of one district.
func (a *audit) district(d uint64) {
	b := a.b
	dist := a.now(District, d)
	next, ytd := uint64(u32(dist[dNext:]))-1, i64(dist[dYTD:])
	if next > b.orders || next < b.customers {
		a.fail(2, "the next order of district %d is %d", d, next+1)
		return
	}
	first, last, n := uint64(0), uint64(0), int64(0)
	for o := b.initialDelivered(); o < b.orders && (o <= next+maxAhead); o++ {
		if a.now(NewOrder, b.orderKey(d, o))[nPresent] != 0 {
			if n == 0 {
				first = o
			}
			last = o
			n++
		}
	}
	newest := a.now(Order, b.orderKey(d, next-1))[oLines] != 0
	if !newest || next < b.orders && a.now(Order, b.orderKey(d, next))[oLines] != 0 || a.orders[d] != int64(next-b.customers) || n > 0 && last != next-1 {
		a.fail(2, "the next order of district %d is %d: order %d exists: %v, %d orders came in, the last new order is %d", d, next+1, next, newest, a.orders[d], last+1)
	}
	if n > 0 && int64(last-first)+1 != n {
		a.fail(3, "district %d has %d new orders between %d and %d", d, n, first+1, last+1)
	}
	if a.counted[d] != a.lines[d] {
		a.fail(4, "the orders of district %d count %d lines more, there are %d", d, a.counted[d], a.lines[d])
	}
	if want := b.initialDistrictYTD() + a.paid[d]; ytd != want {
		a.fail(9, "district %d has taken %d cents, its payments are %d", d, ytd, want)
	}
	if a.orders[d]-a.open[d] != a.delivered[d] {
		a.fail(11, "%d orders of district %d came in, %d more are new, customers count %d deliveries", a.orders[d], d, a.open[d], a.delivered[d])
	}
}

const maxAhead = 64 // orders behind the district's next that are looked for too

// warehouses compares the sums over districts.
func (a *audit) warehouses() {
	b := a.b
	for w := range b.warehouses {
		if !a.any(w) {
			continue
		}
		sum, paid := int64(0), b.initialWarehouseYTD()
		for d := w * districts; d < (w+1)*districts; d++ {
			sum += i64(a.now(District, d)[dYTD:])
			paid += a.paid[d]
		}
		ytd := i48(a.now(Warehouse, w)[wYTD:])
		if ytd != sum {
			a.fail(1, "warehouse %d has taken %d cents, its districts %d", w, ytd, sum)
		}
		if ytd != paid {
			a.fail(8, "warehouse %d has taken %d cents, its payments are %d", w, ytd, paid)
		}
	}
}

// any reports whether a district of the warehouse was touched.
func (a *audit) any(w uint64) bool {
	for _, t := range a.touched[w*districts : (w+1)*districts] {
		if t {
			return true
		}
	}
	return false
}
