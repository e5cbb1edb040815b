package tpce

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// orderInput is what a trade-order orders.
type orderInput struct {
	typ          byte
	slot         uint64 // of the security in the account's list
	quantity     uint32
	limit        uint32 // price of a limit order
	permission   uint64 // row of who orders, if that is not the owner
	byOther      bool
	margin, lifo bool
	rollback     bool
}

// drawOrder picks the inputs of trade-order. The row of the trade belongs to this
// transaction, whatever becomes of it.
func (r *runner) drawOrder(rand *r2.Rand) {
	b, in := r.b, &r.order
	r.drawAccount(rand)
	*in = orderInput{slot: rand.Uint64n(b.listLength(r.account)), quantity: b.quantity(rand.Uint64n(4)), limit: uint32(lowPrice + rand.Uint64n(priceRange))}
	switch p := rand.Uint64n(100); { // 30, 30, 20, 10, 10 %
	case p < 30:
		in.typ = marketBuy
	case p < 60:
		in.typ = marketSell
	case p < 80:
		in.typ = limitBuy
	case p < 90:
		in.typ = limitSell
	default:
		in.typ = stopLoss
	}
	n := b.permissions(r.account)
	in.byOther = rand.Uint64n(10) == 0
	in.permission = r.account*permissionsOf + rand.Uint64n(n)
	in.margin = rand.Uint64n(100) >= cashPercent
	in.lifo = rand.Uint64n(100) < 35
	in.rollback = int(rand.Uint64n(1000)) < b.opt.Rollbacks
	r.security = b.securityOf(r.account, in.slot)
	r.trade = r.home*b.trades + r.market[r.home].number()
}

// tradeOrder is clause 3.3.7.
func (r *runner) tradeOrder(tx *txn.Tx) error {
	b, in := r.b, &r.order
	if r.trade/b.trades != r.home {
		return fmt.Errorf("tpce: machine %d has no room for new trade %d: raise workload.orders from %d", r.home, r.trade-r.home*b.trades-b.accounts*b.initial+1, b.opt.Orders)
	}
	account, err := tx.Read(Account, r.account) // frame 1: the account, its owner and its broker
	if err != nil {
		return err
	}
	tax, broker := account[aTax], wire.Get64(account[aBroker:])%(b.brokers*b.servers)
	customer, err := r.parties(tx, account)
	if err != nil {
		return err
	}
	if in.byOther { // frame 2: may who orders do so
		if _, err := tx.Read(AccountPermission, in.permission); err != nil {
			return err
		}
	}
	bid, charge, commission, err := r.estimate(tx, tax, customer[cTier]) // frame 3
	if err != nil {
		return err
	}
	if err := r.insertTrade(tx, broker, bid, charge, commission); err != nil { // frame 4
		return err
	}
	if in.rollback {
		return txn.ErrRollback // after all the work, as the standard wants it
	}
	return nil
}

// parties reads customer and broker of an account.
func (r *runner) parties(tx *txn.Tx, account []byte) (customer []byte, err error) {
	b := r.b
	c := wire.Get64(account[aCustomer:]) % (b.customers * b.servers)
	err = r.want(Customer, c).add(Broker, wire.Get64(account[aBroker:])%(b.brokers*b.servers)).fetch(tx)
	if err != nil {
		return nil, err
	}
	return tx.Read(Customer, c)
}

// estimate finds what the trade is going to cost: the price, the holdings that it
// closes for the tax on their gain, charge and commission, and for an order on
// margin what the account is worth.
func (r *runner) estimate(tx *txn.Tx, tax, tier byte) (bid uint32, charge, commission int64, err error) {
	b, in := r.b, &r.order
	if err := r.want(Security, r.security).add(LastTrade, r.security).fetch(tx); err != nil {
		return 0, 0, 0, err
	}
	security, err := tx.Read(Security, r.security)
	if err != nil {
		return 0, 0, 0, err
	}
	exchange := uint64(security[vExchange])
	if _, err := tx.Read(Company, wire.Get64(security[vCompany:])%(b.companies*b.servers)); err != nil {
		return 0, 0, 0, err
	}
	last, err := tx.Read(LastTrade, r.security)
	if err != nil {
		return 0, 0, 0, err
	}
	bid = wire.Get32(last[lPrice:])
	if isLimit(in.typ) {
		bid = in.limit
	}
	if _, err := r.common(tx, TradeType, tradeTypes, uint64(in.typ)); err != nil {
		return 0, 0, 0, err
	}
	held, err := tx.Read(HoldingSummary, r.account*listed+in.slot)
	if err != nil {
		return 0, 0, 0, err
	}
	gain, err := r.gain(tx, i32(held[sQuantity:]), int64(bid))
	if err != nil {
		return 0, 0, 0, err
	}
	if _, err := r.taxOn(tx, customerOf(r.account), tax, gain); err != nil {
		return 0, 0, 0, err
	}
	if charge, commission, err = r.fees(tx, tier, in.typ, exchange, in.quantity, int64(bid)); err != nil || !in.margin {
		return bid, charge, commission, err
	}
	if err := r.clearRefs().addHoldings(r.account).fetch(tx); err != nil {
		return 0, 0, 0, err
	}
	return bid, charge, commission, r.worth(tx, r.account, r.sums[:1])
}

