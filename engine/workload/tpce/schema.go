package tpce

import (
	"drtmx/engine/store"
	"drtmx/engine/wire"
)

// Table numbers, in the order of the standard's clause 2.2: customers, brokers,
// market, and what all share.
const (
	AccountPermission = 1 + iota
	Customer
	Account
	CustomerTaxrate
	Holding
	HoldingHistory
	HoldingSummary
	WatchItem
	WatchList

	Broker
	BrokerTotal // two columns of the standard's broker
	Cash
	Charge
	CommissionRate
	Settlement
	Trade
	TradeHistory
	TradeRequest
	TradeType

	Company
	Competitor
	DailyMarket
	Exchange
	Financial
	Industry
	LastTrade
	NewsItem
	NewsXref
	Sector
	Security

	Address
	StatusType
	Taxrate
	ZipCode
)

// Cardinalities of clause 2.6 that no option changes.
const (
	accountsOf     = 5  // of a customer
	permissionsOf  = 3  // rows for those of an account; the first is the owner's
	taxratesOf     = 2  // of a customer
	listed         = 18 // securities that an account may hold at most
	watchRows      = 150
	customersOf    = 100 // of a broker
	competitorsOf  = 3   // of a company
	quartersOf     = 20
	newsOf         = 2
	days           = 1305 // of the daily market: five years
	exchanges      = 4
	industries     = 102
	sectors        = 12
	taxrates       = 320
	tiers          = 3
	zipCodes       = 14_741
	quantityRanges = 4
	statusTypes    = 5
	histories      = 3 // rows of the history of a trade
	closes         = 9 // holdings that a trade may change: eight that it closes, one that it opens
)

// Bytes of the values: the sums of the standard's columns, identifiers,
// dates with time and sums of money 8 each, prices, quantities and days 4.
const (
	permissionBytes     = 77
	customerBytes       = 255
	accountBytes        = 83
	customerTaxBytes    = 12
	holdingBytes        = 47
	holdingHistoryBytes = 24
	summaryBytes        = 27
	watchItemBytes      = 23
	watchListBytes      = 16
	brokerBytes         = 61
	brokerTotalBytes    = 24
	cashBytes           = 124
	chargeBytes         = 12
	commissionBytes     = 22
	settlementBytes     = 60
	tradeBytes          = 133
	tradeHistoryBytes   = 20
	requestBytes        = 42
	tradeTypeBytes      = 17
	companyBytes        = 286
	competitorBytes     = 18
	dailyMarketBytes    = 39
	exchangeBytes       = 276
	financialBytes      = 95
	industryBytes       = 54
	lastTradeBytes      = 39
	newsItemBytes       = 411 // without the item itself
	newsXrefBytes       = 16
	sectorBytes         = 32
	securityBytes       = 165
	addressBytes        = 260
	statusTypeBytes     = 14
	taxrateBytes        = 58
	zipBytes            = 172
)

