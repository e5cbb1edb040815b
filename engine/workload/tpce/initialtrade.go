package tpce

import "drtmx/engine/wire"

// The trades of the start. Each account has made as many, in turn in each of the
// securities of its list. All are completed. Of a security the account still holds
// what the last few bought; those before are pairs of a purchase and the sale of
// the same quantity.

// tradesIn is how many trades were in a slot.
func (b *Bench) tradesIn(account, slot uint64) uint64 {
	n := b.listLength(account)
	return (b.initial + n - 1 - slot) / n
}

// open is how many of the last ones have an open holding: 0 to 5, so many that
// those before are pairs.
func (b *Bench) open(account, slot uint64) uint64 {
	x := b.bits(Holding, ^(account*listed + slot))
	n := b.tradesIn(account, slot)
	return min(n, n%2+2*x.Below(3))
}

// quantityIn is the quantity of the i-th trade in a slot.
func (b *Bench) quantityIn(account, slot, i uint64) uint32 {
	if i < b.tradesIn(account, slot)-b.open(account, slot) {
		i &^= 1 // that of the pair
	}
	x := b.bits(Trade, ^((account*listed+slot)<<16 + i))
	return b.quantity(x.Below(4))
}

// quantity is one of the standard's four.
func (b *Bench) quantity(i uint64) uint32 { return 100 << i }

// initialTrade is an initial trade: what it did to its account.
type initialTrade struct {
	account, slot, i uint64 // the i-th in this slot
	buys, opens      bool   // opens: the holding is still there
	typ              byte
	cash             bool
	quantity, price  uint32
	date             int64
}

func (b *Bench) historyOf(trade uint64) (p initialTrade, ok bool) {
	account, k, ok := b.initialTrade(trade)
	if !ok {
		return p, false
	}
	n := b.listLength(account)
	p = initialTrade{account: account, slot: k % n, i: k / n, date: int64(1 + k)}
	p.opens = p.i >= b.tradesIn(account, p.slot)-b.open(account, p.slot)
	p.buys = p.opens || p.i%2 == 0
	p.quantity = b.quantityIn(account, p.slot, p.i)
	x := b.bits(Trade, trade)
	p.price = uint32(lowPrice + x.Below(priceRange))
	p.cash = x.Below(100) < cashPercent
	limit := x.Below(10) < 4
	switch {
	case p.buys && limit:
		p.typ = limitBuy
	case p.buys:
		p.typ = marketBuy
	case limit:
		p.typ = limitSell
	default:
		p.typ = marketSell
	}
	return p, true
}

// amount is what the account was paid.
func (p *initialTrade) amount() int64 {
	return netAmount(!p.buys, int64(p.quantity), int64(p.price), initialCharge, initialCommission, 0)
}

// netAmount is what an account is paid for a sale, or negative for a purchase.
func netAmount(sale bool, quantity, price, charge, commission, tax int64) int64 {
	if sale {
		return quantity*price - charge - commission - tax
	}
	return -(quantity*price + charge + commission) - tax
}

func (b *Bench) initTrade(key uint64, v []byte) {
	p, ok := b.historyOf(key)
	if !ok {
		return
	}
	b.setTrade(v, key, p.account, p.slot, p.typ, p.cash, p.quantity, p.price)
	wire.Put32(v[tStatus:], completed)
	wire.Put32(v[tPrice:], p.price)
	putI64(v[tDate:], p.date)
	putI64(v[tCharge:], initialCharge)
	putI64(v[tComm:], initialCommission)
	x := b.bits(Trade, key)
	x.Text(v[tExecutor+4:])
}

// setTrade writes what an order says.
func (b *Bench) setTrade(v []byte, trade, account, slot uint64, typ byte, cash bool, quantity, bid uint32) {
	v[tType], v[tCash] = typ, 0
	if cash {
		v[tCash] = 1
	}
	wire.Put32(v[tQuantity:], quantity)
	wire.Put32(v[tBid:], bid)
	wire.Put32(v[tSymbol:], uint32(b.securityOf(account, slot)))
	wire.Put64(v[tAccount:], account)
	wire.Put64(v[tNumber:], trade)
}

func (b *Bench) initTradeHistory(key uint64, v []byte) {
	trade, n := key/histories, key%histories
	p, ok := b.historyOf(trade)
	if list := steps(p.typ); ok && int(n) < len(list) {
		setHistory(v, trade, list[n], p.date)
	}
}

// steps are the statuses that a trade goes through.
func steps(typ byte) []uint32 {
	if isLimit(typ) {
		return limitSteps[:]
	}
	return limitSteps[1:]
}

var limitSteps = [histories]uint32{pending, submitted, completed}

func setHistory(v []byte, trade uint64, status uint32, date int64) {
	wire.Put32(v[zStatus:], status)
	wire.Put64(v[zTrade:], trade)
	putI64(v[zDate:], date)
}

func (b *Bench) initSettlement(key uint64, v []byte) {
	if p, ok := b.historyOf(key); ok {
		setSettlement(v, key, p.amount(), p.date)
	}
}

func setSettlement(v []byte, trade uint64, amount, date int64) {
	putI64(v[eAmount:], amount)
	wire.Put32(v[eDate:], uint32(date))
	wire.Put64(v[eTrade:], trade)
}

func (b *Bench) initCash(key uint64, v []byte) {
	if p, ok := b.historyOf(key); ok && p.cash {
		setCash(v, key, p.amount(), p.date)
		x := b.bits(Cash, key)
		x.Text(v[fName+4:])
	}
}

func setCash(v []byte, trade uint64, amount, date int64) {
	putI64(v[fAmount:], amount)
	putI64(v[fDate:], date)
	wire.Put64(v[fTrade:], trade)
}

func (b *Bench) initHolding(key uint64, v []byte) {
	if p, ok := b.historyOf(key); ok && p.opens {
		setHolding(v, key, p.account, b.securityOf(p.account, p.slot), int64(p.quantity), p.price, p.date)
	}
}

func setHolding(v []byte, trade, account, security uint64, quantity int64, price uint32, date int64) {
	putI32(v[hQuantity:], quantity)
	wire.Put32(v[hPrice:], price)
	wire.Put64(v[hTrade:], trade)
	wire.Put64(v[hAccount:], account)
	putI64(v[hDate:], date)
	wire.Put32(v[hSymbol:], uint32(security))
}

// initHoldingHistory: each trade of the start opened a holding or closed that of
// the trade before it in its slot.
func (b *Bench) initHoldingHistory(key uint64, v []byte) {
	trade := key / closes
	p, ok := b.historyOf(trade)
	switch {
	case !ok || key%closes != 0:
	case p.buys:
		setHoldingHistory(v, trade, trade, 0, int64(p.quantity))
	default:
		setHoldingHistory(v, trade, trade-b.listLength(p.account), int64(p.quantity), 0)
	}
}

func setHoldingHistory(v []byte, trade, holding uint64, before, after int64) {
	putI32(v[yBefore:], before)
	putI32(v[yAfter:], after)
	wire.Put64(v[yHolding:], holding)
	wire.Put64(v[yTrade:], trade+1)
}
