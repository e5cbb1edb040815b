package tpce

import (
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

// TestEffects: what the transactions find and leave behind is what the clauses 3.3.1 to 3.3.10
// say. One client runs them one after another, and a model follows, which has the rows but
// nothing of the code that changes them.
func TestEffects(t *testing.T) {
	cfg, _ := occ.Preset("drtm+h")
	b, err := New(tiny())
	if err != nil {
		t.Fatal(err)
	}
	m := &model{
		Model: workloadtest.NewModel(t, b, b.tableSpecs), b: b, waiting: map[uint64][]uint64{}, asked: map[uint64][]uint64{},
		ofAccount: map[uint64][]uint64{}, ofSecurity: map[uint64][]uint64{}, held: map[holdingKey][]uint64{},
	}
	bed := workloadtest.New(t, workloadtest.Setup{Machines: 3, Threads: 1, Coroutines: 1, Txn: cfg, Mode: history.Full, Requests: 1}, workloadtest.Followed{Bench: b, Client: m.client})
	defer bed.Close()
	if bad := bed.Verdict(); len(bad) > 0 {
		t.Error(strings.Join(bad, "\n"))
	}
	m.Compare(m.known)
	m.Saw(
		"rolled back", "limit order", "market order", "sent at its price", "eight sent at once", "left waiting", "last in, first out", "part of a holding sold", "a holding gone",
		"sold short", "bought back", "taxed", "withheld", "on margin", "volume of orders", "watched a list", "watched holdings", "watched an industry",
		"50 trades", "new trades of a security", "looked up a holding", "changed", "of a new quantity class",
	)
	t.Logf("%d transactions: %v", bed.Commits+bed.Rollbacks, m.Seen)
}

// model is what the rows should be.
type model struct {
	*workloadtest.Model
	b *Bench
	r *runner

	// Trades in the order of their numbers, which is that of time.
	waiting    map[uint64][]uint64     // by security, of those new and pending
	asked      map[uint64][]uint64     // by broker, likewise
	ofAccount  map[uint64][]uint64     // new ones
	ofSecurity map[uint64][]uint64     // new ones
	held       map[holdingKey][]uint64 // all that opened a holding which is there
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
	m.r.bodies[tradeOrder] = m.order
	return m
}

// Next runs all transactions of the test.
func (m *model) Next() error {
	list := []int{
		tradeOrder, tradeOrder, tradeResult, customerPosition, tradeOrder, tradeResult, tradeStatus, tradeOrder, tradeResult, tradeLookup,
		tradeOrder, tradeResult, marketWatch, tradeResult, brokerVolume, tradeOrder, tradeResult, tradeUpdate, tradeResult, securityDetail,
		marketWatch, marketWatch,
	}
	for n := range 3_000 {
		typ := list[n%len(list)]
		if n%100 == 99 || n > 2_900 {
			typ = marketFeed
		}
		if err := m.run(typ); err != nil {
			return err
		}
		[numTypes]func(){
			customerPosition: m.customerPosition, tradeOrder: m.tradeOrder, tradeResult: m.tradeResult, securityDetail: func() {}, tradeLookup: m.tradeLookup,
			tradeStatus: m.tradeStatus, brokerVolume: m.brokerVolume, marketFeed: m.marketFeed, marketWatch: m.marketWatch, tradeUpdate: m.tradeUpdate,
		}[typ]()
	}
	return nil
}

// run has the runner draw and run a transaction of a type.
func (m *model) run(typ int) error {
	if err := m.Only(typ); err != nil {
		return err
	}
	return m.r.Next()
}

// fees are the charge and the commission of an order at a price.
func (m *model) fees(trade []byte, price int64) (charge, commission int64) {
	account := wire.Get64(trade[tAccount:])
	tier := uint64(m.Row(Customer, wire.Get64(m.Row(Account, account)[aCustomer:]))[cTier])
	exchange := uint64(m.Row(Security, wire.Get64(trade[tSymbol:])&0xffffffff)[vExchange])
	class, ok := map[uint32]uint64{100: 0, 200: 1, 400: 2, 800: 3}[wire.Get32(trade[tQuantity:])]
	if !ok {
		m.T.Errorf("an order of %d", wire.Get32(trade[tQuantity:]))
	}
	if class > 0 {
		m.Seen["of a new quantity class"]++
	}
	kind := uint64(trade[tType])*3 + tier
	bp := int64(wire.Get32(m.Row(CommissionRate, (kind*4+exchange)*4+class))) // rates are in 1/10000
	return int64(wire.Get32(m.Row(Charge, kind))), int64(wire.Get32(trade[tQuantity:])) * price * bp / 10_000
}

// order is trade-order, and looks at what one has done that is about to be rolled back: all.
func (m *model) order(tx *txn.Tx) error {
	err := m.r.tradeOrder(tx)
	if m.r.order.rollback != errors.Is(err, txn.ErrRollback) {
		m.T.Errorf("an order that is to be rolled back, %v, ends with %v", m.r.order.rollback, err)
	}
	if !errors.Is(err, txn.ErrRollback) {
		return err
	}
	trade, failed := tx.Read(Trade, m.r.trade)
	if failed != nil {
		return failed
	}
	request, failed := tx.Read(TradeRequest, m.r.trade)
	if failed != nil {
		return failed
	}
	if status := wire.Get32(trade[tStatus:]); status == 0 || (status == pending) != (wire.Get32(request[qQuantity:]) != 0) {
		m.T.Errorf("trade %d, which is rolled back, has status %d and a request of %d", m.r.trade, status, wire.Get32(request[qQuantity:]))
	}
	return err
}

func (m *model) tradeOrder() {
	b, r, in := m.b, m.r, &m.r.order
	if in.rollback {
		m.Seen["rolled back"]++
		return
	}
	limit := in.typ == limitBuy || in.typ == limitSell || in.typ == stopLoss
	status, bid := uint32(submitted), wire.Get32(m.Row(LastTrade, r.security)[lPrice:])
	if limit {
		status, bid = pending, in.limit
	}
	v := m.Row(Trade, r.trade)
	if wire.Get32(v[tStatus:]) != 0 {
		m.T.Errorf("trade %d was there", r.trade)
	}
	wire.Put32(v[tStatus:], status)
	v[tType], v[tCash], v[tLIFO] = in.typ, 1, 0
	if in.margin {
		v[tCash] = 0
	}
	if in.lifo {
		v[tLIFO] = 1
	}
	wire.Put32(v[tQuantity:], in.quantity)
	wire.Put32(v[tBid:], bid)
	wire.Put32(v[tSymbol:], uint32(r.security))
	wire.Put64(v[tAccount:], r.account)
	putI64(v[tDate:], marked)
	wire.Put64(v[tNumber:], r.trade)
	charge, commission := m.fees(v, int64(bid))
	putI64(v[tCharge:], charge)
	putI64(v[tComm:], commission)
	m.step(r.trade*3, r.trade, status)
	m.ofAccount[r.account] = append(m.ofAccount[r.account], r.trade)
	m.ofSecurity[r.security] = append(m.ofSecurity[r.security], r.trade)
	if !limit {
		m.Seen["market order"]++
		return
	}
	m.Seen["limit order"]++
	broker := wire.Get64(m.Row(Account, r.account)[aBroker:])
	q := m.Row(TradeRequest, r.trade)
	wire.Put32(q[qQuantity:], in.quantity)
	wire.Put32(q[qBid:], bid)
	q[qType] = in.typ
	wire.Put64(q[qTrade:], r.trade)
	wire.Put64(q[qBroker:], broker)
	wire.Put32(q[qSymbol:], uint32(r.security))
	m.waiting[r.security] = append(m.waiting[r.security], r.trade)
	m.asked[broker] = append(m.asked[broker], r.trade)
	if b.machineOf(r.account) != 0 {
		m.T.Errorf("an account of machine %d", b.machineOf(r.account))
	}
}

// step is a row of a trade's history.
func (m *model) step(key, trade uint64, status uint32) {
	h := m.Row(TradeHistory, key)
	wire.Put32(h[zStatus:], status)
	wire.Put64(h[zTrade:], trade)
	putI64(h[zDate:], marked)
}

func (m *model) marketFeed() {
	sent := 0
	for _, in := range m.r.feed {
		v := m.Row(LastTrade, in.security)
		wire.Put32(v[lPrice:], in.price)
		wire.Put64(v[lVolume:], wire.Get64(v[lVolume:])+uint64(in.quantity))
		putI64(v[lDate:], marked)
		for _, t := range slices.Clone(m.waiting[in.security][:min(lookAt, len(m.waiting[in.security]))]) {
			q := m.Row(TradeRequest, t)
			bid := wire.Get32(q[qBid:])
			if due, ok := map[byte]bool{limitBuy: bid >= in.price, limitSell: bid <= in.price, stopLoss: bid >= in.price}[q[qType]]; !due || !ok {
				m.Seen["left waiting"]++
				continue
			}
			if sent == triggers {
				break
			}
			if sent++; sent == triggers {
				m.Seen["eight sent at once"]++
			}
			m.Seen["sent at its price"]++
			gone := func(list []uint64) []uint64 { return slices.DeleteFunc(list, func(x uint64) bool { return x == t }) }
			broker := wire.Get64(q[qBroker:])
			m.waiting[in.security], m.asked[broker] = gone(m.waiting[in.security]), gone(m.asked[broker])
			clear(q)
			trade := m.Row(Trade, t)
			wire.Put32(trade[tStatus:], submitted)
			putI64(trade[tDate:], marked)
			m.step(t*3+1, t, submitted)
		}
	}
}

// known takes over the dates of the run: they are of it, and which ones the model does not know.
func (m *model) known(ref txn.Ref, has, want []byte) {
	at, ok := map[uint8]int{Trade: tDate, TradeHistory: zDate, Holding: hDate, Cash: fDate, LastTrade: lDate}[ref.Table]
	if ok && i64(want[at:]) == marked {
		if date := i64(has[at:]); date < loadDate || date > m.r.now() {
			m.T.Errorf("row %d of table %d has date %d, now is %d", ref.Key, ref.Table, date, m.r.now())
		}
		copy(want[at:][:8], has[at:])
	}
	if ref.Table == Settlement && i32(want[eDate:]) == marked {
		if date := i32(has[eDate:]); date < loadDate || date > m.r.now() {
			m.T.Errorf("settlement %d has date %d, now is %d", ref.Key, date, m.r.now())
		}
		copy(want[eDate:][:4], has[eDate:])
	}
}
