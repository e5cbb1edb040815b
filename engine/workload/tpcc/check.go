package tpcc

import (
	"fmt"

	"drtmx/engine/store"
	"drtmx/engine/wire"
	"drtmx/engine/workload"
)

// The twelve consistency conditions of clause 3.3.2 after a drain. The population
// fulfils them, so only what transactions wanted to write is looked at, and what
// the conditions compare that with: each sum is compared with what it was plus what
// changed.

// audit is one look at all tables.
type audit struct {
	b        *Bench
	row, was map[uint8][]byte // by table
	init     map[uint8]func(key uint64, v []byte)
	touched  []bool // by district
	moved    []bool // by warehouse
	bad      [numConditions]string

	paid      []int64  // by district, in the run
	orders    []int64  // by district, more than in the population
	open      []int64  // new-order rows likewise
	oldest    []uint64 // by district, the first order that may wait
	lines     []int64  // order lines likewise
	counted   []int64  // lines as the orders count them
	delivered []int64  // as customers count them
	charged   map[uint64]int64
	payments  map[uint64]int64
}

const numConditions = 12

// rules are the conditions, as clauses 3.3.2.1 to 3.3.2.12 number them.
var rules = [numConditions]string{
	"what a warehouse has taken is what its districts have",
	"the last order of a district is the one before the next that it gives out, and the last new order",
	"the new orders of a district are numbered without a gap",
	"the orders of a district count as many lines as there are",
	"an order has no carrier if and only if it is a new order",
	"an order counts as many lines as it has",
	"a line has no delivery date if and only if its order has no carrier",
	"what a warehouse has taken is the sum of its payments",
	"what a district has taken is the sum of its payments",
	"a customer's balance is what was delivered less what was paid",
	"the orders of a district that are not new ones are those that its customers had delivered",
	"a customer's balance and payments together are what was delivered",
}

const indexRule = "the indexes are what the records say"

// condition is the verdict on the i-th, from 1.
func condition(i int, bad string) workload.Invariant {
	return workload.Invariant{Name: fmt.Sprintf("tpcc.%d", i), OK: bad == "", Rule: fmt.Sprintf("%s (clause 3.3.2.%d)", rules[i-1], i), Text: bad}
}

// Check looks at the consistency conditions. It makes sense after a drain.
func (b *Bench) Check() []workload.Invariant {
	n := b.warehouses * b.districts
	a := &audit{
		b: b, row: map[uint8][]byte{}, was: map[uint8][]byte{}, init: map[uint8]func(uint64, []byte){},
		touched: make([]bool, n), moved: make([]bool, b.warehouses), paid: make([]int64, n), orders: make([]int64, n), open: make([]int64, n), oldest: make([]uint64, n), lines: make([]int64, n),
		counted: make([]int64, n), delivered: make([]int64, n), charged: map[uint64]int64{}, payments: map[uint64]int64{},
	}
	for d := range a.oldest {
		a.oldest[d] = b.initialDelivered()
	}
	for _, t := range b.specs() {
		a.prepare(t.Spec)
	}
	b.db.EachTouched(Warehouse, func(w uint64) { a.moved[w] = true })
	b.db.EachTouched(District, a.touch)
	a.histories()
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
		list[i] = condition(i+1, text)
	}
	text := a.indexes()
	return append(list, workload.Invariant{Name: "tpcc.indexes", OK: text == "", Rule: indexRule, Text: text})
}

