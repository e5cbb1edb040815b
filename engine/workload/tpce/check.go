package tpce

import (
	"fmt"

	"drtmx/engine/store"
	"drtmx/engine/wire"
	"drtmx/engine/workload"
)

// Consistency after a drain. The population is consistent, so only what
// transactions wanted to write is looked at: each sum is compared with what it was
// plus what changed.

const numConditions = 11

// rules are the conditions. 1 to 3 are the standard's (clause 7.3), the others follow
// from what its transactions do. 9 to 11 hold the rows against what the clients were
// told.
var rules = [numConditions]string{
	"a broker's number of trades is that of the completed trades of its accounts",
	"a broker's commissions are those of the completed trades of its accounts",
	"a holding summary is the sum of its holdings",
	"a holding summary is what the holding histories say; those of a completed trade say its quantity",
	"a balance changes by the cash transactions of the account",
	"a completed trade has a settlement, and one that is not on margin a cash transaction of the same amount",
	"a trade has a history for each status that it had",
	"a trade has a request if and only if it waits for its price",
	"the volume of a last trade is that of the feeds that committed",
	"there are as many new trades as trade-orders committed, as many completed as trade-results",
	"the changes that rows count are those that trade-updates made",
}

const indexRule = "the indexes are what the records say"

// holdingKey is a security in an account.
type holdingKey struct{ account, slot uint64 }

// sums are what trades of the run say of others' rows.
type sums struct {
	trades, commission map[uint64]int64 // by broker
	holdings, changes  map[holdingKey]int64
	paid               map[uint64]int64 // by account

	ordered, completed, changed uint64
}

// audit is one look at all tables.
type audit struct {
	b        *Bench
	row, was map[uint8][]byte // by table
	init     map[uint8]func(key uint64, v []byte)
	bad      [numConditions]string
	sum      sums
}

// Check looks at the consistency conditions. It makes sense after a drain.
func (b *Bench) Check() []workload.Invariant {
	a := &audit{b: b, row: map[uint8][]byte{}, was: map[uint8][]byte{}, init: map[uint8]func(uint64, []byte){}}
	a.sum = sums{trades: map[uint64]int64{}, commission: map[uint64]int64{}, holdings: map[holdingKey]int64{}, changes: map[holdingKey]int64{}, paid: map[uint64]int64{}}
	for _, t := range b.specs() {
		a.row[t.ID] = make([]byte, t.ValueBytes)
		a.was[t.ID] = make([]byte, t.ValueBytes)
		a.init[t.ID] = t.Init
	}
	a.allTrades()
	a.allHoldings()
	a.accounts()
	a.brokers()
	done := b.committed()
	a.lastTrades(done.fed)
	a.compare(10, "trades ordered", a.sum.ordered, done.ordered)
	a.compare(10, "trades completed", a.sum.completed, done.reported)
	a.compare(11, "changes by trade-updates", a.sum.changed, done.changed)
	list := make([]workload.Invariant, numConditions)
	for i, text := range a.bad {
		list[i] = workload.Invariant{Name: fmt.Sprintf("tpce.%d", i+1), OK: text == "", Rule: rules[i], Text: text}
	}
	text := a.indexes()
	return append(list, workload.Invariant{Name: "tpce.indexes", OK: text == "", Rule: indexRule, Text: text})
}

// fail notes the first violation of a condition.
func (a *audit) fail(condition int, format string, args ...any) {
	if a.bad[condition-1] == "" {
		a.bad[condition-1] = fmt.Sprintf(format, args...)
	}
}

func (a *audit) compare(condition int, what string, rows, clients uint64) {
	if rows != clients {
		a.fail(condition, "%d %s by the rows, %d by the clients", rows, what, clients)
	}
}

// now is a value as it is, valid until the table's next.
func (a *audit) now(table uint8, key uint64) []byte {
	row := a.row[table]
	a.b.db.Value(table, key, row)
	return row
}

// before is a value of the population, valid until the table's next.
func (a *audit) before(table uint8, key uint64) []byte {
	v := a.was[table]
	clear(v)
	if f := a.init[table]; f != nil {
		f(key, v)
	}
	return v
}

// each calls f with the rows of a table that may have changed.
func (a *audit) each(table uint8, f func(key uint64, now, before []byte)) {
	a.b.db.EachTouched(table, func(key uint64) { f(key, a.now(table, key), a.before(table, key)) })
}

