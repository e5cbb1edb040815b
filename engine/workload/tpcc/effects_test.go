package tpcc

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"drtmx/engine/history"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
	"drtmx/engine/workload"
	"drtmx/engine/workload/workloadtest"
)

// TestEffects: what each of the five transactions finds and leaves behind is what the clauses
// 2.4 to 2.8 say. One terminal runs them one after another, and a model follows, which has
// the rows but nothing of the code that changes them.
func TestEffects(t *testing.T) { testEffects(t, 1) }

// TestEffectsOfManyDistricts: stock-level looks at districts of three warehouses, on two machines.
func TestEffectsOfManyDistricts(t *testing.T) { testEffects(t, 7, "stock-level on two machines") }

func testEffects(t *testing.T, stockDistricts int, also ...string) {
	cfg, _ := occ.Preset("drtm+h")
	o := tiny()
	o.Warehouses, o.Districts, o.Items, o.Rollbacks = 2, 3, 60, 100 // so that stock runs low and all is delivered
	o.StockDistricts = stockDistricts
	b, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	m := &model{Model: workloadtest.NewModel(t, b, b.tableSpecs), b: b}
	bed := workloadtest.New(t, workloadtest.Setup{Machines: 3, Threads: 1, Coroutines: 1, Txn: cfg, Mode: history.Full, Requests: 1}, workloadtest.Followed{Bench: b, Client: m.client})
	defer bed.Close()
	if bad := bed.Verdict(); len(bad) > 0 {
		t.Error(strings.Join(bad, "\n"))
	}
	m.Compare(m.known)
	m.Saw(append(also,
		"rolled back", "goods from elsewhere", "stock filled up", "payment by name", "payment elsewhere", "bad credit",
		"an order of the run found", "delivered", "nothing to deliver", "stock found low", "an item twice",
	)...)
	t.Logf("%d transactions: %v", bed.Commits+bed.Rollbacks, m.Seen)
}

// model is what the rows should be.
type model struct {
	*workloadtest.Model
	b *Bench
	r *runner
}

const marked = -1 // a date of the run, whichever

func (b *Bench) tableSpecs() (list []store.Spec) {
	for _, s := range b.specs() {
		list = append(list, s.Spec)
	}
	return list
}

// client is the runner, which the model drives.
func (m *model) client(c *r2.Co) workload.Runner {
	m.r = m.b.Runner(c).(*runner)
	m.r.bodies[newOrder] = m.order
	return m
}

// Next runs all transactions of the test: deliveries rarely, then until nothing is left.
func (m *model) Next() error {
	for n := range 1_200 {
		typ := []int{newOrder, payment, newOrder, payment, orderStatus, stockLevel}[n%6]
		if n%60 == 59 || n >= 600 || m.r.left > 0 {
			typ = delivery
		}
		if err := m.run(typ); err != nil {
			return err
		}
		[numTypes]func(){newOrder: m.newOrder, payment: m.payment, orderStatus: m.orderStatus, delivery: m.delivery, stockLevel: m.stockLevel}[typ]()
	}
	return nil
}

// run has the runner draw and run a transaction of a type, or go on with a delivery.
func (m *model) run(typ int) error {
	if err := m.Only(typ); err != nil {
		return err
	}
	return m.r.Next()
}

func (m *model) next(d uint64) uint64 { return uint64(wire.Get32(m.Row(District, d)[dNext:])) - 1 }

// order is new-order, and looks at what one has done that is about to be rolled back: all
// but its last line (clause 2.4.2.3).
func (m *model) order(tx *txn.Tx) error {
	err := m.r.newOrder(tx)
	if m.r.order.invalid != errors.Is(err, txn.ErrRollback) {
		m.T.Errorf("an order whose last item does not exist, %v, ends with %v", m.r.order.invalid, err)
	}
	if !errors.Is(err, txn.ErrRollback) {
		return err
	}
	order := m.b.orderKey(m.r.d, m.next(m.r.d))
	for n := range uint64(maxLines) {
		line, ok, failed := m.r.find(tx, OrderLine, m.b.lineKey(order, n))
		if failed != nil {
			return failed
		}
		if done := n+1 < uint64(m.r.order.lines); ok != done {
			m.T.Errorf("line %d of %d of an order that is rolled back: %v", n+1, m.r.order.lines, line)
		}
	}
	return err
}

