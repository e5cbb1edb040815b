package tpcc

import (
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/wire"
)

// drawDelivery begins a delivery: the runner's next transactions deliver an
// order of each district of the warehouse. Clause 2.7.2 leaves it open how many
// database transactions that is.
func (r *runner) drawDelivery(rand *r2.Rand) {
	r.d = r.w * r.b.districts
	r.left = int(r.b.districts) - 1
	r.carrier = byte(1 + rand.Uint64n(10))
}

// deliver is clause 2.7.4 for one district.
func (r *runner) deliver(tx *txn.Tx) error {
	o, ok, err := r.oldest(tx)
	switch {
	case err != nil:
		return err
	case !ok:
		tx.Empty() // the district has no order that waits
		return nil
	}
	b := r.b
	key := b.orderKey(r.d, o)
	if err := tx.Delete(NewOrder, key); err != nil {
		return err
	}
	v, err := tx.Update(Order, key)
	if err != nil {
		return err
	}
	v[oCarrier] = r.carrier
	c, lines := uint64(wire.Get32(v[oCustomer:])), min(uint64(v[oLines]), maxLines)
	r.refs = append(r.refs[:0], txn.Ref{Table: Customer, Key: b.customerKey(r.d, c%b.customers), Write: true})
	for n := range lines {
		r.refs = append(r.refs, txn.Ref{Table: OrderLine, Key: b.lineKey(key, n), Write: true})
	}
	if err := tx.Prefetch(r.refs...); err != nil {
		return err
	}
	sum := int64(0)
	for n := range lines {
		if v, err = tx.Update(OrderLine, b.lineKey(key, n)); err != nil {
			return err
		}
		putI64(v[lDelivery:], dateOf(tx.Co()))
		sum += int64(wire.Get32(v[lAmount:]))
	}
	if v, err = tx.Update(Customer, b.customerKey(r.d, c%b.customers)); err != nil {
		return err
	}
	putI64(v[cBalance:], i64(v[cBalance:])+sum)
	add32(v[cDeliveries:], 1)
	tx.DropEntry(b.queue, r.d, o)
	return nil
}

// oldest is the first order of the district that is not delivered. The queue
// tells where it is about; the records tell that it is so: orders come in and go
// out in the order of their numbers, so the one before the oldest is delivered,
// and if there is none so is the last that came in.
func (r *runner) oldest(tx *txn.Tx) (o uint64, ok bool, err error) {
	b := r.b
	for from := uint64(0); ; {
		list, err := tx.Scan(b.queue, store.Range{Part: r.d, From: from, To: b.orders, Limit: 1})
		if err != nil {
			return 0, false, err
		}
		if len(list) == 0 {
			break
		}
		o = list[0].Key
		if ok, err = r.waits(tx, o); err != nil {
			return 0, false, err
		} else if ok {
			break
		}
		from = o + 1 // delivered just now, or never placed
	}
	if !ok && tx.Pieced() {
		// The body runs where the orders come in, while none of them is half there: no order waits.
		return 0, false, nil
	}
	if !ok {
		dist, err := tx.Read(District, r.d)
		if err != nil {
			return 0, false, err
		}
		o = min(uint64(wire.Get32(dist[dNext:]))-1, b.orders)
	}
	for ; o > 0; o-- {
		before, err := r.waits(tx, o-1)
		if err != nil {
			return 0, false, err
		}
		if !before {
			break
		}
		ok = true
	}
	return o, ok, nil
}

// waits reads whether an order is to be delivered.
func (r *runner) waits(tx *txn.Tx, o uint64) (bool, error) {
	_, ok, err := r.find(tx, NewOrder, r.b.orderKey(r.d, o))
	return ok, err
}