// indexes compares those that were used with the records that they have to
// point to; the others are as they were.
func (a *audit) indexes() (bad string) {
	b := a.b
	for d := range b.warehouses * b.districts {
		if b.lines != nil && b.lines.Used(d) {
			bad = a.lineIndex(d, bad)
		}
		if !b.placed.Used(d) && !b.queue.Used(d) {
			continue
		}
		placed, waiting := uint64(0), uint64(0)
		b.placed.Entries(d, func(e store.Entry) {
			o := a.now(Order, b.orderKey(d, min(e.Value, b.orders-1)))
			if o[oLines] == 0 || placedKey(uint64(wire.Get32(o[oCustomer:])), e.Value) != e.Key {
				bad = fmt.Sprintf("order %d of district %d is not that of customer %d, as its index says", e.Value+1, d, e.Key>>orderBits)
			}
			placed++
		})
		b.queue.Entries(d, func(e store.Entry) {
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
	b.lines.Entries(d, func(e store.Entry) {
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

func (a *audit) prepare(s store.Spec) {
	a.row[s.ID] = make([]byte, s.ValueBytes)
	a.was[s.ID] = make([]byte, s.ValueBytes)
	a.init[s.ID] = s.Init
}

// fail notes the first violation of a condition.
func (a *audit) fail(condition int, format string, args ...any) {
	if a.bad[condition-1] == "" {
		a.bad[condition-1] = fmt.Sprintf(format, args...)
	}
}

// now is a value as it is, zeros where there is none, valid until the table's next.
func (a *audit) now(table uint8, key uint64) []byte {
	row := a.row[table]
	clear(row)
	a.b.db.Value(table, key, row)
	return row
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

// touch has a district looked at, and its warehouse.
func (a *audit) touch(d uint64) { a.touched[d], a.moved[d/a.b.districts] = true, true }

// histories sums up the payments.
func (a *audit) histories() {
	b := a.b
	sum := func(h []byte, sign int64) {
		amount := sign * int64(wire.Get32(h[hAmount:]))
		if amount == 0 {
			return
		}
		// Of a row that says nonsense some district gets the payment, and complains.
		d := (uint64(wire.Get16(h[hWare:]))*b.districts + uint64(h[hDistrict])) % (b.warehouses * b.districts)
		a.touch(d)
		a.paid[d] += amount
		a.payments[b.customerKey(uint64(wire.Get16(h[hCWare:]))*b.districts+uint64(h[hCDistrict]), uint64(wire.Get32(h[hCustomer:])))] += amount
	}
	a.each(History, func(_ uint64, now, before []byte) {
		sum(now, 1)
		sum(before, -1)
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

// allOrders goes through the orders of which any row may have changed.
func (a *audit) allOrders() {
	last := ^uint64(0)
	looked := map[uint64]bool{}
	for _, t := range []struct {
		id   uint8
		rows uint64 // of an order
	}{{Order, 1}, {NewOrder, 1}, {OrderLine, maxLines}} {
		a.b.db.EachTouched(t.id, func(key uint64) {
			if order := key / t.rows; order != last && !looked[order] {
				last, looked[order] = order, true
				a.order(order)
			}
		})
	}
}

// order counts an order, its lines and whether it is a new one.
func (a *audit) order(key uint64) {
	b := a.b
	d, o := b.orderOf(key)
	a.touch(d)
	now, before := a.now(Order, key), a.before(Order, key)
	a.orders[d] += present(now[oLines:][:1]) - present(before[oLines:][:1])
	a.counted[d] += int64(now[oLines]) - int64(before[oLines])
	waits := a.now(NewOrder, key)[nPresent:][:1]
	a.open[d] += present(waits) - present(a.before(NewOrder, key)[nPresent:][:1])
	if present(waits) == 1 {
		a.oldest[d] = min(a.oldest[d], o)
	}
	a.queued(key, now)
	due, was := int64(0), int64(0)
	for n := range uint64(maxLines) {
		l, old := a.now(OrderLine, b.lineKey(key, n)), a.before(OrderLine, b.lineKey(key, n))
		a.lines[d] += present(l[lQuantity:][:2]) - present(old[lQuantity:][:2])
		due, was = due+owed(l), was+owed(old)
		a.line(key, n, now, l)
	}
	a.charge(b.customerKey(d, uint64(wire.Get32(now[oCustomer:]))), due)
	a.charge(b.customerKey(d, uint64(wire.Get32(before[oCustomer:]))), -was)
}

func (a *audit) charge(customer uint64, amount int64) {
	if amount != 0 {
		a.charged[customer] += amount
	}
}

// owed is what a customer has to pay for a line: nothing until it is delivered.
func owed(line []byte) int64 {
	if present(line[lQuantity:][:2]) == 0 || i64(line[lDelivery:]) == 0 {
		return 0
	}
	return int64(wire.Get32(line[lAmount:]))
}

// line is conditions 6 and 7 of one line.
func (a *audit) line(key, n uint64, order, line []byte) {
	d, o := a.b.orderOf(key)
	is := present(line[lQuantity:][:2]) == 1
	if is != (n < uint64(order[oLines])) {
		a.fail(6, "order %d of district %d has %d lines by its count, line %d exists: %v", o+1, d, order[oLines], n+1, is)
	}
	if date := i64(line[lDelivery:]); is && (date != 0) != (order[oCarrier] != 0) {
		a.fail(7, "line %d of order %d of district %d has delivery date %d, the order has carrier %d", n+1, o+1, d, date, order[oCarrier])
	}
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
	a.each(Customer, func(key uint64, now, before []byte) {
		d := key / a.b.customers
		a.touch(d)
		a.delivered[d] += int64(wire.Get32(now[cDeliveries:])) - int64(wire.Get32(before[cDeliveries:]))
		balance := i64(now[cBalance:]) - i64(before[cBalance:])
		if want := a.charged[key] - a.payments[key]; balance != want {
			a.fail(10, "the balance of customer %d of district %d changed by %d, deliveries less payments by %d", key%a.b.customers, d, balance, want)
		}
		if paid := i48(now[cYTD:]) - i48(before[cYTD:]); balance+paid != a.charged[key] {
			a.fail(12, "balance and payments of customer %d of district %d changed by %d, deliveries by %d", key%a.b.customers, d, balance+paid, a.charged[key])
		}
		delete(a.charged, key)
		delete(a.payments, key)
	})
	charged, paid := notZero(a.charged), notZero(a.payments)
	if charged+paid > 0 {
		a.fail(10, "%d customers had deliveries and %d paid that have not changed", charged, paid)
	}
	if charged > 0 {
		a.fail(12, "%d customers had deliveries that have not changed", charged)
	}
}

// notZero counts what no customer has asked for.
func notZero(m map[uint64]int64) (n int) {
	for _, v := range m { // order-free: counts
		if v != 0 {
			n++
		}
	}
	return n
}

// district checks the conditions of one district.
func (a *audit) district(d uint64) {
	b := a.b
	dist := a.now(District, d)
	next, ytd := uint64(wire.Get32(dist[dNext:]))-1, i64(dist[dYTD:])
	if next > b.orders || next < b.customers {
		a.fail(2, "the next order of district %d is %d", d, next+1)
		return
	}
	first, last, n := uint64(0), uint64(0), int64(0)
	for o := a.oldest[d]; o < b.orders && o <= next+maxAhead; o++ {
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
		if !a.moved[w] {
			continue
		}
		sum, paid := int64(0), b.initialWarehouseYTD()
		for d := w * b.districts; d < (w+1)*b.districts; d++ {
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
