package tpce

import (
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

const (
	statusTrades = 50 // that trade-status shows
	brokersMin   = 20 // that broker-volume asks for, at least
	brokersMax   = 40
	requestsOf   = 6 // of each broker that it looks at: more than 1,024 records fit no transaction
)

// tradeStatus is clause 3.3.9: the last trades of an account, with the names of
// what they are about.
func (r *runner) tradeStatus(tx *txn.Tx) error {
	account, err := tx.Read(Account, r.account)
	if err != nil {
		return err
	}
	if _, err := r.parties(tx, account); err != nil {
		return err
	}
	if err := r.lastTrades(tx, r.account, statusTrades); err != nil {
		return err
	}
	r.clearRefs()
	for _, t := range r.list {
		r.add(Trade, t)
	}
	if err := r.fetch(tx); err != nil {
		return err
	}
	if err := r.statusNames(tx); err != nil {
		return err
	}
	return r.tradeNames(tx)
}

// tradeNames reads types and securities of the listed trades, and the exchanges
// of those.
func (r *runner) tradeNames(tx *txn.Tx) error {
	b := r.b
	r.clearRefs()
	for _, t := range r.list {
		v, err := tx.Read(Trade, t)
		if err != nil {
			return err
		}
		if _, err := r.common(tx, TradeType, tradeTypes, uint64(v[tType])); err != nil {
			return err
		}
		r.add(Security, b.symbol(v[tSymbol:]))
	}
	if err := tx.Prefetch(r.refs...); err != nil {
		return err
	}
	for _, x := range r.refs {
		v, err := tx.Read(x.Table, x.Key)
		if err != nil {
			return err
		}
		if _, err := r.common(tx, Exchange, exchanges, uint64(v[vExchange])); err != nil {
			return err
		}
	}
	return nil
}

// drawVolume picks a sector and different brokers of all machines.
func (r *runner) drawVolume(rand *r2.Rand) {
	b := r.b
	all := b.brokers * b.servers
	n, first := brokersMin+rand.Uint64n(brokersMax-brokersMin+1), rand.Uint64n(all)
	r.drawn = r.drawn[:0]
	for i := range min(n, all) {
		r.drawn = append(r.drawn, (first+i)%all)
	}
	r.sector = rand.Uint64n(sectors)
}

// brokerVolume is clause 3.3.1: the orders of some brokers that wait, in the
// securities of a sector.
func (r *runner) brokerVolume(tx *txn.Tx) error {
	b := r.b
	if _, err := r.common(tx, Sector, sectors, r.sector); err != nil {
		return err
	}
	r.clearRefs()
	for _, k := range r.drawn {
		r.add(Broker, k)
	}
	if err := r.fetch(tx); err != nil {
		return err
	}
	r.clearRefs()
	for _, k := range r.drawn {
		list, err := tx.Scan(b.asked, store.Range{Part: k, To: ^uint64(0), Limit: requestsOf})
		if err != nil {
			return err
		}
		for _, e := range list {
			r.add(TradeRequest, e.Value)
		}
	}
	if err := tx.Prefetch(r.refs...); err != nil {
		return err
	}
	r.symbols, r.list = r.symbols[:0], r.list[:0]
	for _, x := range r.refs {
		v, err := tx.Read(TradeRequest, x.Key)
		if err != nil {
			return err
		}
		if wire.Get32(v[qQuantity:]) != 0 {
			r.symbols = append(r.symbols, b.symbol(v[qSymbol:]))
			r.list = append(r.list, uint64(wire.Get32(v[qQuantity:]))*uint64(wire.Get32(v[qBid:])))
		}
	}
	if len(r.list) == 0 {
		tx.Empty()
	}
	return r.sumSector(tx)
}

// sumSector sums up the orders whose securities are of the sector.
func (r *runner) sumSector(tx *txn.Tx) error {
	b := r.b
	r.clearRefs()
	for _, s := range r.symbols {
		r.add(Security, s)
	}
	if err := r.fetch(tx); err != nil {
		return err
	}
	companies := b.companies * b.servers
	r.clearRefs()
	for _, s := range r.symbols {
		v, err := tx.Read(Security, s)
		if err != nil {
			return err
		}
		r.add(Company, wire.Get64(v[vCompany:])%companies)
	}
	if err := tx.Prefetch(r.refs...); err != nil {
		return err
	}
	r.volume = 0
	for i, x := range r.refs {
		v, err := tx.Read(x.Table, x.Key)
		if err != nil {
			return err
		}
		industry, err := r.common(tx, Industry, industries, uint64(wire.Get16(v[oIndustry:])))
		if err != nil {
			return err
		}
		if uint64(wire.Get16(industry[nSector:])) == r.sector {
			r.volume += int64(r.list[i])
		}
	}
	return nil
}