// allTrades goes through the trades of which any row may have changed.
func (a *audit) allTrades() {
	last := ^uint64(0)
	looked := map[uint64]bool{}
	for _, t := range []struct {
		id   uint8
		rows uint64 // of a trade
	}{{Trade, 1}, {TradeHistory, histories}, {TradeRequest, 1}, {Settlement, 1}, {Cash, 1}, {HoldingHistory, closes}} {
		a.b.db.EachTouched(t.id, func(key uint64) {
			if trade := key / t.rows; trade != last && !looked[trade] {
				last, looked[trade] = trade, true
				a.trade(trade)
			}
		})
	}
}

func (a *audit) trade(t uint64) {
	b := a.b
	now, before := a.now(Trade, t), a.before(Trade, t)
	status, was := wire.Get32(now[tStatus:]), wire.Get32(before[tStatus:])
	a.sum.changed += uint64(wire.Get32(now[tExecutor:]) - wire.Get32(before[tExecutor:]))
	if status != 0 && was == 0 {
		a.sum.ordered++
	}
	account := wire.Get64(now[tAccount:]) % (b.accounts * b.servers)
	if status == completed && was != completed {
		a.sum.completed++
		a.sum.trades[b.brokerOf(account)]++
		a.sum.commission[b.brokerOf(account)] += i64(now[tComm:])
	}
	a.checkSettlement(t, account, status == completed, now[tCash] != 0)
	a.history(t, status, now[tType])
	a.request(t, status, now)
	a.closed(t, account, status == completed, now)
}

// checkSettlement is condition 6 of a trade.
func (a *audit) checkSettlement(t, account uint64, done, onCash bool) {
	e, f := a.now(Settlement, t), a.now(Cash, t)
	hasE, hasF := wire.Get32(e[eDate:]) != 0, i64(f[fDate:]) != 0
	switch {
	case hasE != done || hasF != (done && onCash):
		a.fail(6, "trade %d is completed: %v, paid in cash: %v, has a settlement: %v, a cash transaction: %v", t, done, onCash, hasE, hasF)
	case hasF && i64(e[eAmount:]) != i64(f[fAmount:]):
		a.fail(6, "trade %d is settled with %d, its cash transaction has %d", t, i64(e[eAmount:]), i64(f[fAmount:]))
	}
	was := a.before(Cash, t)
	a.sum.changed += uint64(wire.Get32(f[fName:]) - wire.Get32(was[fName:]))
	if amount := i64(f[fAmount:]) - i64(was[fAmount:]); amount != 0 {
		a.sum.paid[account] += amount
	}
	a.sum.changed += uint64(wire.Get32(e[eCashType:]) - wire.Get32(a.before(Settlement, t)[eCashType:]))
}

// history is condition 7 of a trade.
func (a *audit) history(t uint64, status uint32, typ byte) {
	list := steps(typ)
	for n := range uint64(histories) {
		want := uint32(0)
		if int(n) < len(list) && status != 0 && list[n] <= status {
			want = list[n]
		}
		if has := wire.Get32(a.now(TradeHistory, t*histories+n)[zStatus:]); has != want {
			a.fail(7, "trade %d of type %d with status %d has status %d in row %d of its history, not %d", t, typ, status, has, n, want)
		}
	}
}

// request is condition 8 of a trade.
func (a *audit) request(t uint64, status uint32, trade []byte) {
	q := a.now(TradeRequest, t)
	quantity := wire.Get32(q[qQuantity:])
	switch {
	case (quantity != 0) != (status == pending):
		a.fail(8, "trade %d has status %d and a request of %d", t, status, quantity)
	case quantity != 0 && (quantity != wire.Get32(trade[tQuantity:]) || a.b.symbol(q[qSymbol:]) != a.b.symbol(trade[tSymbol:])):
		a.fail(8, "trade %d of %d of security %d has a request of %d of security %d", t, wire.Get32(trade[tQuantity:]), a.b.symbol(trade[tSymbol:]), quantity, a.b.symbol(q[qSymbol:]))
	}
}

// closed is condition 4 of a trade.
func (a *audit) closed(t, account uint64, done bool, trade []byte) {
	sum, change := int64(0), int64(0)
	for i := range uint64(closes) {
		y, was := a.now(HoldingHistory, t*closes+i), a.before(HoldingHistory, t*closes+i)
		by := i32(y[yAfter:]) - i32(y[yBefore:])
		sum += by
		change += by - i32(was[yAfter:]) + i32(was[yBefore:])
	}
	want := int64(0)
	if done {
		want = int64(wire.Get32(trade[tQuantity:]))
		if sells(trade[tType]) {
			want = -want
		}
	}
	if sum != want {
		a.fail(4, "the holding history of trade %d says %d, not %d", t, sum, want)
	}
	if slot, ok := a.b.slotOf(account, a.b.symbol(trade[tSymbol:])); ok && change != 0 {
		a.sum.changes[holdingKey{account, slot}] += change
	}
}

