package tpce

import (
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

const (
	feeds    = 20 // securities of a market-feed
	triggers = 8  // orders that it lets go at most: a log entry has no room for more
	lookAt   = 20 // orders of a security that it looks at, the oldest
)

// feedInput is one of the trades that the market tells of.
type feedInput struct {
	security        uint64
	price, quantity uint32
}

// drawFeed picks different securities, uniformly from all.
func (r *runner) drawFeed(rand *r2.Rand) {
	b := r.b
	all := b.securities * b.servers
	first := rand.Uint64n(all)
	for i := range r.feed {
		// A run of numbers, scattered: different, and of different machines. With
		// fewer securities than feeds some come again.
		r.feed[i] = feedInput{
			security: b.lists.At((first + uint64(i)) % all), price: uint32(lowPrice + rand.Uint64n(priceRange)), quantity: b.quantity(rand.Uint64n(4)),
		}
	}
}

// marketFeed is clause 3.3.3: last prices change, and orders that have waited for
// them are sent to the market.
func (r *runner) marketFeed(tx *txn.Tx) error {
	b, now := r.b, r.now()
	r.clearRefs()
	for i := range r.feed {
		r.addWritten(LastTrade, r.feed[i].security)
	}
	if err := tx.Prefetch(r.refs...); err != nil {
		return err
	}
	r.released = r.released[:0]
	for i := range r.feed {
		in := &r.feed[i]
		v, err := tx.Update(LastTrade, in.security)
		if err != nil {
			return err
		}
		wire.Put32(v[lPrice:], in.price)
		wire.Put64(v[lVolume:], wire.Get64(v[lVolume:])+uint64(in.quantity))
		putI64(v[lDate:], now)
		list, err := tx.Scan(b.offered, store.Range{Part: in.security, To: ^uint64(0), Limit: lookAt})
		if err != nil {
			return err
		}
		r.keepEntries(list)
		if err := r.release(tx, in); err != nil {
			return err
		}
	}
	return nil
}

// release looks through the orders of a security.
func (r *runner) release(tx *txn.Tx, in *feedInput) error {
	r.clearRefs()
	for _, t := range r.list {
		r.add(TradeRequest, t)
	}
	if err := tx.Prefetch(r.refs...); err != nil {
		return err
	}
	for _, t := range r.list {
		v, err := tx.Read(TradeRequest, t)
		if err != nil {
			return err
		}
		if wire.Get32(v[qQuantity:]) == 0 || !triggered(v[qType], wire.Get32(v[qBid:]), in.price) {
			continue
		}
		if len(r.released) == triggers {
			return nil // the others go with the next feed
		}
		if err := r.submit(tx, t, in.security); err != nil {
			return err
		}
		r.released = append(r.released, t)
	}
	return nil
}

// triggered says whether an order can be carried out at a price.
func triggered(typ byte, bid, price uint32) bool {
	if typ == limitSell {
		return bid <= price
	}
	return bid >= price // a stop-loss too
}

// submit sends one order to the market.
func (r *runner) submit(tx *txn.Tx, trade, security uint64) error {
	b, now := r.b, r.now()
	v, err := tx.Update(TradeRequest, trade)
	if err != nil {
		return err
	}
	broker := wire.Get64(v[qBroker:]) % (b.brokers * b.servers)
	clear(v)
	if v, err = tx.Update(Trade, trade); err != nil {
		return err
	}
	wire.Put32(v[tStatus:], submitted)
	putI64(v[tDate:], now)
	if v, err = tx.Update(TradeHistory, trade*histories+1); err != nil {
		return err
	}
	setHistory(v, trade, submitted, now)
	tx.DropEntry(b.asked, broker, trade)
	tx.DropEntry(b.offered, security, trade)
	return nil
}
