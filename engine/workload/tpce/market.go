package tpce

import "drtmx/engine/wire"

// The population of the market.

func (b *Bench) initSecurity(key uint64, v []byte) {
	x := b.bits(Security, key)
	wire.Put64(v[vCompany:], b.companyOf(key))
	v[vExchange] = byte(key % exchanges)
	wire.Put64(v[vOutstanding:], 1_000_000+x.Below(9_000_000))
	x.Text(v[vText:])
}

func (b *Bench) initCompany(key uint64, v []byte) {
	x := b.bits(Company, key)
	wire.Put16(v[oIndustry:], uint16(key%industries))
	wire.Put64(v[oAddress:], b.addressKey(key/b.companies, key%b.companies))
	x.Text(v[oText:])
}

// addressKey is the i-th address of a machine: companies come first, then
// customers, then the exchanges.
func (b *Bench) addressKey(machine, i uint64) uint64 {
	return machine*(b.companies+b.customers+exchanges) + i
}

func (b *Bench) initAddress(key uint64, v []byte) {
	x := b.bits(Address, key)
	x.Text(v)
	wire.Put32(v[jZip:], uint32(x.Below(zipCodes)))
}

// initCompetitor picks companies of anywhere.
func (b *Bench) initCompetitor(key uint64, v []byte) {
	x := b.bits(Competitor, key)
	wire.Put64(v[kRival:], x.Below(b.companies*b.servers))
}

func (b *Bench) initDailyMarket(key uint64, v []byte) {
	x := b.bits(DailyMarket, key)
	wire.Put32(v[mClose:], uint32(lowPrice+x.Below(priceRange)))
	wire.Put32(v[mDate:], uint32(key%days))
	x.Text(v[mText:])
}

func (b *Bench) initIndustry(key uint64, v []byte) {
	b.initText(Industry)(key, v)
	wire.Put16(v[nSector:], uint16(key*sectors/industries))
}

func (b *Bench) initLastTrade(key uint64, v []byte) {
	x := b.bits(LastTrade, key)
	price := uint32(lowPrice + x.Below(priceRange))
	wire.Put32(v[lPrice:], price)
	wire.Put64(v[lDate:], loadDate)
	wire.Put32(v[lOpen:], price)
	wire.Put32(v[lSymbol:], uint32(key))
}

func (b *Bench) initNewsXref(key uint64, v []byte) {
	wire.Put64(v[xItem:], key)
}