// Where the columns are that transactions look at. Money is in cents, rates are
// in 1/10000. Of tables that grow, one column is 0 in rows whose record does not
// exist: it marks them.
const (
	cTier = 8 // 1: from 0
	cText = 9

	aBalance  = 0  // 8
	aBroker   = 8  // 8
	aCustomer = 16 // 8
	aTax      = 24 // 1: 0 no taxes, 1 withheld, 2 paid by the customer
	aText     = 25
	aMutable  = 8

	rTaxrate  = 0 // 4, of a customer's
	rCustomer = 4 // 8

	hQuantity = 0  // 4 signed, marks
	hPrice    = 4  // 4
	hTrade    = 8  // 8
	hAccount  = 16 // 8
	hDate     = 24 // 8
	hSymbol   = 32 // 15

	yBefore  = 0  // 4 signed
	yAfter   = 4  // 4 signed
	yHolding = 8  // 8: the trade that opened it
	yTrade   = 16 // 8: one more than its number, marks

	sQuantity = 0  // 4 signed, marks
	sAccount  = 4  // 8
	sSymbol   = 12 // 15
	sMutable  = 4

	iSymbol = 0  // 15, of a watch item
	iList   = 15 // 8, marks

	wCustomer = 0 // 8, of a watch list
	wItems    = 8 // 8

	bTrades     = 0 // 8
	bCommission = 8 // 8
	bMutable    = 16

	fAmount = 0  // 8 signed
	fDate   = 8  // 8, marks
	fTrade  = 16 // 8
	fName   = 24 // 100

	eAmount   = 0  // 8 signed
	eDate     = 8  // 4, marks
	eCashType = 12 // 40
	eTrade    = 52 // 8

	tStatus   = 0  // 4, marks
	tType     = 4  // 3
	tCash     = 7  // 1
	tQuantity = 8  // 4
	tBid      = 12 // 4
	tPrice    = 16 // 4
	tSymbol   = 20 // 15
	tLIFO     = 35 // 1
	tAccount  = 36 // 8
	tDate     = 44 // 8
	tCharge   = 52 // 8
	tComm     = 60 // 8
	tTax      = 68 // 8
	tNumber   = 76 // 8
	tExecutor = 84 // 49

	zStatus = 0  // 4, marks
	zTrade  = 4  // 8
	zDate   = 12 // 8

	qQuantity = 0  // 4, marks
	qBid      = 4  // 4
	qType     = 8  // 3
	qTrade    = 11 // 8
	qBroker   = 19 // 8
	qSymbol   = 27 // 15

	pSell   = 15 // 1, of a trade type
	pMarket = 16 // 1

	oIndustry = 0  // 2, of a company
	oAddress  = 2  // 8
	oText     = 10 // name, CEO, rating, description

	kRival = 0 // 8, of a competitor: the other company

	mClose = 0 // 4, of a day
	mDate  = 4 // 4
	mText  = 8

	nSector = 0 // 2, of an industry

	lPrice   = 0  // 4
	lVolume  = 4  // 8
	lDate    = 12 // 8
	lOpen    = 20 // 4
	lSymbol  = 24 // 15
	lMutable = 20

	xItem = 0 // 8, of news: the item

	vCompany     = 0  // 8, of a security
	vExchange    = 8  // 6
	vOutstanding = 14 // 8
	vText        = 22

	jZip = 0 // 4, of an address

	rate = 0 // 4, of a tax rate, a charge or a commission
)

// Trade status.
const (
	pending   = 1 + iota // a limit order that waits for its price
	submitted            // sent to the market
	completed
	canceled
)

// Trade types. Limit orders are the others than the first two.
const (
	marketBuy = iota
	marketSell
	limitBuy
	limitSell
	stopLoss
	tradeTypes
)

func sells(typ byte) bool   { return typ == marketSell || typ == limitSell || typ == stopLoss }
func isLimit(typ byte) bool { return typ >= limitBuy }

func i32(b []byte) int64        { return int64(int32(wire.Get32(b))) }
func i64(b []byte) int64        { return int64(wire.Get64(b)) }
func putI32(b []byte, v int64)  { wire.Put32(b, uint32(int32(v))) }
func putI64(b []byte, v int64)  { wire.Put64(b, uint64(v)) }
func add32(b []byte, by uint32) { wire.Put32(b, wire.Get32(b)+by) }

// tableSpec is a table with the number of its rows on a machine.
type tableSpec struct {
	store.Spec
	rows uint64
}

