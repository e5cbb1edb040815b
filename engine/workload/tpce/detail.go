package tpce

import (
	"drtmx/engine/r2"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// drawDetail picks the inputs of security-detail: 5 to 20 days of the daily market.
func (r *runner) drawDetail(rand *r2.Rand) {
	r.security = r.b.drawSecurity(rand)
	r.days = 5 + rand.Uint64n(16)
	r.day = rand.Uint64n(days - r.days)
}

// securityDetail is clause 3.3.5: all about a security and its company, on one
// machine but for the company's competitors.
func (r *runner) securityDetail(tx *txn.Tx) error {
	b, s := r.b, r.security
	r.want(Security, s).add(LastTrade, s)
	for i := range r.days {
		r.add(DailyMarket, s*days+r.day+i)
	}
	if err := r.fetch(tx); err != nil {
		return err
	}
	security, err := tx.Read(Security, s)
	if err != nil {
		return err
	}
	exchange := uint64(security[vExchange]) % exchanges
	if _, err := r.common(tx, Exchange, exchanges, exchange); err != nil {
		return err
	}
	company := wire.Get64(security[vCompany:]) % (b.companies * b.servers)
	v, err := tx.Read(Company, company)
	if err != nil {
		return err
	}
	if _, err := r.common(tx, Industry, industries, uint64(wire.Get16(v[oIndustry:]))); err != nil {
		return err
	}
	perMachine := b.companies + b.customers + exchanges
	there := b.addressKey(company/b.companies, b.companies+b.customers+exchange)
	r.want(Address, wire.Get64(v[oAddress:])%(perMachine*b.servers)).add(Address, there)
	for i := range uint64(quartersOf) {
		r.add(Financial, company*quartersOf+i)
	}
	for i := range uint64(competitorsOf) {
		r.add(Competitor, company*competitorsOf+i)
	}
	for i := range uint64(newsOf) {
		r.add(NewsXref, company*newsOf+i)
	}
	if err := r.fetch(tx); err != nil {
		return err
	}
	return r.related(tx)
}

// related reads what the rows just fetched name: towns, competitors and news.
func (r *runner) related(tx *txn.Tx) error {
	b := r.b
	companies := b.companies * b.servers
	n := len(r.refs) // the list goes on behind
	for _, x := range r.refs[:n] {
		v, err := tx.Read(x.Table, x.Key)
		if err != nil {
			return err
		}
		switch x.Table {
		case Address:
			r.add(ZipCode, shared(r.home, zipCodes, uint64(wire.Get32(v[jZip:]))))
		case Competitor:
			r.add(Company, wire.Get64(v[kRival:])%companies)
		case NewsXref:
			r.add(NewsItem, wire.Get64(v[xItem:])%(companies*newsOf))
		}
	}
	return r.fetch(tx)
}
