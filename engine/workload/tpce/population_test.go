package tpce

import (
	"testing"

	"drtmx/engine/protocol/occ"
	"drtmx/engine/store"
	"drtmx/engine/wire"
	"drtmx/engine/workload/workloadtest"
)

// TestPopulation: what the machines begin with is consistent, as Check takes for
// granted.
func TestPopulation(t *testing.T) {
	for _, o := range []Options{tiny(), {Customers: 230, Securities: 90, Trades: 7}, {Customers: 20, Securities: 31, Trades: 77}} {
		cfg, _ := occ.Preset("drtm+h")
		_, b := workloadtest.Open(t, 0, cfg, New, o)
		row := func(init func(uint64, []byte), bytes int, key uint64) []byte {
			v := make([]byte, bytes)
			init(key, v)
			return v
		}
		trades, securities := map[uint64]uint64{}, map[uint64]uint64{}
		held, changed := map[holdingKey]int64{}, map[holdingKey]int64{}
		for a := range b.accounts * b.servers {
			for k := range b.initial {
				id := b.tradeOf(a, k)
				v := row(b.initTrade, tradeBytes, id)
				slot, ok := b.slotOf(a, b.symbol(v[tSymbol:]))
				if !ok || wire.Get64(v[tAccount:]) != a || wire.Get32(v[tStatus:]) != completed {
					t.Fatalf("trade %d of account %d: %v", id, a, v[:64])
				}
				trades[b.brokerOf(a)]++
				securities[b.symbol(v[tSymbol:])]++
				p := holdingKey{a, slot}
				held[p] += i32(row(b.initHolding, holdingBytes, id)[hQuantity:])
				y := row(b.initHoldingHistory, holdingHistoryBytes, id*closes)
				by := i32(y[yAfter:]) - i32(y[yBefore:])
				changed[p] += by
				if sells(v[tType]) != (by < 0) || max(by, -by) != int64(wire.Get32(v[tQuantity:])) {
					t.Fatalf("trade %d of type %d and %d changed holdings by %d", id, v[tType], wire.Get32(v[tQuantity:]), by)
				}
				opener := row(b.initTrade, tradeBytes, wire.Get64(y[yHolding:]))
				if b.symbol(opener[tSymbol:]) != b.symbol(v[tSymbol:]) || wire.Get64(opener[tAccount:]) != a || sells(opener[tType]) {
					t.Fatalf("trade %d closed holding %d of another account or security", id, wire.Get64(y[yHolding:]))
				}
			}
			for slot := range b.listLength(a) {
				p := holdingKey{a, slot}
				if q := i32(row(b.initSummary, summaryBytes, a*listed+slot)[sQuantity:]); q != held[p] || q != changed[p] {
					t.Fatalf("%v holds %d, in holdings %d, by history %d", p, q, held[p], changed[p])
				}
			}
		}
		for k := range b.brokers * b.servers {
			if v := row(b.initBrokerTotal, brokerTotalBytes, k); wire.Get64(v[bTrades:]) != trades[k] || i64(v[bCommission:]) != int64(trades[k])*initialCommission {
				t.Errorf("broker %d counts %d trades, %d were made", k, wire.Get64(v[bTrades:]), trades[k])
			}
		}
		for s := range b.securities * b.servers {
			n, last := uint64(0), uint64(0)
			b.bySecurity.Entries(s, func(e store.Entry) {
				if v := row(b.initTrade, tradeBytes, e.Value); b.symbol(v[tSymbol:]) != s || n > 0 && e.Key <= last {
					t.Fatalf("trade %d at %d after %d is of security %d, not %d", e.Value, e.Key, last, b.symbol(v[tSymbol:]), s)
				}
				n, last = n+1, e.Key
			})
			if n != securities[s] {
				t.Fatalf("security %d has %d trades in its index, %d were made", s, n, securities[s])
			}
		}
		if text := b.Check()[numConditions].Text; text != "" {
			t.Error(text)
		}
	}
}

// TestSecurities: a company's securities are those whose company it is, and the
// list of an account has none twice.
func TestSecurities(t *testing.T) {
	cfg, _ := occ.Preset("drtm+h")
	_, b := workloadtest.Open(t, 0, cfg, New, Options{Customers: 50, Securities: 37, Trades: 3})
	n := uint64(0)
	for c := range b.companies * b.servers {
		first, many := b.securitiesOf(c)
		for s := first; s < first+many; s++ {
			if b.companyOf(s) != c || s != n {
				t.Errorf("security %d of company %d is of company %d; %d should be next", s, c, b.companyOf(s), n)
			}
			n++
		}
	}
	if n != b.securities*b.servers {
		t.Errorf("companies have %d securities of %d", n, b.securities*b.servers)
	}
	for a := range b.accounts * b.servers {
		seen := map[uint64]bool{}
		for slot := range b.listLength(a) {
			seen[b.securityOf(a, slot)] = true
		}
		if len(seen) != int(b.listLength(a)) {
			t.Errorf("account %d has %d securities in %d slots", a, len(seen), b.listLength(a))
		}
	}
}

// TestExchange reports in order, whatever is kept.
func TestExchange(t *testing.T) {
	var x exchange
	sent, got := uint64(0), uint64(0)
	for i := range 10_000 {
		if i%3 != 2 {
			x.send(sent)
			sent++
		}
		if i%5 < 4 {
			if trade, ok := x.result(); ok != (got < sent) || ok && trade != got {
				t.Fatalf("trade %d, %v after %d of %d", trade, ok, got, sent)
			} else if ok {
				got++
			}
		}
	}
	if sent-got > 10 || cap(x.sent) > 64 {
		t.Errorf("%d of %d reported, room for %d", got, sent, cap(x.sent))
	}
}