func (m *model) newOrder() {
	b, in, d := m.b, &m.r.order, m.r.d
	if in.invalid {
		m.Seen["rolled back"]++
		return
	}
	o := m.next(d)
	wire.Put32(m.Row(District, d)[dNext:], uint32(o)+2)
	order := m.Row(Order, b.orderKey(d, o))
	wire.Put32(order[oCustomer:], uint32(m.r.c))
	putI64(order[oEntry:], marked)
	wire.Put32(order[oNumber:], uint32(o)+1)
	wire.Put16(order[oWare:], uint16(m.r.w))
	order[oDistrict], order[oLines], order[oAllLocal] = byte(d%b.districts), byte(in.lines), 1
	waits := m.Row(NewOrder, b.orderKey(d, o))
	wire.Put32(waits[nOrder:], uint32(o)+1)
	wire.Put16(waits[nWare:], uint16(m.r.w))
	waits[nDistrict], waits[nPresent] = byte(d%b.districts), 1
	items := map[uint64]bool{}
	for n := range in.lines {
		l := in.line[n]
		if items[l.item] {
			m.Seen["an item twice"]++
		}
		items[l.item] = true
		if l.supply != m.r.w {
			order[oAllLocal] = 0
			m.Seen["goods from elsewhere"]++
		}
		m.take(l.supply, l.item, l.quantity)
		line := m.Row(OrderLine, b.lineKey(b.orderKey(d, o), uint64(n)))
		wire.Put32(line[lItem:], uint32(l.item))
		wire.Put16(line[lSupply:], uint16(l.supply))
		wire.Put16(line[lQuantity:], uint16(l.quantity))
		wire.Put32(line[lAmount:], l.quantity*wire.Get32(m.Row(Item, l.item)[iPrice:]))
		wire.Put32(line[lOrder:], uint32(o)+1)
		wire.Put16(line[lWare:], uint16(m.r.w))
		line[lDistrict], line[lNumber] = byte(d%b.districts), byte(n)+1
		copy(line[lDist:], m.Row(StockData, b.stockKey(l.supply, l.item))[24*(d%b.districts):][:24])
	}
}

// take is clause 2.4.2.2 on the stock.
func (m *model) take(w, item uint64, quantity uint32) {
	s := m.Row(Stock, m.b.stockKey(w, item))
	left := int(wire.Get32(s[sQuantity:])) - int(quantity)
	if left < 10 {
		left += 91
		m.Seen["stock filled up"]++
	}
	wire.Put32(s[sQuantity:], uint32(left))
	wire.Put32(s[sYTD:], wire.Get32(s[sYTD:])+quantity)
	wire.Put32(s[sOrders:], wire.Get32(s[sOrders:])+1)
	if w != m.r.w {
		wire.Put32(s[sRemote:], wire.Get32(s[sRemote:])+1)
	}
}

// customer is whom the inputs mean.
func (m *model) customer() uint64 {
	if !m.r.byName {
		return m.r.c
	}
	type person struct {
		first string
		c     uint64
	}
	var list []person
	for c := range m.b.customers {
		v := value(m.b.initCustomer, customerBytes, m.b.customerKey(m.r.cd, c))
		if string(bytes.TrimRight(v[cLast:][:cLastBytes], "\x00")) == spelled(m.r.name) {
			list = append(list, person{string(v[cFirst:][:cFirstBytes]), c})
		}
	}
	slices.SortFunc(list, func(x, y person) int { return strings.Compare(x.first, y.first) })
	return list[(len(list)+1)/2-1].c
}

func (m *model) payment() {
	b, r, c := m.b, m.r, m.customer()
	amount := int64(r.amount)
	if r.byName {
		m.Seen["payment by name"]++
	}
	if r.cd/b.districts != r.w {
		m.Seen["payment elsewhere"]++
	}
	w, d, v := m.Row(Warehouse, r.w), m.Row(District, r.d), m.Row(Customer, b.customerKey(r.cd, c))
	put48(w[wYTD:], i48(w[wYTD:])+amount)
	putI64(d[dYTD:], i64(d[dYTD:])+amount)
	putI64(v[cBalance:], i64(v[cBalance:])-amount)
	put48(v[cYTD:], i48(v[cYTD:])+amount)
	wire.Put32(v[cPayments:], wire.Get32(v[cPayments:])+1)
	if string(v[cCredit:][:2]) == "BC" {
		m.Seen["bad credit"]++
		note := make([]byte, cHistoryCopy)
		wire.Put32(note, uint32(c))
		wire.Put32(note[4:], uint32(r.cd))
		wire.Put32(note[8:], uint32(r.d))
		wire.Put32(note[12:], r.amount)
		copy(v[cData:], append(note, v[cData:][:cDataBytes]...)[:cDataBytes])
	}
	h := m.Row(History, b.historyKey(r.w, r.history))
	if wire.Get32(h[hAmount:]) != 0 {
		m.T.Errorf("payment %d of warehouse %d was there", r.history, r.w)
	}
	wire.Put32(h[hCustomer:], uint32(c))
	h[hCDistrict], h[hDistrict] = byte(r.cd%b.districts), byte(r.d%b.districts)
	wire.Put16(h[hCWare:], uint16(r.cd/b.districts))
	wire.Put16(h[hWare:], uint16(r.w))
	putI64(h[hDate:], marked)
	wire.Put32(h[hAmount:], r.amount)
}