// allHoldings compares the summaries.
func (a *audit) allHoldings() {
	b := a.b
	a.each(Holding, func(key uint64, now, before []byte) {
		by := i32(now[hQuantity:]) - i32(before[hQuantity:])
		trade := a.now(Trade, key)
		account := wire.Get64(trade[tAccount:]) % (b.accounts * b.servers)
		if slot, ok := b.slotOf(account, b.symbol(trade[tSymbol:])); ok && by != 0 {
			a.sum.holdings[holdingKey{account, slot}] += by
		}
	})
	a.each(HoldingSummary, func(key uint64, now, before []byte) {
		p := holdingKey{key / listed, key % listed}
		by := i32(now[sQuantity:]) - i32(before[sQuantity:])
		if has := a.sum.holdings[p]; has != by {
			a.fail(3, "slot %d of account %d changed by %d, its holdings by %d", p.slot, p.account, by, has)
		}
		if has := a.sum.changes[p]; has != by {
			a.fail(4, "slot %d of account %d changed by %d, by %d in the holding histories", p.slot, p.account, by, has)
		}
		delete(a.sum.holdings, p)
		delete(a.sum.changes, p)
	})
	if n := notZero(a.sum.holdings); n > 0 {
		a.fail(3, "%d securities of accounts have other holdings, and their summaries are as they were", n)
	}
	if n := notZero(a.sum.changes); n > 0 {
		a.fail(4, "%d securities of accounts have holding histories, and their summaries are as they were", n)
	}
}

// notZero counts the entries that do not balance to zero.
func notZero[K comparable](m map[K]int64) (n int) {
	for _, v := range m { // order-free: counts
		if v != 0 {
			n++
		}
	}
	return n
}

// accounts compares balances.
func (a *audit) accounts() {
	a.each(Account, func(key uint64, now, before []byte) {
		if by := i64(now[aBalance:]) - i64(before[aBalance:]); by != a.sum.paid[key] {
			a.fail(5, "the balance of account %d changed by %d, its cash transactions by %d", key, by, a.sum.paid[key])
		}
		delete(a.sum.paid, key)
	})
	if n := notZero(a.sum.paid); n > 0 {
		a.fail(5, "%d accounts have cash transactions, and their balances are as they were", n)
	}
}

// brokers compares what they count.
func (a *audit) brokers() {
	a.each(BrokerTotal, func(key uint64, now, before []byte) {
		if by := i64(now[bTrades:]) - i64(before[bTrades:]); by != a.sum.trades[key] {
			a.fail(1, "broker %d counts %d trades more, %d were completed", key, by, a.sum.trades[key])
		}
		if by := i64(now[bCommission:]) - i64(before[bCommission:]); by != a.sum.commission[key] {
			a.fail(2, "the commissions of broker %d rose by %d, those of its trades by %d", key, by, a.sum.commission[key])
		}
		delete(a.sum.trades, key)
		delete(a.sum.commission, key)
	})
	if n := notZero(a.sum.trades); n > 0 {
		a.fail(1, "%d brokers have trades completed, and count none", n)
	}
	if n := notZero(a.sum.commission); n > 0 {
		a.fail(2, "%d brokers have commissions, and count none", n)
	}
}

// lastTrades compares volumes.
func (a *audit) lastTrades(quantities []uint64) {
	for s, fed := range quantities {
		if fed == 0 {
			continue
		}
		if has := wire.Get64(a.now(LastTrade, uint64(s))[lVolume:]); has != fed {
			a.fail(9, "security %d has a volume of %d, it was fed %d", s, has, fed)
		}
	}
	a.each(LastTrade, func(key uint64, now, _ []byte) {
		if has := wire.Get64(now[lVolume:]); has != quantities[key] {
			a.fail(9, "security %d has a volume of %d, it was fed %d", key, has, quantities[key])
		}
	})
}

