package tpce

import (
	"cmp"
	"slices"

	"drtmx/engine/wire"
)

// What the model of TestEffects says of the transactions that only read, and of trade-update.

func (m *model) price(security uint64) int64 {
	return int64(wire.Get32(m.Row(LastTrade, security)[lPrice:]))
}

func (m *model) customerPosition() {
	for i, sum := range m.r.sums {
		want, a := int64(0), m.r.customer*5+uint64(i)
		for slot := range uint64(listed) {
			if s := m.Row(HoldingSummary, a*listed+slot); i32(s[sQuantity:]) != 0 {
				want += i32(s[sQuantity:]) * m.price(uint64(wire.Get32(s[sSymbol:])))
			}
		}
		if sum != want {
			m.T.Errorf("account %d is worth %d, customer-position says %d", a, want, sum)
		}
	}
}

// tradesOf are all of an account, the oldest first.
func (m *model) tradesOf(account uint64) (list []uint64) {
	for k := range m.b.initial {
		list = append(list, m.b.tradeOf(account, k))
	}
	return append(list, m.ofAccount[account]...)
}

func (m *model) tradeStatus() {
	list := m.tradesOf(m.r.account)
	slices.Reverse(list)
	if len(list) > 50 {
		list = list[:50]
		m.Seen["50 trades"]++
	}
	if !slices.Equal(m.r.list, list) {
		m.T.Errorf("the last trades of account %d are %v, trade-status found %v", m.r.account, list, m.r.list)
	}
}

// lookedUp are the trades that trade-lookup and trade-update should find.
func (m *model) lookedUp() (list []uint64) {
	b, r := m.b, m.r
	switch r.frame {
	case anyTrades:
		return r.drawn
	case ofSecurity:
		for k := r.from; k < b.initial; k++ {
			for a := range b.accounts * b.servers {
				if t := b.tradeOf(a, k); uint64(wire.Get32(m.Row(Trade, t)[tSymbol:])) == r.security {
					list = append(list, t)
				}
			}
		}
		old := len(list)
		if list = append(list, m.ofSecurity[r.security]...); old < 20 && len(list) > old {
			m.Seen["new trades of a security"]++
		}
	default:
		list = m.tradesOf(r.account)[r.from:]
	}
	return list[:min(20, len(list))]
}

func (m *model) tradeLookup() {
	want := m.lookedUp()
	if m.r.frame == ofHolding {
		want = slices.Clone(want[:1])
		for i := range uint64(closes) {
			if y := m.Row(HoldingHistory, want[0]*closes+i); wire.Get64(y[yTrade:]) != 0 {
				want = append(want, wire.Get64(y[yHolding:]))
				m.Seen["looked up a holding"]++
			}
		}
	}
	if !slices.Equal(m.r.list, want) {
		m.T.Errorf("frame %d of trade-lookup, from %d on: trades %v, want %v", m.r.frame+1, m.r.from, m.r.list, want)
	}
}

func (m *model) tradeUpdate() {
	want := m.lookedUp()
	if !slices.Equal(m.r.list, want) {
		m.T.Errorf("frame %d of trade-update, from %d on: trades %v, want %v", m.r.frame+1, m.r.from, m.r.list, want)
	}
	done := map[uint64]bool{}
	for _, t := range want {
		v := m.Row(Trade, t)
		if done[t] || wire.Get32(v[tStatus:]) != completed || m.r.frame == ofSecurity && v[tCash] == 0 {
			continue
		}
		done[t] = true
		text := v[tExecutor:]
		switch m.r.frame {
		case ofAccount:
			text = m.Row(Settlement, t)[eCashType:]
		case ofSecurity:
			text = m.Row(Cash, t)[fName:]
		}
		wire.Put32(text, wire.Get32(text)+1)
		m.Seen["changed"]++
	}
	if m.r.changed != uint64(len(done)) {
		m.T.Errorf("frame %d of trade-update changed %d trades, want %d", m.r.frame+1, m.r.changed, len(done))
	}
}

func (m *model) brokerVolume() {
	volume := int64(0)
	for _, k := range m.r.drawn {
		for _, t := range m.asked[k][:min(requestsOf, len(m.asked[k]))] {
			q := m.Row(TradeRequest, t)
			company := m.Row(Company, wire.Get64(m.Row(Security, uint64(wire.Get32(q[qSymbol:])))[vCompany:]))
			if uint64(wire.Get16(m.Row(Industry, uint64(wire.Get16(company[oIndustry:])))[nSector:])) == m.r.sector {
				volume += int64(wire.Get32(q[qQuantity:])) * int64(wire.Get32(q[qBid:]))
				m.Seen["volume of orders"]++
			}
		}
	}
	if m.r.volume != volume {
		m.T.Errorf("the orders of brokers %v in sector %d come to %d, broker-volume says %d", m.r.drawn, m.r.sector, volume, m.r.volume)
	}
}

func (m *model) marketWatch() {
	b, r := m.b, m.r
	var list []uint64
	switch r.frame {
	case byList:
		for i := range wire.Get64(m.Row(WatchList, r.customer)[wItems:]) {
			list = append(list, uint64(wire.Get32(m.Row(WatchItem, r.customer*watchRows+i)[iSymbol:])))
		}
		m.Seen["watched a list"]++
	case byHoldings:
		for slot := range uint64(listed) {
			if s := m.Row(HoldingSummary, r.account*listed+slot); i32(s[sQuantity:]) != 0 {
				list = append(list, uint64(wire.Get32(s[sSymbol:])))
			}
		}
		m.Seen["watched holdings"]++
	default:
		for s := range b.securities * b.servers {
			if c := wire.Get64(m.Row(Security, s)[vCompany:]); c >= r.first && c < r.first+5_000 && uint64(wire.Get16(m.Row(Company, c)[oIndustry:])) == r.from {
				list = append(list, s)
				m.Seen["watched an industry"]++
			}
		}
	}
	change := int64(0)
	for _, s := range list {
		change += i64(m.Row(Security, s)[vOutstanding:]) * (m.price(s) - int64(wire.Get32(m.Row(DailyMarket, s*days+r.day)[mClose:])))
	}
	if r.volume != change {
		slices.SortFunc(list, cmp.Compare[uint64])
		m.T.Errorf("securities %v changed by %d since day %d, market-watch says %d", list, change, r.day, r.volume)
	}
}
