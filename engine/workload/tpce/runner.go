package tpce

import (
	"drtmx/engine/r2"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
	"drtmx/engine/workload"
)

// runner is one coroutine's client. The inputs of the running transaction are its
// fields, so that a body needs no closure.
type runner struct {
	b      *Bench
	client *txn.Client
	market []exchange // as the clients of its machine know it, by home
	bodies [numTypes]func(tx *txn.Tx) error
	draws  [numTypes]func(r *r2.Rand)

	home     uint64 // the machine whose customers call
	customer uint64
	account  uint64
	security uint64
	trade    uint64 // that a result is of, or that an order makes
	byTax    bool
	details  bool // the second frame of customer-position
	frame    int  // of trade-lookup and trade-update, from 0
	day      uint64
	days     uint64 // of security-detail
	order    orderInput
	feed     [feeds]feedInput
	drawn    []uint64 // brokers of broker-volume, trades of trade-lookup
	sector   uint64
	price    int64 // of a result
	from     uint64
	first    uint64 // of the companies of market-watch

	// What the last attempt found.
	changed  uint64
	volume   int64
	sums     [accountsOf]int64
	released []uint64

	refs    []txn.Ref
	list    []uint64 // by scans
	symbols []uint64
}

// Runner makes a coroutine's client.
func (b *Bench) Runner(c *r2.Co) workload.Runner {
	r := &runner{b: b, client: b.db.Client(c), market: *b.exchange.Of(c.Machine())}
	r.bodies = [numTypes]func(tx *txn.Tx) error{
		customerPosition: r.customerPosition, tradeOrder: r.tradeOrder, tradeResult: r.tradeResult, securityDetail: r.securityDetail,
		tradeLookup: r.tradeLookup, tradeStatus: r.tradeStatus, brokerVolume: r.brokerVolume, marketFeed: r.marketFeed,
		marketWatch: r.marketWatch, tradeUpdate: r.tradeUpdate,
	}
	r.draws = [numTypes]func(r *r2.Rand){
		customerPosition: r.drawPosition, tradeOrder: r.drawOrder, tradeResult: r.drawResult, securityDetail: r.drawDetail,
		tradeLookup: r.drawLookup, tradeStatus: r.drawAccount, brokerVolume: r.drawVolume, marketFeed: r.drawFeed,
		marketWatch: r.drawWatch, tradeUpdate: r.drawUpdate,
	}
	return r
}

// Next runs one transaction. A trade-result for which no trade waits is an order
// in its place.
func (r *runner) Next() error {
	b, rand := r.b, r.client.Co().Rand()
	typ := b.Pick(rand)
	if body := b.Custom(typ); body != nil {
		return workload.Done(r.client.Run(uint8(typ), false, body))
	}
	r.home = b.home(r.client.Co())
	if typ == tradeResult {
		var ok bool
		if r.trade, ok = r.market[r.home].result(); !ok {
			typ = tradeOrder
		}
	}
	r.draws[typ](rand)
	err := r.client.Run(uint8(typ), b.ReadOnly(typ), r.bodies[typ])
	if err == nil {
		r.tellMarket(typ)
	}
	return workload.Done(err)
}

// tellMarket lets the market know what has been committed.
func (r *runner) tellMarket(typ int) {
	b, done := r.b, r.b.done.Of(r.client.Co().Machine())
	switch typ {
	case tradeOrder:
		done.ordered++
		if !isLimit(r.order.typ) {
			r.market[r.home].send(r.trade)
		}
	case tradeResult:
		done.reported++
	case tradeUpdate:
		done.changed += r.changed
	case marketFeed:
		for i := range r.feed {
			done.fed[r.feed[i].security] += uint64(r.feed[i].quantity)
		}
		for _, t := range r.released {
			if home := t / b.trades; b.symmetric { // clients of that machine report it
				b.market.Tell(&r.client.Co().Program, int(home), uint32(t))
			} else {
				r.market[home].send(t)
			}
		}
	}
}

// now is the date: microseconds of virtual time.
func (r *runner) now() int64 { return loadDate + int64(r.client.Co().Now()/1_000_000) }

// drawAccount picks a customer and one of the accounts.
func (r *runner) drawAccount(rand *r2.Rand) {
	r.customer = r.home*r.b.customers + rand.Uint64n(r.b.customers)
	r.account = r.customer*accountsOf + rand.Uint64n(accountsOf)
}

// drawSecurity picks one of all.
func (b *Bench) drawSecurity(rand *r2.Rand) uint64 { return rand.Uint64n(b.securities * b.servers) }

// want begins a list of records to fetch together, add goes on with it.
func (r *runner) want(table uint8, key uint64) *runner {
	return r.clearRefs().add(table, key)
}

func (r *runner) clearRefs() *runner { r.refs = r.refs[:0]; return r }

func (r *runner) add(table uint8, key uint64) *runner {
	return r.ref(txn.Ref{Table: table, Key: key})
}

// addWritten adds one that the body will write.
func (r *runner) addWritten(table uint8, key uint64) *runner {
	return r.ref(txn.Ref{Table: table, Key: key, Write: true})
}

func (r *runner) ref(x txn.Ref) *runner {
	r.refs = append(r.refs, x)
	return r
}

// fetch announces the list and reads it.
func (r *runner) fetch(tx *txn.Tx) error {
	if err := tx.Prefetch(r.refs...); err != nil {
		return err
	}
	for _, x := range r.refs {
		if _, err := tx.Read(x.Table, x.Key); err != nil {
			return err
		}
	}
	return nil
}

// common reads a row that each machine has a copy of: the client's own, or one of
// the home's if it has none.
func (r *runner) common(tx *txn.Tx, table uint8, rows, i uint64) ([]byte, error) {
	return tx.Read(table, shared(r.home, rows, i))
}

// symbol is the security that a row names, whatever the row says.
func (b *Bench) symbol(v []byte) uint64 { return uint64(wire.Get32(v)) % (b.securities * b.servers) }