// indexes compares those that were used with the records that they have to
// point to; the others are as they were.
func (a *audit) indexes() (bad string) {
	b := a.b
	perAccount, perSecurity := map[uint64]uint64{}, map[uint64]uint64{}
	waiting := map[uint64]uint64{}
	held, closed := map[uint64]int64{}, map[uint64]bool{}
	a.each(Trade, func(_ uint64, now, before []byte) {
		if wire.Get32(now[tStatus:]) != 0 && wire.Get32(before[tStatus:]) == 0 {
			perAccount[customerOf(wire.Get64(now[tAccount:]))]++
			perSecurity[b.symbol(now[tSymbol:])]++
			if wire.Get32(now[tStatus:]) == pending {
				waiting[b.symbol(now[tSymbol:])]++
			}
		}
	})
	a.each(Holding, func(key uint64, now, before []byte) {
		c := customerOf(wire.Get64(a.now(Trade, key)[tAccount:]))
		is, was := i32(now[hQuantity:]) != 0, i32(before[hQuantity:]) != 0
		switch closed[key] = !is; {
		case is && !was:
			held[c]++
		case was && !is:
			held[c]--
		}
	})
	report := func(format string, args ...any) {
		if bad == "" {
			bad = fmt.Sprintf(format, args...)
		}
	}
	for c := range b.customers * b.servers {
		a.accountIndex(c, accountsOf*b.initial+perAccount[c], report)
		a.holdingIndex(c, held[c], closed, report)
	}
	for s := range b.securities * b.servers {
		a.securityIndexes(s, perSecurity[s], waiting[s], report)
	}
	for k := range b.brokers * b.servers {
		if !b.asked.Used(k) {
			continue
		}
		b.asked.Entries(k, func(e store.Entry) {
			if q := a.now(TradeRequest, e.Value); wire.Get32(q[qQuantity:]) == 0 || wire.Get64(q[qBroker:]) != k {
				report("trade %d waits by the index of broker %d and has no such request", e.Value, k)
			}
		})
	}
	return bad
}

// accountIndex looks at the new trades of a customer; those of the start are what
// they were.
func (a *audit) accountIndex(c, trades uint64, report func(format string, args ...any)) {
	b := a.b
	if !b.byAccount.Used(c) {
		return
	}
	n := uint64(0)
	b.byAccount.Entries(c, func(e store.Entry) {
		n++
		if _, _, ok := b.initialTrade(e.Value); ok {
			return
		}
		v := a.now(Trade, e.Value)
		if account := wire.Get64(v[tAccount:]); wire.Get32(v[tStatus:]) == 0 || b.accountKey(account, e.Value) != e.Key || customerOf(account) != c {
			report("trade %d is none of customer %d, as an index says", e.Value, c)
		}
	})
	if n != trades {
		report("the index of customer %d has %d trades, there are %d", c, n, trades)
	}
}

func (a *audit) holdingIndex(c uint64, more int64, closed map[uint64]bool, report func(format string, args ...any)) {
	b := a.b
	if !b.held.Used(c) {
		return
	}
	n, was := int64(0), int64(0)
	b.fillHolding(c, func(_, _ uint64) { was++ })
	b.held.Entries(c, func(e store.Entry) {
		n++
		if closed[e.Value] {
			report("trade %d is in the index of customer %d and holds nothing", e.Value, c)
		}
	})
	if n != was+more {
		report("the index of customer %d has %d holdings, there are %d", c, n, was+more)
	}
}

func (a *audit) securityIndexes(s, more, waiting uint64, report func(format string, args ...any)) {
	b := a.b
	if b.bySecurity.Used(s) {
		n, was := uint64(0), uint64(0)
		b.fillSecurity(s, func(_, _ uint64) { was++ })
		b.bySecurity.Entries(s, func(e store.Entry) {
			n++
			if _, _, ok := b.initialTrade(e.Value); ok {
				return
			}
			if v := a.now(Trade, e.Value); wire.Get32(v[tStatus:]) == 0 || b.symbol(v[tSymbol:]) != s {
				report("trade %d is none of security %d, as its index says", e.Value, s)
			}
		})
		if n != was+more {
			report("the index of security %d has %d trades, there are %d", s, n, was+more)
		}
	}
	if !b.offered.Used(s) {
		return
	}
	n := uint64(0)
	b.offered.Entries(s, func(e store.Entry) {
		if wire.Get32(a.now(TradeRequest, e.Value)[qQuantity:]) == 0 {
			report("trade %d waits by the index of security %d and has no request", e.Value, s)
		}
		n++
	})
	if n != waiting {
		report("the index of security %d has %d requests, there are %d", s, n, waiting)
	}
}
