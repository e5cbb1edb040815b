package tpce

import (
	"drtmx/engine/r2"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// Where market-watch takes its securities from.
const (
	byList = iota
	byHoldings
	byIndustry
)

const watchedCompanies = 5_000 // of which those of one industry are watched

// drawWatch picks the inputs of market-watch: 60 % look at a watch list, 35 % at
// an account, 5 % at an industry.
func (r *runner) drawWatch(rand *r2.Rand) {
	b := r.b
	r.drawAccount(rand)
	switch p := rand.Uint64n(100); {
	case p < 60:
		r.frame = byList
	case p < 95:
		r.frame = byHoldings
	default:
		r.frame = byIndustry
	}
	all := b.companies * b.servers
	r.from = rand.Uint64n(industries)
	r.first = rand.Uint64n(all - min(all-1, watchedCompanies))
	r.day = rand.Uint64n(days)
}

// marketWatch is clause 3.3.4: by how much the market value of some securities has
// changed since a day.
func (r *runner) marketWatch(tx *txn.Tx) error {
	var err error
	r.symbols = r.symbols[:0]
	switch r.frame {
	case byList:
		err = r.listedSymbols(tx)
	case byHoldings:
		err = r.heldSymbols(tx)
	default:
		err = r.industrySymbols(tx)
	}
	if err != nil {
		return err
	}
	if len(r.symbols) == 0 {
		tx.Empty()
	}
	r.clearRefs()
	for _, s := range r.symbols {
		r.add(LastTrade, s).add(Security, s).add(DailyMarket, s*days+r.day)
	}
	if err := tx.Prefetch(r.refs...); err != nil {
		return err
	}
	then, now := int64(0), int64(0)
	for _, s := range r.symbols {
		last, err := tx.Read(LastTrade, s)
		if err != nil {
			return err
		}
		security, err := tx.Read(Security, s)
		if err != nil {
			return err
		}
		day, err := tx.Read(DailyMarket, s*days+r.day)
		if err != nil {
			return err
		}
		n := i64(security[vOutstanding:])
		then, now = then+n*int64(wire.Get32(day[mClose:])), now+n*int64(wire.Get32(last[lPrice:]))
	}
	r.volume = now - then
	return nil
}

// listedSymbols are those of the customer's watch list.
func (r *runner) listedSymbols(tx *txn.Tx) error {
	list, err := tx.Read(WatchList, r.customer)
	if err != nil {
		return err
	}
	r.clearRefs()
	for i := range min(wire.Get64(list[wItems:]), watchRows) {
		r.add(WatchItem, r.customer*watchRows+i)
	}
	return r.keepSymbols(tx, func(v []byte) (symbol []byte, ok bool) { return v[iSymbol:], true })
}

// heldSymbols are those that the account holds.
func (r *runner) heldSymbols(tx *txn.Tx) error {
	r.clearRefs().addHoldings(r.account)
	return r.keepSymbols(tx, func(v []byte) (symbol []byte, ok bool) { return v[sSymbol:], i32(v[sQuantity:]) != 0 })
}

// keepSymbols reads the list and keeps what it names.
func (r *runner) keepSymbols(tx *txn.Tx, of func(v []byte) (symbol []byte, ok bool)) error {
	if err := tx.Prefetch(r.refs...); err != nil {
		return err
	}
	for _, x := range r.refs {
		v, err := tx.Read(x.Table, x.Key)
		if err != nil {
			return err
		}
		if symbol, ok := of(v); ok {
			r.symbols = append(r.symbols, r.b.symbol(symbol))
		}
	}
	return nil
}

// industrySymbols are those of the companies of an industry, of a range of
// companies.
func (r *runner) industrySymbols(tx *txn.Tx) error {
	b := r.b
	if _, err := r.common(tx, Industry, industries, r.from); err != nil {
		return err
	}
	r.clearRefs()
	end := min(r.first+watchedCompanies, b.companies*b.servers)
	for c := r.first + (r.from+industries-r.first%industries)%industries; c < end; c += industries {
		r.add(Company, c)
		first, n := b.securitiesOf(c)
		for s := first; s < first+n; s++ {
			r.symbols = append(r.symbols, s)
		}
	}
	return r.fetch(tx)
}