// specs are the tables. Customers' and brokers' are read from elsewhere only when
// clients have no data. Location caches leave out trades and the daily market
// too: what is read of them from afar is drawn from so many that none is read
// twice.
func (b *Bench) specs() []tableSpec {
	home := b.symmetric
	const never = true
	t := func(id uint8, name string, bytes int, local bool, rows uint64, init func(key uint64, v []byte)) tableSpec {
		return tableSpec{store.Spec{ID: id, Name: name, ValueBytes: bytes, Local: local, Init: init}, rows}
	}
	mutable := func(s tableSpec, bytes int) tableSpec { s.Mutable = bytes; return s }
	each := func(id uint8, name string, bytes int, rows uint64, init func(key uint64, v []byte)) tableSpec {
		s := t(id, name, bytes, home, rows, func(key uint64, v []byte) { init(key%rows, v) }) // the same on every machine
		s.Constant = true
		return s
	}
	return []tableSpec{
		t(AccountPermission, "account-permission", permissionBytes, home, b.accounts*permissionsOf, b.initPermission),
		t(Customer, "customer", customerBytes, home, b.customers, b.initCustomer),
		mutable(t(Account, "customer-account", accountBytes, home, b.accounts, b.initAccount), aMutable),
		t(CustomerTaxrate, "customer-taxrate", customerTaxBytes, home, b.customers*taxratesOf, b.initCustomerTaxrate),
		t(Holding, "holding", holdingBytes, home, b.trades, b.initHolding),
		t(HoldingHistory, "holding-history", holdingHistoryBytes, never, b.trades*closes, b.initHoldingHistory),
		mutable(t(HoldingSummary, "holding-summary", summaryBytes, home, b.accounts*listed, b.initSummary), sMutable),
		t(WatchItem, "watch-item", watchItemBytes, home, b.customers*watchRows, b.initWatchItem),
		t(WatchList, "watch-list", watchListBytes, home, b.customers, b.initWatchList),

		t(Broker, "broker", brokerBytes, false, b.brokers, b.initBroker),
		mutable(t(BrokerTotal, "broker-total", brokerTotalBytes, home, b.brokers, b.initBrokerTotal), bMutable),
		t(Cash, "cash-transaction", cashBytes, never, b.trades, b.initCash),
		each(Charge, "charge", chargeBytes, tradeTypes*tiers, b.initCharge),
		each(CommissionRate, "commission-rate", commissionBytes, tradeTypes*tiers*exchanges*quantityRanges, b.initCommissionRate),
		t(Settlement, "settlement", settlementBytes, never, b.trades, b.initSettlement),
		t(Trade, "trade", tradeBytes, never, b.trades, b.initTrade),
		t(TradeHistory, "trade-history", tradeHistoryBytes, never, b.trades*histories, b.initTradeHistory),
		t(TradeRequest, "trade-request", requestBytes, never, b.trades, nil),
		each(TradeType, "trade-type", tradeTypeBytes, tradeTypes, b.initTradeType),

		t(Company, "company", companyBytes, false, b.companies, b.initCompany),
		t(Competitor, "company-competitor", competitorBytes, false, b.companies*competitorsOf, b.initCompetitor),
		t(DailyMarket, "daily-market", dailyMarketBytes, never, b.securities*days, b.initDailyMarket),
		each(Exchange, "exchange", exchangeBytes, exchanges, b.initText(Exchange)),
		t(Financial, "financial", financialBytes, false, b.companies*quartersOf, b.initText(Financial)),
		each(Industry, "industry", industryBytes, industries, b.initIndustry),
		mutable(t(LastTrade, "last-trade", lastTradeBytes, false, b.securities, b.initLastTrade), lMutable),
		t(NewsItem, "news-item", newsItemBytes, false, b.companies*newsOf, b.initText(NewsItem)),
		t(NewsXref, "news-xref", newsXrefBytes, false, b.companies*newsOf, b.initNewsXref),
		each(Sector, "sector", sectorBytes, sectors, b.initText(Sector)),
		t(Security, "security", securityBytes, false, b.securities, b.initSecurity),

		t(Address, "address", addressBytes, false, b.companies+b.customers+exchanges, b.initAddress),
		each(StatusType, "status-type", statusTypeBytes, statusTypes, b.initText(StatusType)),
		each(Taxrate, "taxrate", taxrateBytes, taxrates, b.initTaxrate),
		each(ZipCode, "zip-code", zipBytes, zipCodes, b.initText(ZipCode)),
	}
}
