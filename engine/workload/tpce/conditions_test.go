package tpce

import (
	"strings"
	"testing"

	"drtmx/engine/protocol/occ"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
	"drtmx/engine/workload/workloadtest"
)

// TestConditions: each condition notices a transaction that breaks it.
func TestConditions(t *testing.T) {
	const customer, account = 1, 5
	for _, x := range []struct {
		condition string
		body      func(b *Bench, tx *txn.Tx) error
	}{
		{"tpce.1:", func(b *Bench, tx *txn.Tx) error { return add64(tx, BrokerTotal, 0, bTrades) }},
		{"tpce.2:", func(b *Bench, tx *txn.Tx) error { return add64(tx, BrokerTotal, 0, bCommission) }},
		{"tpce.3:", func(b *Bench, tx *txn.Tx) error { return set(tx, HoldingSummary, account*listed, sQuantity, 7) }},
		{"tpce.3:", func(b *Bench, tx *txn.Tx) error { return set(tx, Holding, b.tradeOf(account, 0), hQuantity, 7) }},
		{"tpce.4:", func(b *Bench, tx *txn.Tx) error {
			return set(tx, HoldingHistory, b.tradeOf(account, 0)*closes, yAfter, 7)
		}},
		{"tpce.5:", func(b *Bench, tx *txn.Tx) error { return add64(tx, Account, account, aBalance) }},
		{"tpce.6:", func(b *Bench, tx *txn.Tx) error { return add64(tx, Settlement, b.tradeOf(account, 0), eAmount) }},
		{"tpce.6:", func(b *Bench, tx *txn.Tx) error { return set(tx, Settlement, b.tradeOf(account, 0), eDate, 0) }},
		{"tpce.7:", func(b *Bench, tx *txn.Tx) error {
			return set(tx, TradeHistory, b.tradeOf(account, 0)*histories, zStatus, canceled)
		}},
		{"tpce.8:", func(b *Bench, tx *txn.Tx) error {
			return set(tx, TradeRequest, b.tradeOf(account, 0), qQuantity, 100)
		}},
		{"tpce.9:", func(b *Bench, tx *txn.Tx) error { return add64(tx, LastTrade, 3, lVolume) }},
		{"tpce.10:", func(b *Bench, tx *txn.Tx) error { return set(tx, Trade, b.trades-1, tStatus, submitted) }},
		{"tpce.11:", func(b *Bench, tx *txn.Tx) error { return set(tx, Trade, b.tradeOf(account, 0), tExecutor, 1) }},
		{"tpce.indexes:", func(b *Bench, tx *txn.Tx) error {
			tx.AddEntry(b.byAccount, customer, b.accountKey(account, b.trades-1), b.trades-1)
			return set(tx, Trade, b.tradeOf(account, 0), tBid, 1)
		}},
		{"tpce.indexes:", func(b *Bench, tx *txn.Tx) error {
			tx.AddEntry(b.bySecurity, 2, ^uint64(0), b.trades-1)
			return set(tx, Trade, b.tradeOf(account, 0), tBid, 1)
		}},
		{"tpce.indexes:", func(b *Bench, tx *txn.Tx) error {
			tx.AddEntry(b.offered, 2, 3, 3)
			return set(tx, Trade, b.tradeOf(account, 0), tBid, 1)
		}},
		{"tpce.indexes:", func(b *Bench, tx *txn.Tx) error { // a holding that its index lacks
			return set(tx, Holding, b.trades-1, hQuantity, 7)
		}},
		{"tpce.indexes:", func(b *Bench, tx *txn.Tx) error {
			tx.AddEntry(b.asked, 0, 3, 3)
			return set(tx, Trade, b.tradeOf(account, 0), tBid, 1)
		}},
	} {
		cfg, _ := occ.Preset("drtm+h")
		b, house := workloadtest.Open(t, 0, cfg, New, tiny())
		if err := house.AddTransaction("rogue", 2, func(tx *txn.Tx) error { return x.body(house, tx) }); err != nil {
			t.Fatal(err)
		}
		if bad := strings.Join(b.Stress(60), "\n"); !strings.Contains(bad, x.condition) {
			t.Errorf("no complaint of %s in:\n%s", x.condition, bad)
		}
	}
}

func add64(tx *txn.Tx, table uint8, key uint64, at int) error {
	v, err := tx.Update(table, key)
	if err == nil {
		wire.Put64(v[at:], wire.Get64(v[at:])+1)
	}
	return err
}

func set(tx *txn.Tx, table uint8, key uint64, at int, to uint32) error {
	v, err := tx.Update(table, key)
	if err == nil {
		wire.Put32(v[at:], to)
	}
	return err
}
