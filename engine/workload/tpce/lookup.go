package tpce

import (
	"slices"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// Which trades trade-lookup and trade-update look at.
const (
	anyTrades = iota
	ofAccount
	ofSecurity
	ofHolding // trade-lookup only
)

const lookups = 20 // trades that they look at

// drawLookup picks the inputs of trade-lookup: 30, 30, 30 and 10 %.
func (r *runner) drawLookup(rand *r2.Rand) {
	r.frame = min(int(rand.Uint64n(10))/3, ofHolding)
	r.drawTrades(rand)
}

// drawUpdate picks those of trade-update: a third each.
func (r *runner) drawUpdate(rand *r2.Rand) {
	r.frame = int(rand.Uint64n(ofHolding))
	r.drawTrades(rand)
}

// drawTrades picks trades of all that were there at the start, or an account or a
// security and the time from which on its trades are looked at.
func (r *runner) drawTrades(rand *r2.Rand) {
	b := r.b
	r.drawAccount(rand)
	r.security = b.drawSecurity(rand)
	r.from = rand.Uint64n(b.initial)
	r.drawn = r.drawn[:0]
	if r.frame != anyTrades {
		return
	}
	for range lookups {
		r.drawn = append(r.drawn, b.tradeOf(rand.Uint64n(b.accounts*b.servers), rand.Uint64n(b.initial)))
	}
}

// findTrades lists the trades of the frame.
func (r *runner) findTrades(tx *txn.Tx) error {
	b := r.b
	var (
		list []store.Entry
		err  error
	)
	switch r.frame {
	case anyTrades:
		r.list = append(r.list[:0], r.drawn...)
		return nil
	case ofSecurity:
		list, err = tx.Scan(b.bySecurity, store.Range{Part: r.security, From: r.from * b.accounts * b.servers, To: ^uint64(0), Limit: lookups})
	default:
		n := lookups
		if r.frame == ofHolding {
			n = 1
		}
		from := b.accountKey(r.account, b.tradeOf(r.account, r.from))
		list, err = tx.Scan(b.byAccount, store.Range{Part: r.customer, From: from, To: b.accountKey(r.account, b.trades-1), Limit: n})
	}
	r.keepEntries(list)
	return err
}

// tradeLookup is clause 3.3.6: trades with all that belongs to them. Rows with a
// trade's number are fetched together; cash transactions follow, when the trades
// tell which have one.
func (r *runner) tradeLookup(tx *txn.Tx) error {
	if err := r.findTrades(tx); err != nil {
		return err
	}
	if len(r.list) == 0 {
		tx.Empty()
	}
	if r.frame == ofHolding {
		return r.holdingLookup(tx)
	}
	return r.readTrades(tx)
}

// readTrades reads the listed trades, their settlements and histories, and then
// their cash transactions.
func (r *runner) readTrades(tx *txn.Tx) error {
	r.clearRefs()
	for _, t := range r.list {
		r.add(Trade, t).add(Settlement, t)
		for n := range uint64(histories) {
			r.add(TradeHistory, t*histories+n)
		}
	}
	if err := r.fetch(tx); err != nil {
		return err
	}
	r.clearRefs()
	for _, t := range r.list {
		v, err := tx.Read(Trade, t)
		if err != nil {
			return err
		}
		if _, err := r.common(tx, TradeType, tradeTypes, uint64(v[tType])); err != nil {
			return err
		}
		if v[tCash] != 0 {
			r.add(Cash, t)
		}
	}
	return r.fetch(tx)
}

// holdingLookup reads the histories of the holdings that a trade has changed.
func (r *runner) holdingLookup(tx *txn.Tx) error {
	b := r.b
	trades := b.trades * b.servers
	n := len(r.list)
	for i := range n {
		t := r.list[i]
		if err := r.historyOf(tx, t); err != nil {
			return err
		}
		for j := range uint64(closes) {
			v, err := tx.Read(HoldingHistory, t*closes+j)
			if err != nil {
				return err
			}
			if wire.Get64(v[yTrade:]) != 0 {
				r.list = append(r.list, wire.Get64(v[yHolding:])%trades)
			}
		}
	}
	for _, t := range r.list[n:] {
		if err := r.historyOf(tx, t); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) historyOf(tx *txn.Tx, trade uint64) error {
	r.clearRefs()
	for j := range uint64(closes) {
		r.add(HoldingHistory, trade*closes+j)
	}
	return r.fetch(tx)
}

// tradeUpdate is clause 3.3.10: what trade-lookup reads, and a change: of the
// executor's name, of the type of the settlement or of the name of the cash
// transaction. The first four bytes of the text count the changes.
func (r *runner) tradeUpdate(tx *txn.Tx) error {
	r.changed = 0
	if err := r.findTrades(tx); err != nil {
		return err
	}
	if err := r.readTrades(tx); err != nil {
		return err
	}
	if r.frame == ofSecurity {
		if err := r.tradeNames(tx); err != nil {
			return err
		}
	}
	for i, t := range r.list {
		if slices.Contains(r.list[:i], t) {
			continue
		}
		trade, err := tx.Read(Trade, t)
		if err != nil {
			return err
		}
		if wire.Get32(trade[tStatus:]) != completed {
			continue
		}
		table, at := uint8(Trade), tExecutor
		switch {
		case r.frame == ofAccount:
			table, at = Settlement, eCashType
		case r.frame == ofSecurity && trade[tCash] == 0:
			continue
		case r.frame == ofSecurity:
			table, at = Cash, fName
		}
		v, err := tx.Update(table, t)
		if err != nil {
			return err
		}
		add32(v[at:], 1)
		r.changed++
	}
	if r.changed == 0 {
		tx.Empty()
	}
	return nil
}
