package tpce

import (
	"math/bits"

	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

// The secondary indexes. Their parts are on the machine of the customer, the
// security or the broker.
//
//	tax       by machine: tax identifier -> customer; never changes
//	account   by customer: account, trade -> trade, in the order of time
//	security  by security: age of trade -> trade
//	holding   by customer: account, slot of the security, trade -> trade that opened a holding
//	asked     by broker: trade -> trade whose order waits for its price
//	offered   by security: likewise
//
// Others of the standard's keys are numbers from which those of the rows follow:
// the accounts of a customer, the securities of an account or a company.
const (
	taxID = 1 + iota
	accountID
	securityID
	holdingID
	askedID
	offeredID
)

const (
	taxBits      = 24 // of a key
	customerBits = 32
	accountBits  = 3  // of the number of an account of a customer
	tradeBits    = 32 // of a trade's number within its machine
	slotBits     = 5
)

// openIndexes makes them.
func (b *Bench) openIndexes(env workload.Env) error {
	v, err := env.OpenIndexes(b.db)
	if err != nil {
		return err
	}
	trade, age := bits.Len64(b.trades*b.servers-1), bits.Len64(b.age(b.trades*b.servers-1))
	for _, x := range []struct {
		id    uint8
		name  string
		to    *store.OrderedTable
		parts uint64
		bits  []int
		size  uint64
		fill  func(part uint64, add func(key, value uint64))
	}{
		{taxID, "customer-tax", &b.byTax, 1, []int{taxBits, customerBits}, b.customers, b.fillTax},
		{accountID, "account-trade", &b.byAccount, b.customers, []int{accountBits, tradeBits}, accountsOf * b.initial, b.fillAccount},
		{securityID, "security-trade", &b.bySecurity, b.securities, []int{age}, 0, b.fillSecurity},
		{holdingID, "account-holding", &b.held, b.customers, []int{accountBits, slotBits, tradeBits}, 0, b.fillHolding},
		{askedID, "broker-request", &b.asked, b.brokers, []int{trade}, 0, nil},
		{offeredID, "security-request", &b.offered, b.securities, []int{trade}, 0, nil},
	} {
		const nodes = 128
		s := store.IndexSpec{ID: x.id, Name: x.name, Servers: int(b.servers), Parts: b.servers * x.parts, Nodes: nodes, Bits: x.bits, Fill: x.fill, Size: x.size}
		if x.id != taxID {
			s.Spare = b.servers * uint64(b.opt.Orders) // one machine may have all of them
		}
		if *x.to, err = v.Add(s); err != nil {
			return err
		}
	}
	return nil
}

// taxKey is the tax identifier of a customer, unique by its lower bits.
func (b *Bench) taxKey(customer uint64) uint64 {
	x := b.bits(Customer, customer)
	return x.Next()>>(64-taxBits)<<customerBits | customer
}

func (b *Bench) fillTax(machine uint64, add func(key, value uint64)) {
	for c := machine * b.customers; c < (machine+1)*b.customers; c++ {
		add(b.taxKey(c), c)
	}
}

// accountKey sorts the trades of a customer.
func (b *Bench) accountKey(account, trade uint64) uint64 {
	return account%accountsOf<<tradeBits | trade%b.trades
}

func (b *Bench) fillAccount(customer uint64, add func(key, value uint64)) {
	for a := customer * accountsOf; a < (customer+1)*accountsOf; a++ {
		for k := range b.initial {
			t := b.tradeOf(a, k)
			add(b.accountKey(a, t), t)
		}
	}
}

func (b *Bench) fillSecurity(security uint64, add func(key, value uint64)) {
	b.eachHolder(security, func(account, slot uint64) {
		for k, n := slot, b.listLength(account); k < b.initial; k += n {
			t := b.tradeOf(account, k)
			add(b.age(t), t)
		}
	})
}

// holdingKey sorts the holdings of a customer.
func (b *Bench) holdingKey(account, slot, trade uint64) uint64 {
	return (account%accountsOf<<slotBits|slot)<<tradeBits | trade%b.trades
}

func (b *Bench) fillHolding(customer uint64, add func(key, value uint64)) {
	for a := customer * accountsOf; a < (customer+1)*accountsOf; a++ {
		length := b.listLength(a)
		for slot := range length {
			n := b.tradesIn(a, slot)
			for i := n - b.open(a, slot); i < n; i++ {
				t := b.tradeOf(a, slot+i*length)
				add(b.holdingKey(a, slot, t), t)
			}
		}
	}
}

// lastTrades lists the newest trades of an account.
func (r *runner) lastTrades(tx *txn.Tx, account uint64, n int) error {
	b := r.b
	list, err := tx.Scan(b.byAccount, store.Range{Part: customerOf(account), From: b.accountKey(account, 0), To: b.accountKey(account, b.trades-1), Limit: n, Down: true})
	r.keepEntries(list)
	return err
}

// keepEntries keeps what a scan found, which the next one overwrites.
func (r *runner) keepEntries(list []store.Entry) {
	r.list = r.list[:0]
	for _, e := range list {
		r.list = append(r.list, e.Value)
	}
}
