package tpce

import (
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

const positionTrades = 10 // of which customer-position shows the history

// drawPosition picks the inputs of customer-position: half of them find the
// customer by the tax identifier, half go on to the second frame.
func (r *runner) drawPosition(rand *r2.Rand) {
	r.drawAccount(rand)
	r.byTax = rand.Uint64n(2) == 0
	r.details = rand.Uint64n(2) == 0
}

// customerPosition is clause 3.3.2: what a customer's accounts are worth at the
// last prices (frame 1), and the last trades of one account (frame 2). Customer,
// accounts and their securities are at home; prices come from all machines.
func (r *runner) customerPosition(tx *txn.Tx) error {
	b := r.b
	c := r.customer
	if r.byTax {
		key := b.taxKey(c)
		list, err := tx.Scan(b.byTax, store.Range{Part: r.home, From: key, To: key, Limit: 1})
		if err != nil || len(list) == 0 {
			return err
		}
		c = list[0].Value
	}
	r.want(Customer, c)
	for i := range r.sums {
		a := c*accountsOf + uint64(i)
		r.add(Account, a).addHoldings(a)
	}
	if err := r.fetch(tx); err != nil {
		return err
	}
	if err := r.worth(tx, c*accountsOf, r.sums[:]); err != nil || !r.details {
		return err
	}
	if err := r.lastTrades(tx, r.account, positionTrades); err != nil {
		return err
	}
	r.clearRefs()
	for _, t := range r.list {
		r.add(Trade, t)
		for n := range uint64(histories) {
			r.add(TradeHistory, t*histories+n)
		}
	}
	if err := r.fetch(tx); err != nil {
		return err
	}
	return r.statusNames(tx)
}

// addHoldings adds the securities of an account to a list: a row for each that it
// may hold.
func (r *runner) addHoldings(account uint64) *runner {
	for slot := range r.b.listLength(account) {
		r.add(HoldingSummary, account*listed+slot)
	}
	return r
}

// worth sums up what accounts, from first on, hold at the last prices. All prices
// are fetched together, when it is known what is held.
func (r *runner) worth(tx *txn.Tx, first uint64, sums []int64) error {
	b := r.b
	r.clearRefs()
	for i := range sums {
		sums[i] = 0
		for slot := range b.listLength(first + uint64(i)) {
			s, err := tx.Read(HoldingSummary, (first+uint64(i))*listed+slot)
			if err != nil {
				return err
			}
			if i32(s[sQuantity:]) != 0 {
				r.add(LastTrade, b.symbol(s[sSymbol:]))
			}
		}
	}
	if err := tx.Prefetch(r.refs...); err != nil {
		return err
	}
	for i := range sums {
		for slot := range b.listLength(first + uint64(i)) {
			s, err := tx.Read(HoldingSummary, (first+uint64(i))*listed+slot)
			if err != nil {
				return err
			}
			quantity := i32(s[sQuantity:])
			if quantity == 0 {
				continue
			}
			p, err := tx.Read(LastTrade, b.symbol(s[sSymbol:]))
			if err != nil {
				return err
			}
			sums[i] += quantity * int64(wire.Get32(p[lPrice:]))
		}
	}
	return nil
}

// statusNames looks up the names of the statuses of the listed trades.
func (r *runner) statusNames(tx *txn.Tx) error {
	for _, t := range r.list {
		v, err := tx.Read(Trade, t)
		if err != nil {
			return err
		}
		if _, err := r.common(tx, StatusType, statusTypes, uint64(wire.Get32(v[tStatus:]))); err != nil {
			return err
		}
	}
	return nil
}