// gain is what closing holdings would earn: those of the other sign, the newest
// first under LIFO.
func (r *runner) gain(tx *txn.Tx, held, price int64) (int64, error) {
	in := &r.order
	sale := sells(in.typ)
	if held == 0 || sale != (held > 0) {
		return 0, nil
	}
	if err := r.holdings(tx, r.account, in.slot, in.lifo); err != nil {
		return 0, err
	}
	left, sum := int64(in.quantity), int64(0)
	for _, t := range r.list {
		v, err := tx.Read(Holding, t)
		if err != nil {
			return 0, err
		}
		q, paid := i32(v[hQuantity:]), int64(wire.Get32(v[hPrice:]))
		n := min(left, max(q, -q))
		if sale {
			sum += n * (price - paid)
		} else {
			sum += n * (paid - price)
		}
		if left -= n; left == 0 {
			break
		}
	}
	return sum, nil
}

// atOnce is how many holdings are looked at: eight of the least quantity are the
// largest trade, and others may be about to come or to go.
const atOnce = 64

// holdings lists those of an account in a security.
func (r *runner) holdings(tx *txn.Tx, account, slot uint64, lifo bool) error {
	b := r.b
	list, err := tx.Scan(b.held, store.Range{Part: customerOf(account), From: b.holdingKey(account, slot, 0), To: b.holdingKey(account, slot, b.trades-1), Limit: atOnce, Down: lifo})
	r.keepEntries(list)
	return err
}

// taxOn is the tax on a gain, of an account that pays taxes.
func (r *runner) taxOn(tx *txn.Tx, customer uint64, status byte, gain int64) (int64, error) {
	if status == 0 || gain <= 0 {
		return 0, nil
	}
	sum := uint64(0)
	for i := range uint64(taxratesOf) {
		v, err := tx.Read(CustomerTaxrate, customer*taxratesOf+i)
		if err != nil {
			return 0, err
		}
		t, err := r.common(tx, Taxrate, taxrates, uint64(wire.Get32(v[rTaxrate:])))
		if err != nil {
			return 0, err
		}
		sum += uint64(wire.Get32(t[rate:]))
	}
	return gain * int64(sum) / 10_000, nil
}

// fees are charge and commission of a trade.
func (r *runner) fees(tx *txn.Tx, tier, typ byte, exchange uint64, quantity uint32, price int64) (charge, commission int64, err error) {
	kind := uint64(typ)*tiers + uint64(tier)
	v, err := r.common(tx, Charge, tradeTypes*tiers, kind)
	if err != nil {
		return 0, 0, err
	}
	charge = int64(wire.Get32(v[rate:]))
	commission, err = r.commission(tx, tier, typ, exchange, quantity, price)
	return charge, commission, err
}

func (r *runner) commission(tx *txn.Tx, tier, typ byte, exchange uint64, quantity uint32, price int64) (int64, error) {
	class := uint64(0) // of the quantity
	for q := quantity; q > 100 && class < quantityRanges-1; q /= 2 {
		class++
	}
	const rows = tradeTypes * tiers * exchanges * quantityRanges
	v, err := r.common(tx, CommissionRate, rows, ((uint64(typ)*tiers+uint64(tier))*exchanges+exchange%exchanges)*quantityRanges+class)
	if err != nil {
		return 0, err
	}
	return int64(quantity) * price * int64(wire.Get32(v[rate:])) / 10_000, nil
}

// insertTrade writes the trade, its first history and, of a limit order, the
// request.
func (r *runner) insertTrade(tx *txn.Tx, broker uint64, bid uint32, charge, commission int64) error {
	b, in, now := r.b, &r.order, r.now()
	status := uint32(submitted)
	if isLimit(in.typ) {
		status = pending
	}
	v, err := tx.Insert(Trade, r.trade)
	if err != nil {
		return err
	}
	b.setTrade(v, r.trade, r.account, in.slot, in.typ, !in.margin, in.quantity, bid)
	wire.Put32(v[tStatus:], status)
	v[tLIFO] = 0
	if in.lifo {
		v[tLIFO] = 1
	}
	putI64(v[tDate:], now)
	putI64(v[tCharge:], charge)
	putI64(v[tComm:], commission)
	if v, err = tx.Insert(TradeHistory, r.trade*histories); err != nil {
		return err
	}
	setHistory(v, r.trade, status, now)
	tx.AddEntry(b.byAccount, customerOf(r.account), b.accountKey(r.account, r.trade), r.trade)
	tx.AddEntry(b.bySecurity, r.security, b.age(r.trade), r.trade)
	if status != pending {
		return nil
	}
	if v, err = tx.Insert(TradeRequest, r.trade); err != nil {
		return err
	}
	wire.Put32(v[qQuantity:], in.quantity)
	wire.Put32(v[qBid:], bid)
	v[qType] = in.typ
	wire.Put64(v[qTrade:], r.trade)
	wire.Put64(v[qBroker:], broker)
	wire.Put32(v[qSymbol:], uint32(r.security))
	tx.AddEntry(b.asked, broker, r.trade, r.trade)
	tx.AddEntry(b.offered, r.security, r.trade, r.trade)
	return nil
}
