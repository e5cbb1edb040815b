package tpce

import "drtmx/engine/wire"

// The population of customers and brokers (clause 2.6): every row is a pure
// function of its key, so that nothing is stored of untouched rows.

const (
	loadDate = 1 << 20 // dates are in microseconds of virtual time; trades of the start are older, 0 is none

	initialBalance    = 10_000_00
	initialCharge     = 5_00 // of each trade of the start
	initialCommission = 10_00
	lowPrice          = 20_00 // prices are from 20 to 30
	priceRange        = 10_01
	cashPercent       = 92 // of trades; the others are on margin
)

// initText makes rows of which no column is looked at.
func (b *Bench) initText(table uint64) func(key uint64, v []byte) {
	return func(key uint64, v []byte) {
		x := b.bits(table, key)
		x.Text(v)
	}
}

// permissions is how many rows of an account's permissions exist: 1 to 3.
func (b *Bench) permissions(account uint64) uint64 {
	x := b.bits(AccountPermission, ^account)
	switch p := x.Below(100); {
	case p < 60:
		return 1
	case p < 98:
		return 2
	}
	return permissionsOf
}

func (b *Bench) initPermission(key uint64, v []byte) {
	if key%permissionsOf < b.permissions(key/permissionsOf) {
		b.initText(AccountPermission)(key, v)
	}
}

func (b *Bench) initCustomer(key uint64, v []byte) {
	x := b.bits(Customer, key)
	wire.Put64(v, key)
	v[cTier] = b.tier(key)
	x.Text(v[cText:])
}

// tier is one of three, of which the second has 60 % of the customers.
func (b *Bench) tier(customer uint64) byte {
	x := b.bits(Customer, ^customer)
	switch p := x.Below(10); {
	case p < 2:
		return 0
	case p < 8:
		return 1
	}
	return 2
}

func (b *Bench) initAccount(key uint64, v []byte) {
	x := b.bits(Account, key)
	putI64(v[aBalance:], initialBalance)
	wire.Put64(v[aBroker:], b.brokerOf(key))
	wire.Put64(v[aCustomer:], customerOf(key))
	switch p := x.Below(10); { // 20, 50 and 30 %
	case p < 2:
		v[aTax] = 0
	case p < 7:
		v[aTax] = 1
	default:
		v[aTax] = 2
	}
	x.Text(v[aText:])
}

func (b *Bench) initCustomerTaxrate(key uint64, v []byte) {
	x := b.bits(CustomerTaxrate, key)
	wire.Put32(v[rTaxrate:], uint32(x.Below(taxrates)))
	wire.Put64(v[rCustomer:], key/taxratesOf)
}

func (b *Bench) initSummary(key uint64, v []byte) {
	account, slot := key/listed, key%listed
	wire.Put64(v[sAccount:], account)
	if slot >= b.listLength(account) {
		return
	}
	wire.Put32(v[sSymbol:], uint32(b.securityOf(account, slot)))
	sum := int64(0)
	n := b.tradesIn(account, slot)
	for i := n - b.open(account, slot); i < n; i++ {
		sum += int64(b.quantityIn(account, slot, i))
	}
	putI32(v[sQuantity:], sum)
}

// watched is how many securities a customer watches: 50 to 150.
func (b *Bench) watched(customer uint64) uint64 {
	x := b.bits(WatchList, ^customer)
	return watchRows/3 + x.Below(watchRows-watchRows/3+1)
}

func (b *Bench) initWatchList(key uint64, v []byte) {
	wire.Put64(v[wCustomer:], key)
	wire.Put64(v[wItems:], b.watched(key))
}

func (b *Bench) initWatchItem(key uint64, v []byte) {
	list, i := key/watchRows, key%watchRows
	if i >= b.watched(list) {
		return
	}
	x := b.bits(WatchItem, list)
	all := b.securities * b.servers
	wire.Put32(v[iSymbol:], uint32(b.lists.At((x.Below(all)+i)%all))) // different ones
	wire.Put64(v[iList:], list+1)
}

func (b *Bench) initBroker(key uint64, v []byte) {
	b.initText(Broker)(key, v)
	wire.Put64(v, key)
}

func (b *Bench) initBrokerTotal(key uint64, v []byte) {
	n := b.accountsOfBroker(key) * b.initial
	wire.Put64(v[bTrades:], n)
	putI64(v[bCommission:], int64(n)*initialCommission)
}

func (b *Bench) initCharge(key uint64, v []byte) {
	x := b.bits(Charge, key)
	wire.Put32(v[rate:], uint32(100+x.Below(900)))
}

func (b *Bench) initCommissionRate(key uint64, v []byte) {
	x := b.bits(CommissionRate, key)
	wire.Put32(v[rate:], uint32(10+x.Below(40))) // up to half a per cent
}

func (b *Bench) initTradeType(key uint64, v []byte) {
	b.initText(TradeType)(key, v)
	v[pSell], v[pMarket] = 0, 0
	if sells(byte(key)) {
		v[pSell] = 1
	}
	if !isLimit(byte(key)) {
		v[pMarket] = 1
	}
}

func (b *Bench) initTaxrate(key uint64, v []byte) {
	x := b.bits(Taxrate, key)
	x.Text(v)
	wire.Put32(v[rate:], uint32(100+x.Below(1900)))
}
