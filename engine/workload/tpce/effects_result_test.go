package tpce

import (
	"slices"

	"drtmx/engine/wire"
)

// What the model of TestEffects says of trade-result.

// holdings are those of an account in a security, by the number of their trades.
func (m *model) holdings(p holdingKey) []uint64 {
	if m.held[p] == nil {
		m.held[p] = []uint64{}
		for k := range m.b.initial {
			t := m.b.tradeOf(p.account, k)
			if slot, _ := m.b.slotOf(p.account, uint64(wire.Get32(m.Row(Trade, t)[tSymbol:]))); slot == p.slot && i32(m.Row(Holding, t)[hQuantity:]) != 0 {
				m.held[p] = append(m.held[p], t)
			}
		}
	}
	return m.held[p]
}

func (m *model) tradeResult() {
	t, price := m.r.trade, m.r.price
	v := m.Row(Trade, t)
	if wire.Get32(v[tStatus:]) == 0 { // none was there to report
		m.tradeOrder()
		return
	}
	account := wire.Get64(v[tAccount:])
	slot, ok := m.b.slotOf(account, uint64(wire.Get32(v[tSymbol:])))
	if wire.Get32(v[tStatus:]) != submitted || !ok {
		m.T.Errorf("trade %d with status %d is reported", t, wire.Get32(v[tStatus:]))
	}
	sold, bought := m.close(t, v, holdingKey{account, slot}, price)
	a := m.Row(Account, account)
	customer, tax := wire.Get64(a[aCustomer:]), int64(0)
	if a[aTax] != 0 && sold > bought {
		sum := int64(0)
		for i := range uint64(2) {
			sum += int64(wire.Get32(m.Row(Taxrate, uint64(wire.Get32(m.Row(CustomerTaxrate, customer*2+i)[rTaxrate:])))))
		}
		tax = (sold - bought) * sum / 10_000
		m.Seen["taxed"]++
	}
	_, commission := m.fees(v, price)
	wire.Put32(v[tStatus:], completed)
	wire.Put32(v[tPrice:], uint32(price))
	putI64(v[tDate:], marked)
	putI64(v[tComm:], commission)
	putI64(v[tTax:], tax)
	last := uint64(1)
	if v[tType] != marketBuy && v[tType] != marketSell {
		last = 2
	}
	m.step(t*3+last, t, completed)
	broker := m.Row(BrokerTotal, wire.Get64(a[aBroker:]))
	wire.Put64(broker[bTrades:], wire.Get64(broker[bTrades:])+1)
	putI64(broker[bCommission:], i64(broker[bCommission:])+commission)
	m.settle(t, v, a, tax)
}

// settle is frame 6.
func (m *model) settle(t uint64, v, a []byte, tax int64) {
	amount := int64(wire.Get32(v[tQuantity:])) * int64(wire.Get32(v[tPrice:]))
	if v[tType] == marketBuy || v[tType] == limitBuy {
		amount = -amount
	}
	amount -= i64(v[tCharge:]) + i64(v[tComm:])
	if a[aTax] == 1 {
		if amount -= tax; tax > 0 {
			m.Seen["withheld"]++
		}
	}
	e := m.Row(Settlement, t)
	putI64(e[eAmount:], amount)
	wire.Put64(e[eTrade:], t)
	putI32(e[eDate:], marked)
	if v[tCash] == 0 {
		m.Seen["on margin"]++
		return
	}
	f := m.Row(Cash, t)
	putI64(f[fAmount:], amount)
	putI64(f[fDate:], marked)
	wire.Put64(f[fTrade:], t)
	putI64(a[aBalance:], i64(a[aBalance:])+amount)
}

// close is frame 2: what the holdings that the trade closes were sold and bought for.
func (m *model) close(t uint64, v []byte, p holdingKey, price int64) (sold, bought int64) {
	needed, sign := int64(wire.Get32(v[tQuantity:])), int64(1)
	if v[tType] == marketSell || v[tType] == limitSell || v[tType] == stopLoss {
		sign = -1
	}
	summary, rows := m.Row(HoldingSummary, p.account*listed+p.slot), uint64(0)
	before := i32(summary[sQuantity:])
	putI32(summary[sQuantity:], before+sign*needed)
	note := func(holding uint64, from, to int64) {
		y := m.Row(HoldingHistory, t*closes+rows)
		putI32(y[yBefore:], from)
		putI32(y[yAfter:], to)
		wire.Put64(y[yHolding:], holding)
		wire.Put64(y[yTrade:], t+1)
		rows++
	}
	list := slices.Clone(m.holdings(p))
	if v[tLIFO] != 0 {
		slices.Reverse(list)
		m.Seen["last in, first out"]++
	}
	for _, holding := range list {
		h := m.Row(Holding, holding)
		q := i32(h[hQuantity:])
		if needed == 0 || q*sign > 0 {
			break
		}
		n := min(needed, max(q, -q))
		needed -= n
		note(holding, q, q+sign*n)
		paid := n * int64(wire.Get32(h[hPrice:]))
		if sign < 0 {
			sold, bought = sold+n*price, bought+paid
		} else {
			sold, bought = sold+paid, bought+n*price
			m.Seen["bought back"]++
		}
		if putI32(h[hQuantity:], q+sign*n); q+sign*n != 0 {
			m.Seen["part of a holding sold"]++
			continue
		}
		clear(h)
		m.Seen["a holding gone"]++
		m.held[p] = slices.DeleteFunc(m.held[p], func(x uint64) bool { return x == holding })
	}
	if needed == 0 {
		return sold, bought
	}
	if sign < 0 {
		m.Seen["sold short"]++
	}
	note(t, 0, sign*needed)
	h := m.Row(Holding, t)
	putI32(h[hQuantity:], sign*needed)
	wire.Put32(h[hPrice:], uint32(price))
	wire.Put64(h[hTrade:], t)
	wire.Put64(h[hAccount:], p.account)
	putI64(h[hDate:], marked)
	wire.Put32(h[hSymbol:], wire.Get32(v[tSymbol:]))
	m.held[p] = append(m.held[p], t)
	slices.Sort(m.held[p])
	return sold, bought
}
