package tpce

import (
	"drtmx/engine/r2"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// drawResult picks the price at which the market has carried out the order.
func (r *runner) drawResult(rand *r2.Rand) { r.price = int64(lowPrice + rand.Uint64n(priceRange)) }

// tradeResult is clause 3.3.8: the market has carried out an order.
func (r *runner) tradeResult(tx *txn.Tx) error {
	b := r.b
	trade, err := tx.Update(Trade, r.trade) // frame 1
	if err != nil {
		return err
	}
	account, security := wire.Get64(trade[tAccount:])%(b.accounts*b.servers), b.symbol(trade[tSymbol:])
	slot, ok := b.slotOf(account, security)
	if wire.Get32(trade[tStatus:]) != submitted || !ok {
		return txn.ErrRollback // the order was lost
	}
	r.account, r.security = account, security
	typ := trade[tType]
	if _, err := r.common(tx, TradeType, tradeTypes, uint64(typ)); err != nil {
		return err
	}
	err = r.want(Account, account).addWritten(HoldingSummary, account*listed+slot).add(Security, security).fetch(tx)
	if err != nil {
		return err
	}
	gain, err := r.close(tx, trade, slot) // frame 2
	if err != nil {
		return err
	}
	owner, err := tx.Read(Account, account)
	if err != nil {
		return err
	}
	tax, err := r.taxOn(tx, customerOf(account), owner[aTax], gain) // frame 3
	if err != nil {
		return err
	}
	commission, err := r.finalCommission(tx, trade) // frame 4
	if err != nil {
		return err
	}
	if err := r.complete(tx, trade, commission, tax); err != nil { // frame 5
		return err
	}
	if owner[aTax] != 1 {
		tax = 0 // not withheld
	}
	amount := netAmount(sells(typ), int64(wire.Get32(trade[tQuantity:])), r.price, i64(trade[tCharge:]), commission, tax)
	return r.pay(tx, amount, trade[tCash] != 0) // frame 6
}

// close changes the holdings: a sale closes those that were bought, the newest
// first under LIFO, and opens one of negative quantity with what is left; a
// purchase the other way round. It returns the gain.
func (r *runner) close(tx *txn.Tx, trade []byte, slot uint64) (gain int64, err error) {
	b, account := r.b, r.account
	summary, err := tx.Update(HoldingSummary, account*listed+slot)
	if err != nil {
		return 0, err
	}
	sign := int64(1)
	if sells(trade[tType]) {
		sign = -1
	}
	before, left, closed := i32(summary[sQuantity:]), int64(wire.Get32(trade[tQuantity:])), uint64(0)
	putI32(summary[sQuantity:], before+sign*left)
	if before*sign < 0 {
		if err := r.holdings(tx, account, slot, trade[tLIFO] != 0); err != nil {
			return 0, err
		}
		for _, t := range r.list {
			if left == 0 || closed == closes-1 {
				break
			}
			n, earned, err := r.reduce(tx, t, slot, sign, left, closed)
			if err != nil {
				return 0, err
			}
			if n > 0 {
				left, gain, closed = left-n, gain+earned, closed+1
			}
		}
	}
	if left == 0 {
		return gain, nil
	}
	if err := r.noteHolding(tx, r.trade, closed, 0, sign*left); err != nil {
		return 0, err
	}
	v, err := tx.Insert(Holding, r.trade)
	if err != nil {
		return 0, err
	}
	setHolding(v, r.trade, account, r.security, sign*left, uint32(r.price), r.now())
	tx.AddEntry(b.held, customerOf(account), b.holdingKey(account, slot, r.trade), r.trade)
	return gain, nil
}

// reduce closes up to left of one holding and returns how many.
func (r *runner) reduce(tx *txn.Tx, holding, slot uint64, sign, left int64, closed uint64) (n, gain int64, err error) {
	b := r.b
	v, err := tx.Read(Holding, holding)
	if err != nil {
		return 0, 0, err
	}
	q := i32(v[hQuantity:])
	if q*sign >= 0 {
		return 0, 0, nil // gone, or not yet there
	}
	if v, err = tx.Update(Holding, holding); err != nil {
		return 0, 0, err
	}
	n = min(left, max(q, -q))
	after := q + sign*n
	gain = -sign * n * (r.price - int64(wire.Get32(v[hPrice:])))
	putI32(v[hQuantity:], after)
	if after == 0 {
		clear(v)
		tx.DropEntry(b.held, customerOf(r.account), b.holdingKey(r.account, slot, holding))
	}
	return n, gain, r.noteHolding(tx, holding, closed, q, after)
}

// noteHolding writes a row of the holding history.
func (r *runner) noteHolding(tx *txn.Tx, holding, i uint64, before, after int64) error {
	v, err := tx.Insert(HoldingHistory, r.trade*closes+i)
	if err != nil {
		return err
	}
	setHoldingHistory(v, r.trade, holding, before, after)
	return nil
}

// finalCommission reads what it depends on.
func (r *runner) finalCommission(tx *txn.Tx, trade []byte) (int64, error) {
	security, err := tx.Read(Security, r.security)
	if err != nil {
		return 0, err
	}
	customer, err := tx.Read(Customer, customerOf(r.account))
	if err != nil {
		return 0, err
	}
	return r.commission(tx, customer[cTier], trade[tType], uint64(security[vExchange]), wire.Get32(trade[tQuantity:]), r.price)
}

// complete finishes the trade and counts it for the broker.
func (r *runner) complete(tx *txn.Tx, trade []byte, commission, tax int64) error {
	b, now := r.b, r.now()
	wire.Put32(trade[tStatus:], completed)
	wire.Put32(trade[tPrice:], uint32(r.price))
	putI64(trade[tDate:], now)
	putI64(trade[tComm:], commission)
	putI64(trade[tTax:], tax)
	last := uint64(len(steps(trade[tType])) - 1)
	v, err := tx.Insert(TradeHistory, r.trade*histories+last)
	if err != nil {
		return err
	}
	setHistory(v, r.trade, completed, now)
	if v, err = tx.Update(BrokerTotal, b.brokerOf(r.account)); err != nil {
		return err
	}
	wire.Put64(v[bTrades:], wire.Get64(v[bTrades:])+1)
	putI64(v[bCommission:], i64(v[bCommission:])+commission)
	return nil
}

// pay settles the trade, from the account's balance unless it is on margin.
func (r *runner) pay(tx *txn.Tx, amount int64, cash bool) error {
	now := r.now()
	v, err := tx.Insert(Settlement, r.trade)
	if err != nil {
		return err
	}
	setSettlement(v, r.trade, amount, now)
	if !cash {
		return nil
	}
	if v, err = tx.Insert(Cash, r.trade); err != nil {
		return err
	}
	setCash(v, r.trade, amount, now)
	if v, err = tx.Update(Account, r.account); err != nil {
		return err
	}
	putI64(v[aBalance:], i64(v[aBalance:])+amount)
	return nil
}