// orderStatus looks at what was found: the lines of the customer's last order.
func (m *model) orderStatus() {
	b, d, c := m.b, m.r.cd, m.customer()
	for o := m.next(d); o > 0; o-- {
		order := m.Row(Order, b.orderKey(d, o-1))
		if uint64(wire.Get32(order[oCustomer:])) != c {
			continue
		}
		if o > b.customers {
			m.Seen["an order of the run found"]++
		}
		if want := b.lineKey(b.orderKey(d, o-1), 0); len(m.r.refs) != int(order[oLines]) || m.r.refs[0].Key != want {
			m.T.Errorf("of customer %d of district %d order-status found %v, the last order is %d with %d lines from %d on", c, d, m.r.refs, o, order[oLines], want)
		}
		return
	}
}

// delivery is that of one district.
func (m *model) delivery() {
	b, d := m.b, m.r.d
	if first := m.r.w*b.districts + b.districts - 1 - uint64(m.r.left); d != first {
		m.T.Errorf("district %d is delivered where %d is next", d, first)
	}
	for o := range m.next(d) {
		waits, order := m.Row(NewOrder, b.orderKey(d, o)), m.Row(Order, b.orderKey(d, o))
		if waits[nPresent] == 0 {
			continue
		}
		clear(waits)
		order[oCarrier] = m.r.carrier
		v := m.Row(Customer, b.customerKey(d, uint64(wire.Get32(order[oCustomer:]))))
		wire.Put32(v[cDeliveries:], wire.Get32(v[cDeliveries:])+1)
		for n := range uint64(order[oLines]) {
			line := m.Row(OrderLine, b.lineKey(b.orderKey(d, o), n))
			putI64(line[lDelivery:], marked)
			putI64(v[cBalance:], i64(v[cBalance:])+int64(wire.Get32(line[lAmount:])))
		}
		m.Seen["delivered"]++
		return
	}
	m.Seen["nothing to deliver"]++
}

// stockLevel looks at what was counted: the items of each warehouse for themselves.
func (m *model) stockLevel() {
	b, low, servers := m.b, map[uint64]bool{}, map[uint64]bool{}
	for k := range uint64(b.opt.StockDistricts) {
		d := (m.r.d + k) % (b.warehouses * b.districts)
		w := d / b.districts
		servers[b.server(w)] = true
		for o := m.next(d) - 20; o < m.next(d); o++ {
			for n := range uint64(m.Row(Order, b.orderKey(d, o))[oLines]) {
				stock := b.stockKey(w, uint64(wire.Get32(m.Row(OrderLine, b.lineKey(b.orderKey(d, o), n))[lItem:])))
				if wire.Get32(m.Row(Stock, stock)[sQuantity:]) < m.r.threshold {
					low[stock] = true
				}
			}
		}
	}
	m.Seen["stock found low"] += len(low)
	if len(servers) > 1 {
		m.Seen["stock-level on two machines"]++
	}
	if m.r.low != len(low) {
		m.T.Errorf("%d districts from district %d on have %d stock records below %d, stock-level found %d", b.opt.StockDistricts, m.r.d, len(low), m.r.threshold, m.r.low)
	}
}

// known takes over the dates of the run: they are of it, and which ones the model does not know.
func (m *model) known(ref txn.Ref, has, want []byte) {
	at, ok := map[uint8]int{Order: oEntry, OrderLine: lDelivery, History: hDate}[ref.Table]
	if !ok || i64(want[at:]) != marked {
		return
	}
	if date := i64(has[at:]); date <= loadDate || date > m.r.now() {
		m.T.Errorf("row %d of table %d has date %d, now is %d", ref.Key, ref.Table, date, m.r.now())
	}
	copy(want[at:][:8], has[at:])
}
